// Schedules computed by hand, matched to the cycle.
#include <gtest/gtest.h>

#include "sim/block/scenario.h"

namespace wm::sim::test {
namespace {

// Figure 2 of ISCA 2014: low-priority kernels K1 and K2 are launched before K3, which has a deadline. Each has four
// blocks on each of two SMs, two at a time: K1 and K2 run 2 x 300 cycles in isolation, K3 2 x 100. A context of 100
// bytes a block at 2 bytes a cycle takes 2 x 50 = 100 cycles to save and as long to restore.
std::vector<SmallKernel> figure2() {
  return {{.name = "K1", .blocks = 8, .cycles = 300, .blocks_per_sm = 2, .arrives = 0, .context_bytes = 100},
          {.name = "K2", .blocks = 8, .cycles = 300, .blocks_per_sm = 2, .arrives = 10, .context_bytes = 100},
          {.name = "K3",
           .blocks = 8,
           .cycles = 100,
           .blocks_per_sm = 2,
           .arrives = 150,
           .priority = 1,
           .context_bytes = 100}};
}
constexpr SmallGpu kTwoSms = {.sms = 2, .bytes_per_cycle = 2};

TEST(Figure2, FcfsRunsK3AfterK1AndK2) {
  const Scenario s(kTwoSms, "fcfs", figure2());
  EXPECT_EQ(s.end("K1"), 600U);
  EXPECT_EQ(s.end("K2"), 1200U);
  EXPECT_EQ(s.end("K3"), 1400U);
}

TEST(Figure2, NonPreemptivePriorityRunsK3AfterK1) {
  const Scenario s(kTwoSms, "npq", figure2());
  EXPECT_EQ(s.end("K1"), 600U);
  EXPECT_EQ(s.end("K3"), 800U);
  EXPECT_EQ(s.end("K2"), 1400U);
}

// K3 arrives at 150. K1's first blocks stop there; their contexts are saved by 250. K3 runs from 250 to 450. Then K1's
// first block on each SM is restored by 500 and its second by 550, each with 150 cycles left; the blocks after them
// end 300 later.
TEST(Figure2, ContextSwitchRunsK3AtOnce) {
  const Scenario s(kTwoSms, "ppq:preemption=switch", figure2());
  EXPECT_EQ(s.end("K3"), 450U);
  EXPECT_EQ(s.end("K1"), 550U + 150 + 300);
  // K2's first blocks take the places of K1's last two as they fall free, at 950 and 1000 on each SM: only once K1 has
  // no block on an SM may K2 start there.
  EXPECT_EQ(s.end("K2"), 1600U);
}

// K1's running blocks end at 300, K3 runs to 500, then K1's other four blocks to 800, then K2.
TEST(Figure2, DrainingRunsK3WhenTheBlocksOfK1HaveEnded) {
  const Scenario s(kTwoSms, "ppq:preemption=drain", figure2());
  EXPECT_EQ(s.end("K3"), 500U);
  EXPECT_EQ(s.end("K1"), 800U);
  EXPECT_EQ(s.end("K2"), 1400U);
}

// A launch of low priority arrives at 0, one of high priority at 100 and another one at 450, while the blocks of the
// first are being restored. K1's contexts (100 bytes each, one byte a cycle) are saved by 300; K2 runs from 300 to 400.
// K1's first block would be restored by 500, so K3 finds nothing to save at 450 and runs to 550. K1's blocks are
// restored by 650 and 750 then, with 900 of their 1,000 cycles left.
TEST(Schedule, ABlockThatIsBeingRestoredIsNotSavedAgain) {
  const Scenario s({.sms = 1}, "ppq:preemption=switch",
                   {{.name = "K1", .blocks = 2, .cycles = 1000, .blocks_per_sm = 2, .context_bytes = 100},
                    {.name = "K2", .blocks = 1, .cycles = 100, .arrives = 100, .priority = 1, .context_bytes = 100},
                    {.name = "K3", .blocks = 1, .cycles = 100, .arrives = 450, .priority = 1, .context_bytes = 100}});
  EXPECT_EQ(s.end("K2"), 400U);
  EXPECT_EQ(s.end("K3"), 550U);
  EXPECT_EQ(s.end("K1"), 750U + 900);
  EXPECT_EQ(s.machine().totals({0}).preemptions, 2U);
}

// K1 is given the SM at 0 and set up by 50; K2 arrives at 30 and is set up from 50 to 100. K1's block has no context
// then: after K2 it takes a setup, no restore.
TEST(Schedule, ABlockThatIsPreemptedInTheSetupStartsAnew) {
  const Scenario s({.sms = 1, .setup = 50}, "ppq:preemption=switch",
                   {{.name = "K1", .blocks = 1, .cycles = 1000, .context_bytes = 100},
                    {.name = "K2", .blocks = 1, .cycles = 100, .arrives = 30, .priority = 1, .context_bytes = 100}});
  EXPECT_EQ(s.end("K2"), 200U);
  EXPECT_EQ(s.end("K1"), 200U + 50 + 1000);
  EXPECT_EQ(s.machine().totals({0}).preemptions, 0U);
}

// Three waves of three blocks on three places: 3 x 50; the setup of 20 cycles comes once, before the first.
TEST(Schedule, AnSmIsSetUpOncePerLaunch) {
  const Scenario s({.sms = 1, .setup = 20}, "fcfs", {{.name = "a", .blocks = 9, .cycles = 50, .blocks_per_sm = 3}});
  EXPECT_EQ(s.end("a"), 20U + 150);
}

// The decision to give the SM to the kernel takes 13 cycles, its setup 20.
TEST(Schedule, ADecisionTakesItsCycles) {
  const Scenario s({.sms = 1, .decision = 13, .setup = 20}, "fcfs", {{.name = "a", .blocks = 1, .cycles = 50}});
  EXPECT_EQ(s.end("a"), 13U + 20 + 50);
}

// Equal budgets of one SM each. The first kernel has both SMs until the second arrives at 100, and loses one: its block
// there is drained at 1000. From then on each has an SM: a's eight blocks end as 2 + 6 on one SM, b's two on the other.
TEST(Schedule, DssGivesEachKernelItsSm) {
  const Scenario s(
      {.sms = 2}, "dss:preemption=drain",
      {{.name = "a", .blocks = 8, .cycles = 1000}, {.name = "b", .blocks = 2, .cycles = 400, .arrives = 100}});
  EXPECT_EQ(s.end("b"), 1800U);
  // a: SM 0 runs blocks from 0, 1000, 2000 …; SM 1 one block to 1000 and again from 1800 on: 6 blocks are left at 1000,
  // SM 0 ends its third by 4000, SM 1 its third by 4800.
  EXPECT_EQ(s.end("a"), 4800U);
}

// Two kernels of ten places each share an SM. Each asks for the whole SM when it has ten blocks; with five blocks each
// they ask for all of it together and no one is slowed.
TEST(Schedule, KernelsThatTogetherAskForWhatTheSmHasAreNotSlowed) {
  const Scenario s({.sms = 1}, "even",
                   {{.name = "a", .blocks = 5, .cycles = 100, .blocks_per_sm = 10},
                    {.name = "b", .blocks = 5, .cycles = 100, .blocks_per_sm = 10}});
  EXPECT_EQ(s.end("a"), 100U);
  EXPECT_EQ(s.end("b"), 100U);
}

TEST(Schedule, TheSameSeedGivesTheSameRun) {
  const std::vector<SmallKernel> kernels = {
      {.name = "a", .blocks = 100, .cycles = 77, .blocks_per_sm = 3},
      {.name = "b", .blocks = 50, .cycles = 131, .blocks_per_sm = 2, .arrives = 5}};
  const Scenario first({.sms = 4}, "dss:preemption=switch", kernels);
  const Scenario second({.sms = 4}, "dss:preemption=switch", kernels);
  EXPECT_EQ(first.end("a"), second.end("a"));
  EXPECT_EQ(first.end("b"), second.end("b"));
}

// Counts the events.
class Watcher final : public BlockObserver {
 public:
  void block_began(const ObservedBlock&, std::uint64_t, std::uint64_t, bool) override { ++began_; }
  void block_left(const ObservedBlock&, std::uint64_t, bool) override { ++left_; }
  [[nodiscard]] std::uint64_t began() const { return began_; }
  [[nodiscard]] std::uint64_t left() const { return left_; }

