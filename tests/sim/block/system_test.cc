// Processes, queues and transfers, computed by hand on a system with a clock of 1 GHz: a nanosecond is a cycle.
#include "sim/block/system.h"

#include <gtest/gtest.h>

#include "policy/registry.h"
#include "sim/block/load_app.h"
#include "sim/block/silent_observer.h"
#include "tree.h"

namespace wm::sim {
namespace {

SystemConfig small_system() {
  SystemConfig c;
  c.machine.sms = 2;
  c.machine.limits.total = {2048, 65536, 49152, 16};
  c.machine.clock = {1'000'000'000};
  c.machine.bytes_per_second = 1'000'000'000;
  c.cpu = {.cores = 1, .threads_per_core = 2, .api_call = {10'000}};
  c.link = {.bytes_per_second = 1'000'000'000, .burst_bytes = 100};
  return c;
}

std::shared_ptr<const BoundApp> app(const std::string& trace, const SystemConfig& c = small_system()) {
  const auto parsed = parse_app(
      "name: a\nkernels:\n  k: {blocks: 4, threads: 1024, block_time: 100 ns}\n"
      "  one: {blocks: 1, threads: 32, block_time: 100 ns}\ntrace:\n" +
          trace,
      "a.yaml");
  EXPECT_TRUE(parsed.ok()) << parsed.error().to_string();
  return std::make_shared<const BoundApp>(*bind_app(*parsed, c.machine.limits, c.machine.clock, {}));
}

class SmallSystem {
 public:
  explicit SmallSystem(const SystemConfig& config = small_system(), const std::string& policy = "fcfs")
      : choice_(*policy::choose(policy)),
        policy_(*policy::make(choice_, BlockMachine::kCans, "block")),
        system_(config, *policy_, choice_.needs(), 1) {}
  System& operator*() { return system_; }
  std::vector<std::uint64_t> turnarounds(std::uint32_t process) { return system_.result(process).turnarounds; }
  void go(std::uint32_t runs) {
    const auto ran = system_.run({.runs_each = runs});
    EXPECT_TRUE(ran.ok()) << ran.error().to_string();
  }

 private:
  policy::Choice choice_;
  std::unique_ptr<policy::Policy> policy_;
  System system_;
};

// CPU 1000; the copy's call 10, 200 bytes as 2 bursts 200; the launch's call 10, a wave of 4 blocks 100, which the call
// to wait (10) overlaps; the copy back's call 10 and 300 bytes 300; the last wait 10.
TEST(System, OneApplicationTakesTheSumOfItsSteps) {
  SmallSystem run;
  (*run).add({.name = "a",
              .app = app("- cpu: 1000 ns\n- copy_to_device: 150 B\n- launch: k\n- sync: all\n- copy_to_host: 201 B\n"),
              .runs = 1});
  run.go(1);
  EXPECT_EQ(run.turnarounds(0), std::vector<std::uint64_t>{1000 + 10 + 200 + 10 + 100 + 10 + 300 + 10});
}

// The copy is under way while the CPU computes.
TEST(System, AnAsynchronousCopyOverlapsTheCpu) {
  SmallSystem run;
  (*run).add({.name = "a", .app = app("- {copy_to_device: 1000 B, async: true}\n- cpu: 600 ns\n"), .runs = 1});
  run.go(1);
  EXPECT_EQ(run.turnarounds(0), std::vector<std::uint64_t>{10 + 1000});
}

// 6 bytes at 4 bytes a cycle take a cycle and a half, 7714 bytes 1928 and a half: both are rounded up.
TEST(System, HalfACycleOfACopyIsRoundedUp) {
  SystemConfig c = small_system();
  c.link = {.bytes_per_second = 4'000'000'000, .burst_bytes = 2};
  const TransferEngine link(c.link, c.machine.clock);
  EXPECT_EQ(link.cycles(6), 2U);
  EXPECT_EQ(link.cycles(7'714), 1'929U);
  EXPECT_EQ(link.cycles(std::uint64_t{1} << 50), (std::uint64_t{1} << 48));
}

// Two launches of 100 cycles at the same time are 100 cycles of the GPU, and a copy is none.
TEST(System, LaunchesAtTheSameTimeCountOnce) {
  SmallSystem run(small_system(), "left_over");
  (*run).add({.name = "a",
              .app = app("- {launch: one}\n- {launch: one, stream: 1}\n- sync: all\n- copy_to_host: 500 B\n"),
              .runs = 1});
  run.go(1);
  EXPECT_EQ((*run).result(0).gpu_cycles, 110U);
}

// Launches of one stream run one after the other; those of two streams need not.
TEST(System, CommandsOfOneStreamAreSerial) {
  const std::string serial = "- launch: k\n- launch: k\n- launch: k\n";
  const std::string parallel = "- launch: k\n- {launch: k, stream: 1}\n- {launch: k, stream: 2}\n";
  SmallSystem one(small_system(), "left_over");
  (*one).add({.name = "a", .app = app(serial), .runs = 1});
  one.go(1);
  SmallSystem three(small_system(), "left_over");
  (*three).add({.name = "a", .app = app(parallel), .runs = 1});
  three.go(1);
  EXPECT_EQ(one.turnarounds(0), std::vector<std::uint64_t>{10 + 300});
  EXPECT_GE(three.turnarounds(0)[0], 30U + 200);  // the SMs are full of the first launch
  // Streams that share a hardware queue are serial again.
  SystemConfig narrow = small_system();
  narrow.hardware_queues = 1;
  SmallSystem shared(narrow, "left_over");
  (*shared).add({.name = "a", .app = app(parallel), .runs = 1});
  shared.go(1);
  EXPECT_EQ(shared.turnarounds(0), std::vector<std::uint64_t>{10 + 300});
}

// A launch of 1000 cycles is under way in stream 0 from 10 on when the call of the copy ends at 20. The thread waits
// for its copy (100), not for the launch, and computes until 620; the copy back is called by 630 and ends at 1630.
TEST(System, ASynchronousCopyWaitsForItselfOnly) {
  const std::string kernel = "name: a\nkernels:\n  k: {blocks: 1, threads: 32, block_time: 1000 ns}\ntrace:\n";
  const SystemConfig c = small_system();
  const auto parsed = parse_app(kernel +
                                    "- launch: k\n- {copy_to_device: 100 B, stream: 1}\n- cpu: 500 ns\n"
                                    "- {copy_to_host: 1000 B, stream: 1}\n",
                                "a.yaml");
  ASSERT_TRUE(parsed.ok());
  SmallSystem run;
  (*run).add({.name = "a",
              .app = std::make_shared<const BoundApp>(*bind_app(*parsed, c.machine.limits, c.machine.clock, {})),
              .runs = 1});
  run.go(1);
  EXPECT_EQ(run.turnarounds(0), std::vector<std::uint64_t>{20 + 100 + 500 + 10 + 1000 + 10});
}

// Two processes copy 1000 bytes each in one direction, then in opposite ones.
TEST(System, CopiesOfOneDirectionTakeTurns) {
  SmallSystem same;
  (*same).add({.name = "a", .app = app("- copy_to_device: 1000 B\n"), .runs = 1});
  (*same).add({.name = "b", .app = app("- copy_to_device: 1000 B\n"), .runs = 1});
  same.go(1);
  EXPECT_EQ(same.turnarounds(0)[0], 10U + 1000 + 10);
  EXPECT_EQ(same.turnarounds(1)[0], 10U + 2000 + 10);
  SmallSystem opposite;
  (*opposite).add({.name = "a", .app = app("- copy_to_device: 1000 B\n"), .runs = 1});
  (*opposite).add({.name = "b", .app = app("- copy_to_host: 1000 B\n"), .runs = 1});
  opposite.go(1);
  EXPECT_EQ(opposite.turnarounds(1)[0], 10U + 1000 + 10);
}

// The threads of two processes move 1000 bytes of pageable memory at half the link's rate side by side; only their last
// bursts take turns.
TEST(System, CopiesOfPageableMemoryHoldTheirThreads) {
  SystemConfig c = small_system();
  c.link.pageable_to_device = 500'000'000;
  SmallSystem run(c);
  (*run).add({.name = "a", .app = app("- copy_to_device: 1000 B\n"), .runs = 1});
  (*run).add({.name = "b", .app = app("- copy_to_device: 1000 B\n"), .runs = 1});
  run.go(1);
  EXPECT_EQ(run.turnarounds(0)[0], 10U + 2000 + 100 + 10);
  EXPECT_EQ(run.turnarounds(1)[0], 10U + 2000 + 200 + 10);
}

// One copy at a time for both directions, in order of arrival: b's copy to the host came before c's to the device,
// which must not overtake it while a's copy is under way.
TEST(System, OneEngineForBothDirectionsKeepsTheOrderOfArrival) {
  SystemConfig c = small_system();
  c.cpu.cores = 4;
  c.link.duplex = false;
  SmallSystem run(c);
  for (const char* copy : {"- copy_to_device: 1000 B\n", "- copy_to_host: 1000 B\n", "- copy_to_device: 1000 B\n"})
    (*run).add({.name = "a", .app = app(copy), .runs = 1});
  run.go(1);
  EXPECT_EQ(run.turnarounds(0)[0], 1020U);
  EXPECT_EQ(run.turnarounds(1)[0], 2020U);
  EXPECT_EQ(run.turnarounds(2)[0], 3020U);
}

TEST(System, OneEngineForBothDirectionsTakesTheMoreImportantCopyFirst) {
  SystemConfig c = small_system();
  c.cpu.cores = 4;
  c.link.duplex = false;
  c.link.order = LinkConfig::Order::priority;
  SmallSystem run(c);
  (*run).add({.name = "a", .app = app("- copy_to_device: 1000 B\n"), .runs = 1});
  (*run).add({.name = "a", .app = app("- copy_to_device: 1000 B\n"), .runs = 1});
  (*run).add({.name = "b", .app = app("- copy_to_host: 1000 B\n"), .priority = 1, .runs = 1});
  run.go(1);
  EXPECT_EQ(run.turnarounds(1)[0], 3020U);
  EXPECT_EQ(run.turnarounds(2)[0], 2020U);
}

// 2000 phases of 18 million seconds are more than 64 bits of cycles at 1 GHz hold.
TEST(System, ARunThatCyclesCannotCountIsRefused) {
  SmallSystem run;
  (*run).add({.name = "a", .app = app("- cpu: 18000000 s\n")});
  const auto ran = (*run).run({.runs_each = 2000});
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().to_string(), "a run has at most 4611686018427387904 cycles: end it with --cycles");
}

// The copy under way is not interrupted; of those that wait the process of higher priority goes first.
TEST(System, PriorityOrdersWaitingCopies) {
  SystemConfig c = small_system();
  c.cpu.cores = 4;
  c.link.order = LinkConfig::Order::priority;
  SmallSystem run(c);
  for (const int priority : {0, 0, 1})
    (*run).add({.name = "a", .app = app("- copy_to_device: 1000 B\n"), .priority = priority, .runs = 1});
  run.go(1);
  EXPECT_EQ(run.turnarounds(0)[0], 1020U);
  EXPECT_EQ(run.turnarounds(1)[0], 3020U);
  EXPECT_EQ(run.turnarounds(2)[0], 2020U);
}

// Three processes compute on two hardware threads. At 1000 the third takes the first's; the first's last call takes the
// second's, whose own last call waits for it.
TEST(System, CpuPhasesWaitForAHardwareThread) {
  SmallSystem run;
  for (int i = 0; i < 3; ++i) (*run).add({.name = "a", .app = app("- cpu: 1000 ns\n"), .runs = 1});
  run.go(1);
  EXPECT_EQ(run.turnarounds(0)[0], 1010U);
  EXPECT_EQ(run.turnarounds(1)[0], 1020U);
  EXPECT_EQ(run.turnarounds(2)[0], 2010U);
}

// With one place in the execution engine the second launch is not seen by the policy before the first has ended.
TEST(System, ALimitOnActiveKernelsHoldsLaunchesBack) {
  SystemConfig c = small_system();
  c.active_kernels = 1;
  SmallSystem run(c, "left_over");
  for (int i = 0; i < 2; ++i)
    (*run).add({.name = "a", .app = app("- launch: k\n"), .arrive = {static_cast<std::uint64_t>(i)}, .runs = 1});
  bool together = false;
  while ((*run).processes() == 2 && (*run).now().count < 150) {
    const auto ran = (*run).run({.runs_each = 1, .at = (*run).now() + Cycles{1}});
    ASSERT_TRUE(ran.ok());
    together |= (*run).machine().kernels().size() > 1;
  }
  EXPECT_FALSE(together);
}

TEST(System, ShorterApplicationsReplayUntilAllHaveRunThreeTimes) {
  SmallSystem run;
  (*run).add({.name = "short", .app = app("- cpu: 100 ns\n")});
  (*run).add({.name = "long", .app = app("- cpu: 1000 ns\n")});
  run.go(3);
  EXPECT_EQ(run.turnarounds(1).size(), 3U);
  EXPECT_EQ(run.turnarounds(0).size(), 27U);  // 110 cycles each within 3030
}

// Requests at 0, 500 and 5000, each 1010 cycles of work: the second waits for the first.
// Two SMs, one block on each: under fcfs kernels of one process run beside each other, those of two processes do not.
TEST(System, StreamsOfOneApplicationAreOneProcess) {
  const auto end_of = [](const std::string& second_stream, std::uint32_t group, std::uint32_t other_group) {
    SystemConfig c = small_system();
    c.machine.limits.total.blocks = 1;
    c.cpu.api_call = {0};
    const auto parsed = parse_app(
        "name: a\nkernels:\n  k: {blocks: 1, threads: 1024, block_time: 100 ns}\ntrace:\n- launch: k\n" + second_stream,
        "a.yaml");
    SmallSystem run(c);
    const auto bound = std::make_shared<const BoundApp>(*bind_app(*parsed, c.machine.limits, c.machine.clock, {}));
    (*run).add({.name = "a", .app = bound, .group = group, .runs = 1});
    if (second_stream.empty()) (*run).add({.name = "b", .app = bound, .group = other_group, .runs = 1});
    run.go(1);
    return (*run).now().count;
  };
  EXPECT_EQ(end_of("- launch: k\n  stream: 1\n", 0, 0), 100U);
  EXPECT_EQ(end_of("", 0, 0), 200U);
  EXPECT_EQ(end_of("", 1, 2), 200U);
  EXPECT_EQ(end_of("", 7, 7), 100U);  // two applications of one process
}

// The second application ends its run while the first one's blocks are at work; their later ends are not of this run.
TEST(System, ARunEndsInTheSameCycleWatchedOrNot) {
  const auto blocks_and_end = [](bool watched) {
    const auto parsed = parse_app(
        "name: a\nkernels:\n  k: {blocks: 900, threads: 128, block_time: 100 ns, variation: 0.5}\ntrace:\n- launch: "
        "k\n",
        "a.yaml");
    SmallSystem run(small_system(), "dss");
    SilentObserver observer;
    if (watched) (*run).observe(observer);
    const SystemConfig c = small_system();
    (*run).add({.name = "a",
                .app = std::make_shared<const BoundApp>(*bind_app(*parsed, c.machine.limits, c.machine.clock, {})),
                .runs = 0});
    (*run).add({.name = "b", .app = app("- cpu: 50 ns\n"), .arrive = {4'000}, .runs = 1});
    run.go(1);
    return std::pair{(*run).result(0).blocks, (*run).now().count};
  };
  EXPECT_EQ(blocks_and_end(false), blocks_and_end(true));
}

TEST(System, RequestsWaitForThoseBeforeThem) {
  SmallSystem run;
  (*run).add({.name = "service", .app = app("- cpu: 1000 ns\n"), .arrivals = Arrivals::recorded({{0}, {500}, {5000}})});
  run.go(3);
  EXPECT_EQ(run.turnarounds(0), (std::vector<std::uint64_t>{1010, 1520, 1010}));
}

// The CPU waits for a launch that is not asynchronous; a wave of its blocks takes 100.
TEST(System, ALaunchMayBeSynchronous) {
  const auto cycles = [](const std::string& launch) {
    SmallSystem run;
    (*run).add({.name = "a", .app = app("- {" + launch + "}\n- cpu: 1000 ns\n"), .runs = 1});
    run.go(1);
    return run.turnarounds(0).front();
  };
  EXPECT_EQ(cycles("launch: k"), 10U + 1000 + 10);
  EXPECT_EQ(cycles("launch: k, async: false"), 10U + 100 + 1000 + 10);
}

// Calls take no time on this system, so a run that computes nothing ends in the cycle in which it begins.
TEST(System, AnApplicationThatTakesNoTimeEndsTheSimulationWithAnError) {
  SystemConfig c = small_system();
  c.cpu.api_call = {0};
  SmallSystem run(c);
  (*run).add({.name = "nothing", .app = app("- cpu: 0 ns\n", c)});
  (*run).add({.name = "a", .app = app("- cpu: 1000 ns\n", c)});
  const auto ran = (*run).run({.runs_each = 1});
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(ran.error().what, "'nothing' repeats without end in cycle 0: a run of it takes no time");
}

// The important process always has a launch in its queue, so under exclusive access the other starts no block.
TEST(System, AProcessThatStarvesEndsTheSimulationWithAnError) {
  SystemConfig c = small_system();
  c.cpu = {.cores = 4, .threads_per_core = 1, .api_call = {0}};
  SmallSystem run(c, "ppq");
  const std::string two_streams = "- launch: k\n- {launch: k, stream: 1}\n";
  for (int i = 0; i < 2; ++i) (*run).add({.name = "important", .app = app(two_streams, c), .priority = 1});
  (*run).add({.name = "starved", .app = app("- launch: k\n", c), .arrive = {50}});
  const auto ran = (*run).run({.runs_each = 2, .patience = {1'000'000}});
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(
      ran.error().what,
      "'starved' starves under this policy: it has completed 0 of 2 runs by cycle 1000000; --cycles ends such a run");
}

TEST(System, PatienceDoesNotChangeARunThatEndsBefore) {
  std::vector<std::vector<std::uint64_t>> seen;
  for (const Cycles patience : {kNever, Cycles{10'000}}) {
    SmallSystem run;
    for (int i = 0; i < 2; ++i) (*run).add({.name = "a", .app = app("- cpu: 70 ns\n- launch: k\n- launch: k\n")});
    EXPECT_TRUE((*run).run({.runs_each = 5, .patience = patience}).ok());
    seen.push_back(run.turnarounds(1));
  }
  EXPECT_EQ(seen[0], seen[1]);
  EXPECT_EQ(seen[0].size(), 5U);
}

// One process ends after a run, the other after its recorded requests: neither can complete the five runs asked for.
TEST(System, AProcessWithoutRunsToComeDoesNotKeepTheOthersRepeating) {
  SmallSystem run;
  (*run).add({.name = "once", .app = app("- cpu: 1000 ns\n"), .runs = 1});
  (*run).add({.name = "requests", .app = app("- cpu: 10 ns\n"), .arrivals = Arrivals::recorded({{5}, {500}})});
  (*run).add({.name = "repeats", .app = app("- cpu: 100 ns\n")});
  run.go(5);
  EXPECT_EQ(run.turnarounds(0).size(), 1U);
  EXPECT_EQ(run.turnarounds(1).size(), 2U);
  EXPECT_GE(run.turnarounds(2).size(), 5U);
}

// Keeps the first 100 blocks.
class SmallObserver final : public SystemObserver {
 public:
  void block_began(const ObservedBlock&, std::uint64_t, std::uint64_t, bool) override {}
  void block_left(const ObservedBlock&, std::uint64_t, bool) override { ++blocks_; }
  void cpu_phase(std::uint32_t, std::uint64_t, std::uint64_t) override {}
  void transfer(std::uint32_t, bool, std::uint64_t, std::uint64_t, std::uint64_t) override {}
  void launch_began(std::uint32_t, std::uint32_t, const KernelModel&, std::uint64_t) override {}
  void launch_ended(std::uint32_t, std::uint32_t, std::uint64_t) override {}
  void run_ended(std::uint32_t, std::uint64_t, std::uint64_t) override {}
  [[nodiscard]] bool full() const override { return blocks_ >= 100; }

 private:
  int blocks_ = 0;
};

// A run has four blocks.
TEST(System, ARunEndsWithAnErrorWhenItsObserverIsFull) {
  for (const std::uint32_t runs : {24U, 26U}) {
    SmallSystem run;
    SmallObserver observer;
    (*run).observe(observer);
    (*run).add({.name = "a", .app = app("- launch: k\n")});
    const auto ran = (*run).run({.runs_each = runs});
    EXPECT_EQ(ran.ok(), runs == 24);
    if (!ran.ok()) {
      EXPECT_EQ(ran.error().what.find("a page, timeline or trace cannot keep more of the run than until cycle "), 0U);
    }
  }
}

}  // namespace
}  // namespace wm::sim
