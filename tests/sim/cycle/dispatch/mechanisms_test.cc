// The mechanisms a policy has on the cycle machine, each at its edge: quotas to the lane, caps to the block, wake-ups
// to the quantum, context to the byte.
#include <fmt/format.h>
#include <functional>

#include "ptx/analysis.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::sim {
namespace {

using policy::KernelId;
using policy::Machine;
using policy::Sm;

constexpr KernelId kA{0};
constexpr KernelId kB{1};

// A policy written in the test: its action at an alarm, and a record of the events it was told.
class Script final : public policy::Policy {
 public:
  using Act = std::function<void(Machine&)>;
  Script& at(std::uint64_t cycle, Act act) {
    acts_.emplace_back(cycle, std::move(act));
    return *this;
  }
  void on(const policy::Started&, Machine& gpu) override {
    for (std::size_t i = 0; i < acts_.size(); ++i) gpu.wake_at(Cycles{acts_[i].first}, i);
  }
  void on(const policy::Wake& e, Machine& gpu) override { acts_[e.tag].second(gpu); }
  void on(const policy::KernelDone& e, Machine& gpu) override { note(gpu, fmt::format("k{} done", e.kernel.index)); }
  void on(const policy::SmReady& e, Machine& gpu) override { note(gpu, fmt::format("sm {} ready", e.sm.index)); }
  void on(const policy::QuotaSpent& e, Machine& gpu) override { note(gpu, fmt::format("k{} spent", e.kernel.index)); }
  void on(const policy::BlockDone& e, Machine& gpu) override {
    note(gpu, fmt::format("k{} block done on sm {}", e.kernel.index, e.sm.index));
  }
  void on(const policy::Preempted& e, Machine& gpu) override {
    for (std::uint32_t i = 0; i < e.blocks; ++i) note(gpu, fmt::format("k{} preempted", e.kernel.index));
  }

  // When it was told that, each time.
  [[nodiscard]] std::vector<std::uint64_t> times(const std::string& what) const {
    std::vector<std::uint64_t> all;
    for (const auto& [at, text] : told_)
      if (text == what) all.push_back(at);
    return all;
  }

 private:
  void note(const Machine& gpu, std::string what) { told_.emplace_back(gpu.now().count, std::move(what)); }

  std::vector<std::pair<std::uint64_t, Act>> acts_;
  std::vector<std::pair<std::uint64_t, std::string>> told_;
};

// Turns of a loop of multiply-adds without any access to memory; lanes from `lanes` on leave before it.
std::string loop_text(std::uint32_t turns, std::uint32_t lanes = 32, std::uint32_t shared = 0) {
  std::string body = fmt::format("and.b32 %r9, %r4, 31;\nsetp.ge.u32 %p2, %r9, {};\n@%p2 bra END;\n", lanes);
  if (shared != 0) body = fmt::format(".shared .align 4 .b8 s[{}];\nst.shared.u32 [s], %r1;\n", shared) + body;
  body += "mov.u32 %r10, 0;\nmov.u32 %r11, 7;\nL:\n";
  for (int i = 0; i < 8; ++i) body += "mad.lo.u32 %r11, %r11, %r11, %r1;\n";
  body += fmt::format("add.s32 %r10, %r10, 1;\nsetp.lt.u32 %p1, %r10, {};\n@%p1 bra L;\nEND:", turns);
  return kernel_text(body);
}

class Mechanisms : public ::testing::Test {
 protected:
  explicit Mechanisms(std::uint32_t sms = 1) {
    config_ = test_gpu("qos16");
    config_.sm.count = sms;
    gpu_ = *CycleMachine::make(config_, 1, 1);
  }