 private:
  std::uint64_t began_ = 0;
  std::uint64_t left_ = 0;
};

struct EndOfRun {
  std::uint64_t cycles = 0;
  std::vector<std::uint64_t> ends;  // ends of launches, in order
  std::uint64_t instructions = 0;
  friend bool operator==(const EndOfRun&, const EndOfRun&) = default;
};

// Three clients with blocks of varying duration that launch again and again, with and without running ahead.
struct BusyMachine {
  double variation = 0;
  bool fill_sms = true;
  std::uint32_t blocks = 1;  // on an SM, a multiple of those of the smallest machine
};
EndOfRun busy_run(const std::string& policy_name, bool ahead, bool watched, const BusyMachine& busy) {
  BlockMachineSpec spec;
  spec.fill_sms = busy.fill_sms;
  spec.sms = 5;
  spec.limits.total = {2048, 65536, 49152, 16 * busy.blocks};
  spec.bytes_per_second = 50'000'000'000;
  spec.decision = {5};
  spec.setup = {20};
  BlockMachine machine(spec);
  Watcher watcher;
  if (watched) machine.observe(watcher);
  const auto choice = *policy::choose(policy_name);
  const auto policy = *policy::make(choice, machine.cans(), "block");
  machine.start(*policy, choice.needs() | choice.entry->info.uses);
  std::vector<KernelModel> models(3);
  for (std::uint32_t i = 0; i < 3; ++i) {
    models[i].blocks = (40 + 300 * i) * busy.blocks;
    models[i].block_time = {100 + 70 * i};
    models[i].max_blocks_per_sm = (2 + i) * busy.blocks;
    models[i].footprint = {2048 / models[i].max_blocks_per_sm, 0, 0, 1};
    models[i].demand = kOne / models[i].max_blocks_per_sm;
    models[i].block_instructions = 1000;
    models[i].context_bytes = 1000;
    models[i].shape = DurationShape::uniform(busy.variation);
    machine.add_client({.name = "k", .priority = i == 0 ? 1 : 0});
    machine.launch({i}, models[i]);
  }
  machine.settle();
  EndOfRun end;
  while (end.ends.size() < 60) {
    if (ahead) machine.run_ahead(kNever);
    machine.advance(machine.next_event());
    for (const policy::KernelId done : machine.completed()) {
      end.ends.push_back(machine.now().count);
      machine.launch(done, models[done.index]);
    }
    machine.settle();
  }
  end.cycles = machine.now().count;
  for (std::uint32_t i = 0; i < 3; ++i) end.instructions += machine.totals({i}).instructions;
  EXPECT_GE(watcher.began(), watcher.left());
  return end;
}

TEST(RunAhead, ResultsAreThoseWithoutIt) {
  for (const char* policy : {"fcfs", "npq", "ppq:preemption=switch", "dss:preemption=drain", "dss:preemption=switch",
                             "spatial", "left_over", "even", "accelos", "elastic_kernels", "mps", "mps:percentage=40",
                             "time_slice:slice=2000:switch=100", "spart", "moving_shares"}) {
    for (const BusyMachine& busy : {BusyMachine{},
                                    {.variation = 0.3},
                                    {.fill_sms = false},
                                    {.variation = 0.3, .fill_sms = false},
                                    {.variation = 0.1, .blocks = 4},
                                    {.variation = 0.1, .fill_sms = false, .blocks = 4}}) {
      const EndOfRun plain = busy_run(policy, false, false, busy);
      EXPECT_EQ(busy_run(policy, true, false, busy), plain) << policy << " " << busy.variation;
      EXPECT_EQ(busy_run(policy, true, true, busy), plain) << policy << " " << busy.variation << ", watched";
    }
  }
}

// The cycle in which the last of the blocks ends, four at a time.
std::uint64_t end_of_long_blocks(bool ahead, std::uint32_t blocks = 8, Cycles mean = {std::uint64_t{1} << 45}) {
  BlockMachineSpec spec;
  spec.sms = 1;
  spec.limits.total = {2048, 65536, 49152, 16};
  BlockMachine machine(spec);
  const auto choice = *policy::choose("left_over");
  const auto policy = *policy::make(choice, machine.cans(), "block");
  machine.start(*policy, choice.needs());
  KernelModel model;
  model.blocks = blocks;
  model.block_time = mean;
  model.max_blocks_per_sm = 4;
  model.footprint = {512, 0, 0, 1};
  model.demand = kOne / 4;
  model.shape = DurationShape::uniform(0.3);
  machine.launch(machine.add_client({.name = "k"}), model);
  machine.settle();
  while (machine.totals({0}).blocks < model.blocks) {
    if (ahead) machine.run_ahead(kNever);
    machine.advance(machine.next_event());
    machine.settle();
  }
  return machine.now().count;
}

TEST(RunAhead, BlocksMayRunForHours) { EXPECT_EQ(end_of_long_blocks(true), end_of_long_blocks(false)); }

// 400 blocks of 1e13 cycles, four at a time, take about 1e15 cycles: in 1/65536 cycles more than 64 bits hold.
TEST(RunAhead, BlocksMayFollowEachOtherForDays) {
  const std::uint64_t end = end_of_long_blocks(true, 400, {10'000'000'000'000});
  EXPECT_NEAR(static_cast<double>(end), 1e15, 0.05e15);
  EXPECT_EQ(end_of_long_blocks(false, 400, {10'000'000'000'000}), end);
}

// Begins epochs of 1000 cycles and notes the instructions of the first client in each.
class EpochReader final : public policy::Policy {
 public:
  void on(const policy::Started&, policy::Machine& gpu) override { gpu.set_epoch({1000}); }
  void on(const policy::Epoch&, policy::Machine& gpu) override { counts.push_back(gpu.epoch_instructions({0})); }

  std::vector<std::uint64_t> counts;
};

// A launch that ended counts in its epoch and in no later one; the next launch counts again.
TEST(Epochs, AClientCountsInTheEpochsInWhichItsBlocksWork) {
  BlockMachineSpec spec;
  spec.limits.total = {2048, 65536, 49152, 16};
  BlockMachine machine(spec);
  EpochReader policy;
  machine.start(policy, {});
  KernelModel model;
  model.blocks = 4;
  model.block_time = {300};
  model.block_instructions = 600;
  model.max_blocks_per_sm = 4;
  model.footprint = {512, 0, 0, 1};
  model.demand = kOne / 4;
  machine.launch(machine.add_client({.name = "k"}), model);
  machine.settle();
  while (policy.counts.size() < 4) {
    machine.advance(machine.next_event());
    machine.settle();
    if (policy.counts.size() == 2 && machine.now().count == 2000) {
      machine.launch({0}, model);
      machine.settle();
    }
  }
  EXPECT_EQ(policy.counts, (std::vector<std::uint64_t>{2400, 0, 2400, 0}));
}

}  // namespace
}  // namespace wm::sim::test
