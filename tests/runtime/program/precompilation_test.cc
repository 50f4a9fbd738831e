// Which launches are precompiled, and as what; that they are is tests/runtime/conformance's.
#include "runtime/program/precompilation.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

LaunchPlan asked_for(std::array<std::size_t, 3> global, std::array<std::size_t, 3> local = {}) {
  LaunchPlan made;
  made.kernel = std::make_shared<Kernel>();
  made.kernel->program = std::make_shared<Program>();
  made.kernel->program->options = "-DN=4";
  made.kernel->name = "f";
  made.kernel->parameters = {ParameterKind::memory, ParameterKind::image, ParameterKind::value, ParameterKind::local};
  made.dimensions = 2;
  made.global = global;
  made.local = local;
  made.local_given = local[0] != 0;
  for (const auto kind : {ArgumentKind::memory, ArgumentKind::no_memory, ArgumentKind::value, ArgumentKind::local}) {
    LaunchPlan::Value value;
    value.kind = kind;
    value.size = 12;
    made.arguments.push_back(std::move(value));
  }
  return made;
}

using Taken = sandbox::SandboxLaunch::Argument;
using ThreeSizes = std::array<std::uint64_t, 3>;

TEST(Precompilation, OneGroupStandsForAll) {
  const auto part = Precompilation::whole(asked_for({4096, 64, 1}, {16, 4, 1}));
  EXPECT_EQ(part.launch.kernel, "f");
  EXPECT_EQ(part.launch.global, (ThreeSizes{16, 4, 1}));
  EXPECT_EQ(part.launch.local, (ThreeSizes{16, 4, 0}));
  EXPECT_EQ(part.launch.dimensions, 2U);
  const std::vector<std::pair<Taken, std::uint32_t>> arguments{
      {Taken::buffer, 0}, {Taken::image, 0}, {Taken::bytes, 12}, {Taken::local, 64}};
  EXPECT_EQ(part.launch.arguments, arguments);
  ASSERT_EQ(part.made_of.size(), 1U);
  EXPECT_EQ(part.made_of.front().options, "-DN=4 -cl-kernel-arg-info");
}

TEST(Precompilation, WideOnesAreCompiledApart) {
  for (const std::size_t wide : {65'535UL, 1UL << 40}) {
    const auto part = Precompilation::whole(asked_for({3, wide * 4, 1}, {3, 4, 1}));
    EXPECT_GE(part.launch.global[0], 65'535U);
    EXPECT_LT(part.launch.global[0], 65'540U);
    EXPECT_EQ(part.launch.global[0] % 3, 0U);
  }
  EXPECT_EQ(Precompilation::whole(asked_for({65'534, 1, 1}, {1, 1, 1})).launch.global[0], 1U);
  EXPECT_NE(Precompilation::shape(asked_for({65'535, 1, 1}, {1, 1, 1}), {}),
            Precompilation::shape(asked_for({65'534, 1, 1}, {1, 1, 1}), {}));
}

TEST(Precompilation, WhatTheDriverChoosesDependsOnAllItems) {
  EXPECT_EQ(Precompilation::whole(asked_for({4096, 64, 1})).launch.global, (ThreeSizes{4096, 64, 1}));
  EXPECT_EQ(Precompilation::whole(asked_for({4096, 64, 1})).launch.local, (ThreeSizes{}));
  EXPECT_NE(Precompilation::shape(asked_for({4096, 64, 1}), {}), Precompilation::shape(asked_for({4096, 32, 1}), {}));
  EXPECT_EQ(Precompilation::shape(asked_for({4096, 64, 1}, {16, 1, 1}), {}),
            Precompilation::shape(asked_for({4096, 32, 1}, {16, 1, 1}), {}));
}

TEST(Precompilation, OffsetsAndWorkersAreCompiledApart) {
  LaunchPlan moved = asked_for({64, 64, 1}, {16, 4, 1});
  const auto still = Precompilation::whole(moved);
  const LaunchShape before = Precompilation::shape(moved, {});
  moved.offset[1] = 7;
  EXPECT_TRUE(Precompilation::whole(moved).launch.offset);
  EXPECT_NE(Precompilation::whole(moved).name(), still.name());
  EXPECT_NE(Precompilation::shape(moved, {}), before);
  const auto workers = Precompilation::as_workers(moved, {16, 4, 1});
  EXPECT_FALSE(workers.launch.offset) << "theirs is in the range";
  EXPECT_EQ(workers.launch.dimensions, 3U);
  EXPECT_EQ(workers.launch.arguments.size(), moved.arguments.size() + 3);
  EXPECT_EQ(workers.launch.arguments.back(), (std::pair{Taken::bytes, std::uint32_t{48}}));
  EXPECT_NE(workers.name(), still.name());
}

TEST(Precompilation, LinkedProgramsAreMadeOfTheirParts) {
  const LaunchPlan linked = asked_for({64, 64, 1}, {16, 4, 1});
  const auto a = std::make_shared<Program>(), b = std::make_shared<Program>();
  b->options = "-DB";
  b->made_into(std::make_shared<const std::string>("compiled"));
  linked.kernel->program->inputs =
      std::make_shared<const std::vector<SandboxProgram>>(std::vector<SandboxProgram>{{a, ""}, {b, b->options}});
  const auto part = Precompilation::whole(linked);
  ASSERT_EQ(part.made_of.size(), 2U);
  EXPECT_EQ(part.made_of[0].program, a);
  EXPECT_EQ(part.made_of[1].options, "-DB");
  EXPECT_EQ(part.made_of[1].text().text, "compiled") << "its headers may be gone";
  EXPECT_TRUE(part.made_of[1].text().binary);
}

TEST(Precompilation, AreRememberedUpToANumber) {
  PrecompiledLaunches launches;
  EXPECT_FALSE(launches.find("a"));
  launches.note("a", "");
  EXPECT_EQ(launches.find("a"), "");
  launches.note("b", "it crashed");
  EXPECT_EQ(launches.find("b"), "it crashed");
  for (int i = 0; i < 61; ++i) launches.note(std::to_string(i), "");
  EXPECT_FALSE(launches.find("one more"));
  launches.note("one more", "");
  EXPECT_EQ(launches.find("one too many"), "") << "so many went well";
  EXPECT_EQ(launches.find("b"), "it crashed");
  launches.forget();
  EXPECT_FALSE(launches.find("b"));
}

}  // namespace
}  // namespace wm::runtime