  void add(const std::string& text, std::uint32_t blocks, std::uint32_t threads) {
    auto application = std::make_shared<gpu::Application>();
    const gpu::BufferId data = application->add_uninitialized("data", 4096);
    application->launch({.kernel = "k",
                         .grid = {blocks},
                         .block = {threads},
                         .arguments = {gpu::buffer(data)},
                         .dynamic_shared_bytes = 0});
    ClientSpec spec;
    spec.name = "k";
    spec.module = std::make_shared<ptx::Module>(*ptx::parse(text, "k.ptx"));
    spec.application = application;
    ASSERT_TRUE(gpu_->add(spec).ok());
  }

  // Steps to the end, or to `cycles`; `look` sees the machine after each quantum.
  void run(
      Script& script, std::uint64_t cycles, const std::function<void()>& look = [] {}) {
    const RunLimits limits{.cycles = cycles, .instructions = instruction_limits_};
    gpu_->begin(script, limits);
    for (bool on = true; on; look()) {
      const auto r = gpu_->step(script, limits);
      ASSERT_TRUE(r.ok()) << r.error().to_string();
      on = *r;
    }
  }
  [[nodiscard]] std::uint32_t resident(KernelId k, std::uint32_t sm = 0) const {
    return gpu_->residents({sm})[k.index].resident;
  }
  [[nodiscard]] std::uint64_t executed(std::uint32_t client = 0) const {
    return gpu_->totals(client).sm.thread_instructions;
  }

