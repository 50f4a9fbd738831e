// Which launches are precompiled in which form. tests/runtime/conformance tests the precompilation itself.
#include "runtime/program/precompilation.h"

#include <gtest/gtest.h>

#include "runtime/device/null_opencl.h"

namespace wm::runtime {
namespace {

LaunchPlan plan_for(std::array<std::size_t, 3> global, std::array<std::size_t, 3> local = {}) {
  LaunchPlan plan;
  plan.kernel = std::make_shared<Kernel>();
  plan.kernel->program = std::make_shared<Program>();
  plan.kernel->program->options = "-DN=4";
  plan.kernel->name = "f";
  plan.kernel->parameters = {ParameterKind::memory, ParameterKind::image, ParameterKind::value, ParameterKind::local};
  plan.dimensions = 2;
  plan.global = global;
  plan.local = local;
  plan.local_given = local[0] != 0;
  for (const auto kind : {ArgumentKind::memory, ArgumentKind::no_memory, ArgumentKind::value, ArgumentKind::local}) {
    LaunchPlan::Value value;
    value.kind = kind;
    value.size = 12;
    plan.arguments.push_back(std::move(value));
  }
  return plan;
}

using Taken = sandbox::SandboxLaunch::Argument;
using ThreeSizes = std::array<std::uint64_t, 3>;

TEST(Precompilation, OneGroupIsLaunchedForAll) {
  const auto precompiled = Precompilation::unmodified(plan_for({4096, 64, 1}, {16, 4, 1}));
  EXPECT_EQ(precompiled.launch.kernel, "f");
  EXPECT_EQ(precompiled.launch.global, (ThreeSizes{16, 4, 1}));
  EXPECT_EQ(precompiled.launch.local, (ThreeSizes{16, 4, 0}));
  EXPECT_EQ(precompiled.launch.dimensions, 2U);
  const std::vector<std::pair<Taken, std::uint32_t>> arguments{
      {Taken::buffer, 0}, {Taken::image, 0}, {Taken::bytes, 12}, {Taken::local, 64}};
  EXPECT_EQ(precompiled.launch.arguments, arguments);
  ASSERT_EQ(precompiled.built_from.size(), 1U);
  EXPECT_EQ(precompiled.built_from.front().options, "-DN=4 -cl-kernel-arg-info");
}

TEST(Precompilation, WideLaunchesAreCompiledSeparately) {
  for (const std::size_t wide : {65'535UL, 1UL << 40}) {
    const auto precompiled = Precompilation::unmodified(plan_for({3, wide * 4, 1}, {3, 4, 1}));
    EXPECT_GE(precompiled.launch.global[0], 65'535U);
    EXPECT_LT(precompiled.launch.global[0], 65'540U);
    EXPECT_EQ(precompiled.launch.global[0] % 3, 0U);
  }
  EXPECT_EQ(Precompilation::unmodified(plan_for({65'534, 1, 1}, {1, 1, 1})).launch.global[0], 1U);
  EXPECT_NE(Precompilation::shape(plan_for({65'535, 1, 1}, {1, 1, 1}), {}),
            Precompilation::shape(plan_for({65'534, 1, 1}, {1, 1, 1}), {}));
}

TEST(Precompilation, WithoutALocalSizeTheGlobalSizeMatters) {
  EXPECT_EQ(Precompilation::unmodified(plan_for({4096, 64, 1})).launch.global, (ThreeSizes{4096, 64, 1}));
  EXPECT_EQ(Precompilation::unmodified(plan_for({4096, 64, 1})).launch.local, (ThreeSizes{}));
  EXPECT_NE(Precompilation::shape(plan_for({4096, 64, 1}), {}), Precompilation::shape(plan_for({4096, 32, 1}), {}));
  EXPECT_EQ(Precompilation::shape(plan_for({4096, 64, 1}, {16, 1, 1}), {}),
            Precompilation::shape(plan_for({4096, 32, 1}, {16, 1, 1}), {}));
}

TEST(Precompilation, OffsetsAndWorkersAreCompiledSeparately) {
  LaunchPlan moved = plan_for({64, 64, 1}, {16, 4, 1});
  const auto without_offset = Precompilation::unmodified(moved);
  const LaunchShape before = Precompilation::shape(moved, {});
  moved.offset[1] = 7;
  EXPECT_TRUE(Precompilation::unmodified(moved).launch.offset);
  EXPECT_NE(Precompilation::unmodified(moved).name(), without_offset.name());
  EXPECT_NE(Precompilation::shape(moved, {}), before);
  const auto workers = Precompilation::as_workers(moved, {16, 4, 1});
  EXPECT_FALSE(workers.launch.offset) << "the offset of workers is in their range";
  EXPECT_EQ(workers.launch.dimensions, 3U);
  EXPECT_EQ(workers.launch.arguments.size(), moved.arguments.size() + 3);
  EXPECT_EQ(workers.launch.arguments.back(), (std::pair{Taken::bytes, std::uint32_t{48}}));
  EXPECT_NE(workers.name(), without_offset.name());
}

TEST(Precompilation, ALinkedProgramIsBuiltFromItsInputs) {
  const LaunchPlan linked = plan_for({64, 64, 1}, {16, 4, 1});
  const auto a = std::make_shared<Program>(), b = std::make_shared<Program>();
  b->options = "-DB";
  b->end_build(true, std::make_shared<const std::string>("compiled"));
  linked.kernel->program->inputs =
      std::make_shared<const std::vector<SandboxProgram>>(std::vector<SandboxProgram>{{a, ""}, {b, b->options}});
  const auto precompiled = Precompilation::unmodified(linked);
  ASSERT_EQ(precompiled.built_from.size(), 2U);
  EXPECT_EQ(precompiled.link_options, "-DN=4") << "its own options are those of the link";
  EXPECT_EQ(precompiled.built_from[0].program, a);
  EXPECT_EQ(precompiled.built_from[1].options, "-DB");
  EXPECT_EQ(precompiled.built_from[1].text().text, "compiled") << "its headers may not exist any more";
  EXPECT_TRUE(precompiled.built_from[1].text().binary);
}

// The code that a comparison needs is that of few groups, also for a wide launch or without a local size.
TEST(Precompilation, AComparedKernelIsLaunchedWithTheLocalSizeOfItsWorkers) {
  for (const LaunchPlan& plan : {plan_for({1 << 20, 4, 1}), plan_for({1 << 20, 4, 1}, {32, 2, 1})}) {
    const auto compared = Precompilation::compared(plan, {32, 2, 1});
    EXPECT_FALSE(compared.workers);
    EXPECT_EQ(compared.launch.local, (ThreeSizes{32, 2, 0}));
    EXPECT_EQ(compared.launch.global, (ThreeSizes{32, 2, 1}));
  }
}

TEST(Precompilation, WorkersAreOneGroupOfTheirSize) {
  const LaunchPlan plan = plan_for({64, 64, 1}, {16, 4, 1});
  const auto workers = Precompilation::as_workers(plan, {8, 2, 1});
  EXPECT_EQ(workers.launch.kernel, "f");
  EXPECT_EQ(workers.launch.local, (ThreeSizes{8, 2, 1}));
  EXPECT_EQ(workers.launch.global, (ThreeSizes{8, 2, 1}));
  const std::vector<std::pair<Taken, std::uint32_t>> arguments{
      {Taken::buffer, 0}, {Taken::image, 0},  {Taken::bytes, 12}, {Taken::local, 64},
      {Taken::buffer, 0}, {Taken::buffer, 0}, {Taken::bytes, 48}};
  EXPECT_EQ(workers.launch.arguments, arguments);
  EXPECT_EQ(workers.program, plan.kernel->program);
  EXPECT_NE(Precompilation::shape(plan, Size3{16, 4, 1}), Precompilation::shape(plan, {})) << "of the same local size";
  EXPECT_NE(Precompilation::shape(plan, Size3{16, 4, 1}), Precompilation::shape(plan, Size3{8, 8, 1}));
  EXPECT_NE(Precompilation::shape(plan, {}), Precompilation::shape(plan_for({64, 64, 1}, {8, 8, 1}), {}));
}

TEST(Precompilation, IsUsefulWhereTheDeviceCompilesAtLaunchAndThereIsASandbox) {
  for (const bool compiles_at_launch : {false, true}) {
    for (const bool has_sandbox : {false, true}) {
      Capabilities device;
      device.compiles_at_launch = compiles_at_launch;
      const auto backend = test::null_backend(true);
      ObjectCounts counts;
      Compilers compilers;
      sandbox::SandboxOptions options;
      if (has_sandbox) options.program = "/bin/false";
      sandbox::Sandbox sandbox(options);
      const WorkerPrograms programs(*backend, counts, compilers, nullptr, sandbox);
      EXPECT_EQ(Precompilation(device, programs, compilers, sandbox).useful(), compiles_at_launch && has_sandbox);
    }
  }
}

TEST(Precompilation, LaunchesAreKeptUpToAMaximum) {
  PrecompiledLaunches launches;
  EXPECT_FALSE(launches.find("a"));
  launches.add("a", "");
  EXPECT_EQ(launches.find("a"), "");
  launches.add("b", "it crashed");
  EXPECT_EQ(launches.find("b"), "it crashed");
  for (int i = 0; i < 61; ++i) launches.add(std::to_string(i), "");
  EXPECT_FALSE(launches.find("one more"));
  launches.add("one more", "");
  EXPECT_EQ(launches.find("one too many"), "") << "no more launches are precompiled";
  EXPECT_EQ(launches.find("b"), "it crashed");
  launches.clear();
  EXPECT_FALSE(launches.find("b"));
}

}  // namespace
}  // namespace wm::runtime
