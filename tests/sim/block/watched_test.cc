// A run has the same result whether it is observed or not. An observer sees every block, so the machine's shortcuts for
// blocks that only replace each other are not taken.
#include <gtest/gtest.h>

#include "base/random.h"
#include "policy/registry.h"
#include "sim/block/load_app.h"
#include "sim/block/silent_observer.h"

namespace wm::sim {
namespace {

SystemConfig system_of_four_sms(bool fill_sms) {
  SystemConfig c;
  c.machine.sms = 4;
  c.machine.limits.total = {2048, 65536, 49152, 16};
  c.machine.clock = {1'000'000'000};
  c.machine.bytes_per_second = 100'000'000'000;
  c.machine.setup = {100};
  c.machine.decision = {4};
  c.machine.fill_sms = fill_sms;
  return c;
}

template <typename T>
const T& one_of(Random& random, const std::vector<T>& all) {
  return all[random.below(static_cast<std::uint32_t>(all.size()))];
}

// An application of two kernels, whose launches follow each other or overlap in two streams.
std::string random_app(Random& random) {
  std::string text = "name: a\nkernels:\n";
  for (const char* name : {"k", "l"})
    text += std::string("  ") + name + ": {blocks: " + one_of<std::string>(random, {"1", "7", "60", "500"}) +
            ", threads: " + one_of<std::string>(random, {"64", "256", "1024"}) +
            ", registers: " + one_of<std::string>(random, {"0", "4096", "30000"}) +
            ", block_time: " + one_of<std::string>(random, {"3 ns", "1 us", "20 us"}) +
            ", saturation: " + one_of<std::string>(random, {"1", "0.4"}) + ", " +
            one_of<std::string>(random, {"variation: 0.3", "variation: 0", "durations: [1, 1, 30]"}) + "}\n";
  text += "trace:\n";
  for (int i = 0; i < 4; ++i)
    text += one_of<std::string>(random, {"- launch: k\n", "- launch: l\n", "- {launch: l, stream: 1}\n",
                                         "- cpu: 30 us\n", "- copy_to_device: 64 KB\n", "- sync: all\n"});
  return text;
}

struct Outcome {
  std::uint64_t end = 0;
  std::vector<std::vector<std::uint64_t>> turnarounds;
  std::vector<std::uint64_t> blocks;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome run(const SystemConfig& config, const policy::Choice& choice, const std::vector<std::string>& apps,
            bool observed) {
  const auto policy = *policy::make(choice, BlockMachine::kCans, "block");
  System system(config, *policy, choice.needs() | choice.entry->info.uses, 1);
  SilentObserver observer;
  if (observed) system.observe(observer);
  for (const std::string& text : apps) {
    const auto bound = bind_app(*parse_app(text, "a.yaml"), config.machine.limits, config.machine.clock, {});
    system.add({.name = "a", .app = std::make_shared<const BoundApp>(*bound)});
  }
  EXPECT_TRUE(system.run({.runs_each = 2, .at = {3'000'000}}).ok());
  Outcome outcome;
  outcome.end = system.now().count;
  for (std::uint32_t i = 0; i < system.processes(); ++i) {
    outcome.turnarounds.push_back(system.result(i).turnarounds);
    outcome.blocks.push_back(system.result(i).blocks);
  }
  return outcome;
}

class Observed : public testing::TestWithParam<const char*> {};

TEST_P(Observed, RunsEndAsThoseWithoutAnObserver) {
  const auto choice = *policy::choose(GetParam());
  Random random(17);
  for (int i = 0; i < 30; ++i) {
    std::vector<std::string> apps(1 + random.below(4));
    for (std::string& app : apps) app = random_app(random);
    const SystemConfig config = system_of_four_sms(random.below(2) == 0);
    std::string all;
    for (const std::string& app : apps) all += app;
    ASSERT_EQ(run(config, choice, apps, true), run(config, choice, apps, false)) << "workload " << i << "\n" << all;
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Observed,
                         testing::Values("fcfs", "npq", "ppq:preemption=switch", "dss:preemption=switch", "dss",
                                         "spatial", "spart", "smqos", "accelos", "elastic_kernels", "moving_shares",
                                         "left_over", "even", "time_slice", "mps"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = c == ':' || c == '=' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace wm::sim
