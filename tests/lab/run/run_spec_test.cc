// A RunSpec survives its JSON form, has one key per meaning, and rejects fields that it does not know.
#include "lab/run/run_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "lab/run/gpu_digest.h"

namespace wm::lab {
namespace {

using ::testing::HasSubstr;

RunSpec full_spec() {
  RunSpec spec;
  spec.gpu = "slicer16";
  spec.machine = "cycle";
  KernelSpec a;
  a.name = "sgemm";
  a.size = "small";
  a.goal = 0.9;
  a.launches = 0;
  KernelSpec b;
  b.name = "my kernel.yaml";
  b.goal_time = Picoseconds{2'000'000'000};
  b.priority = -2;
  b.share = 1.5;
  b.blocks_per_sm = 3;
  b.arrive = Cycles{50'000};
  spec.kernels = {a, b};
  spec.policy = {"quota", {{"scheme", "elastic"}, {"epoch", "5000"}}};
  spec.cycles = 100'000;
  spec.match_instructions = true;
  spec.seed = 7;
  return spec;
}

RunSpec applications() {
  RunSpec spec;
  spec.gpu = "k20c";
  spec.machine = "block";
  spec.runs = 3;
  KernelSpec a;
  a.name = "spmv";
  a.application = true;
  a.priority = 1;
  a.process = 2;
  a.launches = 0;
  spec.kernels = {a};
  return spec;
}

TEST(RunSpec, WritesApplicationsAsACommand) {
  EXPECT_EQ(command_of(applications()),
            "wm sim --gpu k20c --app spmv:launches=0:priority=1:process=2 --policy left_over --machine block --runs 3 "
            "--size medium --seed 1");
}

RunSpec saturated() {
  RunSpec spec;
  spec.machine = "block";
  KernelSpec k;
  k.name = "fma";
  k.saturation = 0.25;
  spec.kernels = {k};
  return spec;
}

TEST(RunSpec, WritesTheSaturationOfAKernelAsACommand) {
  EXPECT_NE(command_of(saturated()).find("--kernel fma:saturation=0.25 "), std::string::npos)
      << command_of(saturated());
}

TEST(RunSpec, SurvivesItsJsonForm) {
  for (RunSpec spec : {full_spec(), RunSpec{}, applications(), saturated()}) {
    std::sort(spec.policy.parameters.begin(), spec.policy.parameters.end());
    const auto read = run_spec_from_json(to_json(spec).dump(), "x");
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_EQ(*read, spec);
  }
}

TEST(RunSpec, LeavesFieldsWithDefaultValuesOutOfTheJson) {
  RunSpec spec;
  spec.kernels.emplace_back().name = "vecadd";
  EXPECT_EQ(to_json(spec).dump(),
            R"({"schema":1,"gpu":"qos16","machine":"cycle","kernels":[{"name":"vecadd","size":"medium","launches":1}],)"
            R"("policy":{"name":"left_over","parameters":{}},"cycles":0,"seed":1})");
}

// The stored results of all users depend on this value: a change needs a new schema and a migration.
TEST(RunSpec, KeepsItsKey) { EXPECT_EQ(key_of(full_spec(), "g"), "d1a11dfd315e352dc4ff1eb417d9ddb7"); }

TEST(RunSpec, HasAKeyThatDependsOnEveryFieldButTheNameOfTheGpu) {
  const std::string key = key_of(full_spec(), "g");
  RunSpec other = full_spec();
  other.gpu = "the same GPU in a file";
  std::reverse(other.policy.parameters.begin(), other.policy.parameters.end());
  EXPECT_EQ(key_of(other, "g"), key);
  EXPECT_NE(key_of(full_spec(), "h"), key);
  const std::vector<void (*)(RunSpec&)> changes{[](RunSpec& s) { s.machine = "block"; },
                                                [](RunSpec& s) { s.kernels.pop_back(); },
                                                [](RunSpec& s) { s.kernels[0].name = "lbm"; },
                                                [](RunSpec& s) { s.kernels[0].size = "large"; },
                                                [](RunSpec& s) { s.kernels[0].goal = 0.8; },
                                                [](RunSpec& s) { s.kernels[0].goal_ipc = 5; },
                                                [](RunSpec& s) { s.kernels[0].goal_rate = 5; },
                                                [](RunSpec& s) { s.kernels[0].launches = 1; },
                                                [](RunSpec& s) { s.kernels[1].goal_time = std::nullopt; },
                                                [](RunSpec& s) { s.kernels[1].priority = 0; },
                                                [](RunSpec& s) { s.kernels[1].share = 1; },
                                                [](RunSpec& s) { s.kernels[1].blocks_per_sm = 0; },
                                                [](RunSpec& s) { s.kernels[1].arrive = {}; },
                                                [](RunSpec& s) { s.policy.name = "smqos"; },
                                                [](RunSpec& s) { s.policy.parameters[0].second = "history"; },
                                                [](RunSpec& s) { s.cycles = 1; },
                                                [](RunSpec& s) { s.match_instructions = false; },
                                                [](RunSpec& s) { s.seed = 8; }};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    RunSpec changed = full_spec();
    changes[i](changed);
    EXPECT_NE(key_of(changed, "g"), key) << "change " << i;
  }
}

TEST(RunSpec, RejectsUnknownFieldsAndSchemas) {
  const auto mistake = [](const std::string& text) { return run_spec_from_json(text, "x").error().to_string(); };
  EXPECT_THAT(mistake("{"), HasSubstr("not a run specification"));
  EXPECT_THAT(mistake(R"({"schema":99,"kernels":[]})"), HasSubstr("schema 99; this wm reads schema 1"));
  EXPECT_THAT(mistake(R"({"schema":1,"kernels":[{"name":"a","gaol":1}]})"),
              HasSubstr("unknown field 'gaol' (did you mean 'goal'?)"));
}

TEST(RunSpec, IsWrittenAsACommand) {
  EXPECT_EQ(
      command_of(full_spec()),
      "wm sim --gpu slicer16 --kernel sgemm:launches=0:goal=0.9 --kernel 'my "
      "kernel.yaml:launches=1:time=2000000000ps:priority=-2:share=1.5:blocks=3:arrive=50000:size=medium' --policy "
      "quota:scheme=elastic:epoch=5000 --cycles 100000 --size small --match-instructions --seed 7");
}

// The command line repeats the kernels of a co-run that give no number of launches.
TEST(RunSpec, ACommandOfSeveralKernelsNamesTheirLaunches) {
  RunSpec spec;
  spec.kernels.resize(2);
  spec.kernels[0].name = "a";
  spec.kernels[1].name = "b";
  EXPECT_EQ(command_of(spec),
            "wm sim --gpu qos16 --kernel a:launches=1 --kernel b:launches=1 --policy left_over --size medium --seed 1");
}

TEST(PolicySpec, IsResolvedToAllItsParameters) {
  const auto resolved = PolicySpec::parse("quota:scheme=elastic")->resolved();
  ASSERT_TRUE(resolved.ok());
  EXPECT_THAT(resolved->to_string(), HasSubstr("scheme=elastic"));
  EXPECT_THAT(resolved->to_string(), HasSubstr("epoch=10000"));
  EXPECT_FALSE(PolicySpec::parse("quota:epoch").ok());
  EXPECT_FALSE((PolicySpec{"no_such_policy", {}}).resolved().ok());
}

TEST(PolicySpec, AParameterThatWasAddedLaterKeepsTheKeysOfItsDefault) {
  EXPECT_EQ(PolicySpec::parse("static_smqos")->resolved()->to_string(), "static_smqos");
  EXPECT_EQ(PolicySpec::parse("static_smqos:rounding=down")->resolved()->to_string(), "static_smqos");
  EXPECT_EQ(PolicySpec::parse("static_smqos:rounding=up")->resolved()->to_string(), "static_smqos:rounding=up");
}

TEST(GpuDigest, IgnoresCommentsLayoutOrderAndDescription) {
  const std::string text = "# A GPU.\nname: g\nabout: one\nsm: {count: 2, blocks: 8}\n";
  EXPECT_EQ(gpu_digest(text), gpu_digest("sm:\n  blocks: 8\n  count: 2  # two\nname: g\nabout: another\n"));
  EXPECT_NE(gpu_digest(text), gpu_digest("name: g\nsm: {count: 3, blocks: 8}\n"));
  EXPECT_NE(gpu_digest("not: [yaml"), gpu_digest("not: [yaml "));
}

}  // namespace
}  // namespace wm::lab