  static constexpr std::uint64_t kQuantum =
      36;  // the quantum of qos16 while a client waits for an end: one way over the interconnect
  gpu::GpuConfig config_;
  std::unique_ptr<CycleMachine> gpu_;
  std::vector<std::uint64_t> instruction_limits_;
};

class OneSm : public Mechanisms {};
class TwoSms : public Mechanisms {
 protected:
  TwoSms() : Mechanisms(2) {}
};

TEST_F(OneSm, AQuotaEndsAfterThatManyLanes) {
  const std::uint32_t in_flight = 1 + config_.sm.units[static_cast<std::size_t>(gpu::Unit::integer)].latency;
  for (const std::uint32_t lanes : {32U, 16U, 1U}) {
    gpu_ = *CycleMachine::make(config_, 1, 1);
    add(loop_text(100'000, lanes), 1, 32);
    Script script;
    script.at(0, [](Machine& gpu) { gpu.set_quota({0}, kA, 1000); });
    run(script, 20'000);
    EXPECT_GE(executed(), 1000U) << lanes;
    EXPECT_LE(executed(), 1000U + lanes * in_flight) << lanes;
    EXPECT_EQ(gpu_->residents({0})[0].quota, 1000 - static_cast<std::int64_t>(executed()));
    EXPECT_GE(gpu_->totals(0).sm.warp_instructions, 700U / lanes) << "lanes are counted, not warps";
    EXPECT_EQ(script.times("k0 spent").size(), 1U);
  }
}

// ISCA 2017, section 3.4.1: "When a warp instruction of k is completed, C_k is decremented".
TEST_F(OneSm, AQuotaCountsInstructionsWhenTheyComplete) {
  constexpr std::uint32_t kThreads = 256;
  const std::string address = "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\n";
  const std::string loads = "ld.global.u32 %r10, [%rd3];\nld.global.u32 %r11, [%rd3+1024];\n";
  Script none;
  add(kernel_text(address), 1, kThreads);
  run(none, 20'000);
  const std::uint64_t before = executed() - kThreads;  // without the end of the kernel
  gpu_ = *CycleMachine::make(config_, 1, 1);
  add(kernel_text(address + loads + "add.s32 %r12, %r10, %r11;\nst.global.u32 [%rd3], %r12;"), 1, kThreads);
  Script script;
  script.at(0, [&](Machine& gpu) { gpu.set_quota({0}, kA, static_cast<std::int64_t>(before) + 32); });
  run(script, 20'000);
  EXPECT_EQ(executed(), before + 2 * kThreads) << "all loads were issued before the first one had its value";
  EXPECT_EQ(gpu_->residents({0})[0].quota, 32 - 2 * std::int64_t{kThreads});
  EXPECT_EQ(script.times("k0 spent").size(), 1U);
}

TEST_F(OneSm, MoreQuotaWakesAKernelThatWasHeldBack) {
  add(loop_text(100'000), 1, 32);
  Script script;
  script.at(0, [](Machine& gpu) { gpu.set_quota({0}, kA, 1000); });
  script.at(10'000, [](Machine& gpu) { gpu.add_quota({0}, kA, 3200); });
  run(script, 60'000);
  EXPECT_GE(executed(), 4200U);
  EXPECT_LT(executed(), 4200U + 256) << "what it overdrew counts";
  ASSERT_EQ(script.times("k0 spent").size(), 2U);
  EXPECT_LT(script.times("k0 spent")[0], 10'000U);
  EXPECT_GT(script.times("k0 spent")[1], 10'000U);
}

TEST_F(OneSm, AQuotaHoldsBackItsKernelOnly) {
  add(loop_text(100'000), 1, 32);
  add(loop_text(100), 1, 32);
  Script script;
  script.at(0, [](Machine& gpu) { gpu.set_quota({0}, kA, 0); });
  run(script, 60'000);
  EXPECT_EQ(executed(0), 0U);
  EXPECT_TRUE(gpu_->totals(1).finished);
}

TEST_F(OneSm, ACapIsReachedAndNeverPassed) {
  add(loop_text(50), 20, 64);
  Script script;
  script.at(0, [](Machine& gpu) { gpu.cap({0}, kA, 3); });
  std::uint32_t max_resident = 0;
  run(script, ~std::uint64_t{0}, [&] { max_resident = std::max(max_resident, resident(kA)); });
  EXPECT_EQ(max_resident, 3U);
  EXPECT_EQ(gpu_->totals(0).blocks, 20U);
}

TEST_F(OneSm, BlocksAboveALoweredCapRunToTheirEnd) {
  add(loop_text(200), 12, 64);
  Script script;
  script.at(1000, [](Machine& gpu) { gpu.cap({0}, kA, 1); });
  std::uint32_t before = 0;
  std::uint64_t above = 0;
  run(script, ~std::uint64_t{0}, [&] {
    if (gpu_->now().count <= 1000) before = resident(kA);
    if (gpu_->now().count > 1000 && resident(kA) > 1) ++above;
  });
  EXPECT_EQ(before, 12U) << "all of them fit";
  EXPECT_GT(above, 0U) << "none was thrown out";
  EXPECT_EQ(gpu_->totals(0).preemptions, 0U);
}

TEST_F(OneSm, AGatedSmWakesAfterItsLatency) {
  add(loop_text(10), 1, 32);
  Script script;
  script.at(0, [](Machine& gpu) { gpu.gate({0}); });
  script.at(20'000, [](Machine& gpu) { gpu.share({0}); });
  std::uint64_t started = 0;
  run(script, ~std::uint64_t{0}, [&] {
    if (started == 0 && resident(kA) != 0) started = gpu_->now().count;
  });
  // The alarm comes at the end of its quantum, and blocks start at the end of the one in which the SM is awake.
  const std::uint64_t wake = config_.power.wake_cycles;
  ASSERT_EQ(script.times("sm 0 ready").size(), 1U);
  EXPECT_GE(script.times("sm 0 ready")[0], 20'000 + wake);
  EXPECT_LE(script.times("sm 0 ready")[0], 20'000 + wake + 2 * kQuantum);
  EXPECT_GT(started, 20'000 + wake);
  EXPECT_GE(gpu_->gated_cycles(), 20'000U);
  EXPECT_LE(gpu_->gated_cycles(), 20'000U + kQuantum);
}

TEST_F(TwoSms, ADrainedSmChangesHandsWhenItsLastBlockEnds) {
  add(loop_text(300), 64, 64);
  add(loop_text(300), 64, 64);
  Script script;
  script.at(0, [](Machine& gpu) {
    gpu.give({0}, kA, policy::Preempt::drain);
    gpu.give({1}, kA, policy::Preempt::drain);
  });
  script.at(2000, [](Machine& gpu) { gpu.give({1}, kB, policy::Preempt::drain); });
  std::uint32_t max_resident = 0;
  bool together = false;
  run(script, ~std::uint64_t{0}, [&] {
    if (gpu_->now().count < 2000) return;
    if (script.times("sm 1 ready").empty()) {
      EXPECT_TRUE(max_resident == 0 || resident(kA, 1) <= max_resident) << "a block started on an SM that is reserved";
      max_resident = resident(kA, 1);
    }
    together |= resident(kA, 1) != 0 && resident(kB, 1) != 0;
  });
  EXPECT_FALSE(together);
  EXPECT_EQ(script.times("sm 1 ready").size(), 1U);
  EXPECT_EQ(gpu_->totals(0).preemptions, 0U);
}

// The sectors that a switch of `blocks` blocks adds to the traffic of each kernel, in sectors at L2.
TEST_F(TwoSms, AContextGoesToMemoryAndBackAsItsOwnKernelsTraffic) {
  const std::uint32_t threads = 96;
  const std::uint32_t shared = 1000;
  const std::string text = loop_text(400, 32, shared);
  std::array<std::uint64_t, 2> sectors{};
  std::uint64_t others = 0;
  for (const std::uint32_t blocks : {0U, 2U}) {
    gpu_ = *CycleMachine::make(config_, 1, 1);
    add(text, 4, threads);
    add(loop_text(400), 4, 32);
    Script script;
    if (blocks != 0) script.at(1000, [=](Machine& gpu) { gpu.preempt({0}, kA, blocks); });
    run(script, ~std::uint64_t{0});
    EXPECT_EQ(script.times("k0 preempted").size(), blocks);
    EXPECT_EQ(gpu_->totals(0).preemptions, blocks);
    EXPECT_EQ(gpu_->totals(0).blocks, 4U);
    sectors[blocks / 2] = gpu_->totals(0).memory.l2_sectors;
    others += gpu_->totals(1).memory.l2_sectors;
  }
  const ptx::Module module = *ptx::parse(text, "k.ptx");
  const std::uint64_t registers = ptx::register_demand(module, *module.entry("k")).registers;
  const std::uint64_t bytes = threads * registers * 4 + shared + threads / 32 * 128;
  const std::uint64_t lines = (bytes + 127) / 128;
  EXPECT_EQ(sectors[1] - sectors[0], 2 * 2 * lines * 4) << "two blocks, out and in, lines of four sectors";
  EXPECT_EQ(others, 0U);
}

TEST_F(TwoSms, AKernelAtItsInstructionLimitLeavesItsSmsToOthers) {
  add(loop_text(100'000), 64, 64);
  add(loop_text(300), 64, 64);
  instruction_limits_ = {200'000, 0};
  Script script;
  script.at(0, [](Machine& gpu) {
    for (const Sm& sm : gpu.sms()) gpu.give(sm.id, kA, policy::Preempt::drain);
  });
  run(script, 10'000);
  ASSERT_EQ(script.times("k0 done").size(), 1U);
  EXPECT_GE(executed(0), 200'000U);
  EXPECT_LT(executed(0), 200'000U + 2 * 128 * 2 * kQuantum) << "at most two quanta more";
  EXPECT_FALSE(gpu_->totals(0).finished) << "it was cut off";
  EXPECT_EQ(gpu_->sms()[0].resident, 0U);
  EXPECT_EQ(gpu_->find(kA), nullptr);
}

// Some of these ends come right after a quantum in which a block has followed another one.
TEST_F(TwoSms, AClientThatIsAbandonedAsBlocksFollowOthersLeavesTheMachine) {
  for (int steps = 1; steps < 100; ++steps) {
    gpu_ = *CycleMachine::make(config_, 1, 1);
    add(loop_text(20), 4000, 128);
    Script script;
    int left = steps;
    run(script, 100'000, [&] {
      if (--left == 0) gpu_->abandon(0);
    });
    ASSERT_EQ(script.times("k0 done").size(), 1U) << steps;
    EXPECT_LT(script.times("k0 done")[0], 50'000U) << steps;
    EXPECT_EQ(gpu_->sms()[0].resident + gpu_->sms()[1].resident, 0U) << steps;
    EXPECT_EQ(gpu_->sms()[0].free.threads, config_.sm.threads) << steps;
  }
}

TEST_F(TwoSms, TheLimitOfASecondClientIsKeptAsExactly) {
  add(loop_text(100'000), 8, 64);
  add(loop_text(100'000), 8, 64);
  instruction_limits_ = {0, 200'000};
  Script script;
  run(script, 20'000);
  ASSERT_EQ(script.times("k1 done").size(), 1U);
  EXPECT_GE(executed(1), 200'000U);
  EXPECT_LT(executed(1), 200'000U + 128 * 2 * kQuantum) << "at most the shortest quantum more";
}

TEST_F(TwoSms, EveryBlockThatEndsIsToldWithItsSm) {
  add(loop_text(40), 10, 64);
  Script script;
  script.at(0, [](Machine& gpu) { gpu.cap({1}, kA, 1); });
  run(script, ~std::uint64_t{0});
  const std::size_t first = script.times("k0 block done on sm 0").size();
  const std::size_t second = script.times("k0 block done on sm 1").size();
  EXPECT_EQ(first + second, 10U);
  EXPECT_GT(first, second) << "the second SM has one block at a time";
  EXPECT_GE(second, 1U);
}

TEST_F(TwoSms, AnIdleSmIsSwitchedOffAtOnce) {
  add(loop_text(100'000), 1, 32);
  Script script;
  script.at(1000, [](Machine& gpu) { gpu.gate(gpu.sms()[0].resident == 0 ? policy::SmId{0} : policy::SmId{1}); });
  run(script, 10'000);
  EXPECT_GE(gpu_->gated_cycles(), 9000U - 2 * kQuantum);
  EXPECT_LE(gpu_->gated_cycles(), 9000U + 2 * kQuantum);
}

TEST_F(TwoSms, BlocksStartOnAnSmAsSoonAsItIsShared) {
  add(loop_text(100'000), 4, 64);
  add(loop_text(100'000), 1, 64);
  Script script;
  script.at(0, [](Machine& gpu) {
    for (const Sm& sm : gpu.sms()) gpu.give(sm.id, kB, policy::Preempt::drain);
  });
  script.at(5000, [](Machine& gpu) { gpu.share({1}); });
  std::uint64_t started = 0;
  run(script, 12'000, [&] {
    if (started == 0 && resident(kA, 1) != 0 && gpu_->now().count > 5000) started = gpu_->now().count;
  });
  EXPECT_GE(started, 5000U);
  EXPECT_LE(started, 5000U + 4 * kQuantum);
  EXPECT_EQ(resident(kA, 0), 0U) << "the first SM is still the other kernel's";
}

TEST_F(OneSm, AKernelThatIsNeverLetOnEndsTheRunWithAReason) {
  add(loop_text(10), 1, 32);
  Script script;
  script.at(0, [](Machine& gpu) {
    gpu.set_quota({0}, kA, 0);
    gpu.set_epoch(Cycles{10'000});
  });
  const auto ran = gpu_->run(script, {.instructions = {}, .stuck_after = 1'000'000});
  ASSERT_FALSE(ran.ok());
  EXPECT_NE(ran.error().to_string().find("no kernel has executed an instruction"), std::string::npos);
}

}  // namespace
}  // namespace wm::sim
