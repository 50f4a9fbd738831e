#include "policy/registry.h"

#include <gmock/gmock.h>
#include <set>

#include "policy/describe.h"
#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

using testing::HasSubstr;

TEST(Registry, EveryPolicyOfThePapersIsThere) {
  std::set<std::string> names;
  for (const Entry& e : entries()) names.emplace(e.info.name);
  for (const char* name :
       {"left_over", "fcfs", "spatial", "even", "smk", "warped_slicer", "oracle", "quota", "spart", "smqos",
        "static_smqos", "smqos_offline", "npq", "ppq", "dss", "accelos", "elastic_kernels", "time_slice", "mps"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Registry, UnknownNamesGetASuggestion) {
  EXPECT_EQ(choose("qouta").error().to_string(), "unknown policy 'qouta' (did you mean 'quota'?)");
  EXPECT_EQ(choose("quota:epochs=5").error().to_string(),
            "policy 'quota': unknown parameter 'epochs' (did you mean 'epoch'?)");
  EXPECT_THAT(choose("quota:scheme=rolover").error().to_string(), HasSubstr("did you mean 'rollover'?"));
}

TEST(Registry, ValuesAreChecked) {
  EXPECT_EQ(choose("quota:epoch=5").error().to_string(),
            "policy 'quota': epoch = 5 is out of its range, 100 to 10000000");
  EXPECT_EQ(choose("quota:epoch=1e4").error().to_string(), "policy 'quota': epoch = '1e4' is not a whole number");
  EXPECT_EQ(choose("smqos:threshold=nan").error().to_string(),
            "policy 'smqos': threshold = nan is out of its range, 0 to 1");
  EXPECT_EQ(choose("quota:epoch").error().to_string(), "policy 'quota': 'epoch' is not parameter=value");
  EXPECT_EQ(choose("quota:epoch=200:epoch=300").error().to_string(),
            "policy 'quota': parameter 'epoch' is given twice");
  EXPECT_EQ(choose("spatial:epoch=200").error().to_string(), "policy 'spatial' has no parameters, and so no 'epoch'");
  EXPECT_THAT(choose("oracle:blocks=5/x").error().to_string(), HasSubstr("blocks = '5/x' is not a list"));
}

TEST(Registry, AChoiceWritesItselfOutInFull) {
  EXPECT_EQ(choose("ppq:preemption=switch")->to_string(), "ppq:access=exclusive:preemption=switch");
  EXPECT_EQ(choose("oracle:blocks=5/3")->to_string(), "oracle:blocks=5/3");
  EXPECT_EQ(choose("spatial")->to_string(), "spatial");
}

TEST(Registry, AMachineThatLacksANeedIsRefusedByName) {
  const Cans block_machine = Cans::all().without({Can::quotas});
  EXPECT_EQ(fits(*choose("quota"), block_machine, "block").error().to_string(),
            "policy 'quota' cannot run on the block machine, which cannot limit a kernel's instructions on an SM");
  EXPECT_TRUE(fits(*choose("dss"), block_machine, "block").ok());
}

TEST(Registry, ParametersAddToTheNeeds) {
  const Cans drains_only = {Can::own_sms, Can::drain};
  EXPECT_TRUE(fits(*choose("dss"), drains_only, "device").ok());
  EXPECT_THAT(fits(*choose("dss:preemption=switch"), drains_only, "device").error().to_string(),
              HasSubstr("cannot save the context of the blocks on an SM"));
}

TEST(Registry, EveryNeedOfEveryPolicyIsAskedFor) {
  for (const Entry& e : entries()) {
    const Choice choice = *choose(e.info.name);
    for (unsigned i = 0; i <= static_cast<unsigned>(kLastCan); ++i) {
      const Can can = static_cast<Can>(i);
      EXPECT_EQ(fits(choice, Cans::all().without({can}), "m").ok(), !choice.needs().has(can)) << e.info.name;
    }
  }
}

// A policy that acts beyond what it declared is stopped by the recorder; so whatever needs and uses do not name is
// really not used.
TEST(Registry, EveryPolicyRunsOnAMachineWithJustItsNeeds) {
  for (const Entry& e : entries()) {
    FakeMachine gpu({.cans = choose(e.info.name)->needs()});
    drive(gpu, std::string(e.info.name),
          {arrive(FakeKernel{.name = "a", .goal = 50, .isolated_ipc = 100, .launches = 0}),
           arrive(FakeKernel{.name = "b", .isolated_ipc = 100, .launches = 0}), run(200'000)});
    EXPECT_GT(gpu.instructions({0}), 0U) << e.info.name;
  }
}

TEST(Describe, DetailsTellDefaultsRangesAndSections) {
  const std::string text = details_text(find("smqos").operator*()->info);
  EXPECT_THAT(text, HasSubstr("threshold    0.01   change of a batch task's rate that counts; 0 to 1 [5.3]"));
  EXPECT_THAT(text, HasSubstr("needs       own_sms, drain, count_instructions"));
  EXPECT_THAT(text, HasSubstr("can use     gate_power"));
}

TEST(Describe, EveryPolicyAndParameterSaysWhatItIs) {
  for (const Entry& e : entries()) {
    EXPECT_FALSE(e.info.about.empty()) << e.info.name;
    EXPECT_FALSE(e.info.paper.empty()) << e.info.name;
    for (const Parameter& p : e.info.parameters) EXPECT_FALSE(p.about.empty()) << e.info.name << " " << p.name;
    EXPECT_THAT(list_text(), HasSubstr(std::string(e.info.name) + " "));
    EXPECT_EQ(parameters_markdown(e.info).empty(), e.info.parameters.empty());
  }
}

TEST(Values, AskingForWhatIsNotInTheTableIsAMistake) {
  const std::vector<Parameter> table = {integer("n", 3, {1, 9}, "a number", "")};
  const Values values = *Values::from(table, {}, "test");
  EXPECT_EQ(values.integer("n"), 3);
  EXPECT_THROW((void)values.integer("m"), std::logic_error);
  EXPECT_THROW((void)values.number("n"), std::logic_error);
}

}  // namespace
}  // namespace wm::policy::test
