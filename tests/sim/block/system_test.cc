// Processes, queues and transfers, computed by hand on a system with a clock of 1 GHz: a nanosecond is a cycle.
#include "sim/block/system.h"

#include <gtest/gtest.h>

#include "policy/registry.h"
#include "sim/block/load_app.h"
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
  const auto parsed =
      parse_app("name: a\nkernels:\n  k: {blocks: 4, threads: 1024, block_time: 100 ns}\ntrace:\n" + trace, "a.yaml");
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

// Counts nothing, but its presence makes the machine visit every block.
class SilentObserver final : public SystemObserver {
 public:
  void block_began(const ObservedBlock&, std::uint64_t, std::uint64_t, bool) override {}
  void block_left(const ObservedBlock&, std::uint64_t, bool) override {}
  void cpu_phase(std::uint32_t, std::uint64_t, std::uint64_t) override {}
  void transfer(std::uint32_t, bool, std::uint64_t, std::uint64_t, std::uint64_t) override {}
  void launch_began(std::uint32_t, std::uint32_t, const KernelModel&, std::uint64_t) override {}
  void launch_ended(std::uint32_t, std::uint32_t, std::uint64_t) override {}
  void run_ended(std::uint32_t, std::uint64_t, std::uint64_t) override {}
};

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

TEST(LoadApp, AKernelOfAnApplicationIsOneLaunch) {
  const auto one = load_app("histo/main", source_path("configs/apps"));
  ASSERT_TRUE(one.ok()) << one.error().to_string();
  ASSERT_EQ(one->steps.size(), 2U);
  EXPECT_EQ(one->kernels[one->steps[0].amount].name, "main");
  const auto none = load_app("histo/mian", source_path("configs/apps"));
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().what, "application 'histo' has no kernel 'mian' (did you mean 'main'?)");
}

// ComputePhiMag has 4 blocks and takes 4.7 us; ComputeQ takes longer than a millisecond as it is.
TEST(LoadApp, AShortKernelIsLengthenedByMoreBlocks) {
  const auto lengthened = load_app("mri-q/ComputePhiMag@1ms", source_path("configs/apps"));
  ASSERT_TRUE(lengthened.ok()) << lengthened.error().to_string();
  EXPECT_EQ(lengthened->kernels[0].blocks, 851U);
  EXPECT_EQ(lengthened->kernels[0].kernel_time, Picoseconds{1'000'000'000});
  EXPECT_EQ(load_app("mri-q/ComputeQ@1ms", source_path("configs/apps"))->kernels[0].blocks, 1024U);
  EXPECT_EQ(load_app("mri-q/ComputeQ@1", source_path("configs/apps")).error().what,
            "a time such as 1ms expected after '@', not '1'");
}

// Sizes that do not fit the machine's 64-bit counters are refused, not taken modulo 2^64.
TEST(LoadApp, SizesBeyondTheMachinesCountersAreRefused) {
  const auto error = [](const std::string& kernel, const std::string& step = "launch: k") {
    const SystemConfig c = small_system();
    const auto parsed = parse_app("name: a\nkernels:\n  k: {" + kernel + "}\ntrace:\n- " + step + "\n", "a.yaml");
    if (!parsed) return parsed.error().to_string();
    const auto bound = bind_app(*parsed, c.machine.limits, c.machine.clock, {});
    return bound ? "accepted" : bound.error().to_string();
  };
  EXPECT_EQ(error("blocks: 1, threads: 32, block_time: 1000 s"), "accepted");
  EXPECT_EQ(error("blocks: 1, threads: 32, block_time: 1000000 s"),
            "application 'a': kernel 'k': a block takes 1e+15 cycles, at most 1e+13 can be simulated");
  EXPECT_EQ(error("blocks: 1, threads: 4294967295, block_time: 1 us"),
            "application 'a': kernel 'k': a block needs 4294967295 threads, an SM has 2048");
  EXPECT_EQ(error("blocks: 1, threads: 32, block_time: 1 us, instructions: 18446744073709551615"),
            "application 'a': kernel 'k': a block has 18446744073709551615 instructions, at most 1000000000000000 can "
            "be simulated");
  EXPECT_EQ(error("blocks: 1, threads: 32, block_time: 1 us", "copy_to_device: 18446744073709551615 B"),
            "a.yaml:5: a copy has at most 1125899906842624 bytes, not 18446744073709551615");
}

// The time of a large launch is found without a simulation of all its blocks.
TEST(LoadApp, ALargeGridIsPlacedAtOnce) {
  const DurationShape shape = DurationShape::uniform(0.3);
  EXPECT_NEAR(makespan(4'000'000'000U, 208, shape, 1), 4e9 / 208, 4e9 / 208 * 1e-3);
  EXPECT_EQ(makespan(4'294'967'295U, 208, DurationShape(), 1), 20'648'882);
}

TEST(LoadApp, MistakesNameTheirPlace) {
  const auto error = [](const std::string& text) {
    const auto parsed = parse_app(text, "a.yaml");
    return parsed.ok() ? std::string() : parsed.error().to_string();
  };
  const std::string head = "name: a\nkernels:\n  scan: {blocks: 4, threads: 32, block_time: 1 us}\ntrace:\n";
  EXPECT_EQ(error(head + "- launch: scam\n"), "a.yaml:5: unknown kernel 'scam' (did you mean 'scan'?)");
  EXPECT_NE(error(head + "- cpu: 5\n").find("a.yaml:5"), std::string::npos);
  EXPECT_NE(error(head + "- {cpu: 5 us, copy_to_host: 4 KB}\n").find("a step is one of"), std::string::npos);
  EXPECT_NE(error("name: a\nkernels:\n  k: {blocks: 4, treads: 32, block_time: 1 us}\ntrace: []\n")
                .find("did you mean 'threads'"),
            std::string::npos);
  EXPECT_NE(error("name: a\nkernels:\n  k: {blocks: 4, threads: 32}\ntrace: []\n")
                .find("needs either 'time' or 'block_time'"),
            std::string::npos);
}

TEST(LoadApp, NumbersThatAreNotFiniteAreRefused) {
  const auto error = [](const std::string& setting) {
    const auto parsed = parse_app(
        "name: a\nkernels:\n  k: {blocks: 4, threads: 32, block_time: 1 us, " + setting + "}\ntrace:\n- launch: k\n",
        "a.yaml");
    return parsed.ok() ? "accepted" : parsed.error().to_string();
  };
  EXPECT_EQ(error("variation: nan"), "a.yaml:3: 'variation' in kernel 'k' must be a number, not 'nan'");
  EXPECT_EQ(error("saturation: inf"), "a.yaml:3: 'saturation' in kernel 'k' must be a number, not 'inf'");
  EXPECT_EQ(error("durations: [1, nan]"), "a.yaml:3: item 2 of 'durations' in kernel 'k' must be a number, not 'nan'");
  EXPECT_EQ(error("lognormal_variation: 1e200"), "a.yaml:3: kernel 'k': 'lognormal_variation' must be from 0 to 100");
  EXPECT_EQ(error("lognormal_variation: 100"), "accepted");
}

}  // namespace
}  // namespace wm::sim
