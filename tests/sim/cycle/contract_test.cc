// The contract suite on the cycle machine: every policy drives real kernels on it and keeps its promises.
//
// The suite's kernels are made as PTX: chains of double-precision multiply-adds, which take as long as the fake's
// blocks with a thirtieth of the instructions, some with loads between. Each block counts itself in memory at its end,
// so that a block that is lost, or runs twice, shows.
#include <cstring>
#include <fmt/format.h>

#include "policy/contract_suite.h"
#include "policy/record.h"
#include "policy/recorded_policy.h"
#include "sim/cycle/bench_kernel.h"

namespace wm::policy::test {
namespace {

constexpr std::uint32_t kSlower = 32;         // instructions and rates are those of the fake over this
constexpr std::uint32_t kFresh = 0xa5a5a5a5;  // contents of memory that has not been written

std::string text_of(const FakeKernel& k) {
  const std::uint64_t length = std::max<std::uint64_t>(4, k.block_instructions / kSlower / k.block.threads);
  std::string body = ".reg .f64 %d<4>;\ncvt.rn.f64.u32 %d1, %r1;\nmov.f64 %d2, 0d3FE0000000000000;\n";
  if (k.block.shared_bytes != 0)
    body += fmt::format(".shared .align 4 .b8 s[{}];\nst.shared.u32 [s], %r1;\nbar.sync 0;\n", k.block.shared_bytes);
  // Lines of its own for each warp and load, so that they come from far.
  body +=
      "shr.u32 %r5, %r1, 5;\nmul.wide.u32 %rd2, %r5, 1024;\nand.b64 %rd2, %rd2, 262143;\nadd.s64 %rd2, %rd1, %rd2;\n";
  for (std::uint64_t i = 0; i < length; ++i) {
    body += "fma.rn.f64 %d1, %d1, %d2, %d2;\n";
    if (k.memory_stalls > 0 && i % 4 == 0)
      body += fmt::format(
          "ld.global.u32 %r6, [%rd2+{}];\nand.b32 %r6, %r6, 1;\ncvt.rn.f64.u32 %d3, %r6;\n"
          "add.f64 %d1, %d1, %d3;\n",
          i % 32 / 4 * 128);
  }
  body +=
      "setp.ne.u32 %p1, %r4, 0;\n@%p1 bra END;\nmul.wide.u32 %rd3, %r2, 4;\nadd.s64 %rd4, %rd1, %rd3;\n"
      "red.global.add.u32 [%rd4], 1;\nEND:";
  return sim::kernel_text(body);
}

class CycleRig final : public Rig {
 public:
  explicit CycleRig(std::uint32_t sms) {
    gpu::GpuConfig config = sim::test_gpu("qos16");
    config.sm.count = sms;
    gpu_ = *sim::CycleMachine::make(config, 1, 1);
  }

  void start(const std::string& policy) override {
    policy_ = std::make_unique<RecordedPolicy>(*gpu_, *choose(policy), "cycle");
    gpu_->begin(*policy_, {});
  }

  void arrive(const std::vector<FakeKernel>& kernels) override {
    for (const FakeKernel& k : kernels) {
      auto application = std::make_shared<gpu::Application>();
      const gpu::BufferId data = application->add_uninitialized("data", 4UL * k.blocks + 1048576);
      application->launch({.kernel = "k",
                           .grid = {k.blocks},
                           .block = {k.block.threads},
                           .arguments = {gpu::buffer(data)},
                           .dynamic_shared_bytes = 0});
      sim::ClientSpec spec;
      spec.name = k.name;
      spec.module = std::make_shared<ptx::Module>(*ptx::parse(text_of(k), "k.ptx"));
      spec.application = application;
      spec.launches = k.launches;
      spec.arrive = gpu_->now();
      spec.priority = k.priority;
      spec.share = k.share;
      spec.goal = k.goal / kSlower;
      spec.isolated_ipc = k.isolated_ipc / kSlower;
      const auto added = gpu_->add(spec);
      ASSERT_TRUE(added.ok()) << added.error().to_string();
    }
    step({});
  }

  void run(Cycles length, const std::function<void(const Machine&)>& check) override {
    const sim::RunLimits limits{.cycles = gpu_->now().count + length.count, .instructions = {}};
    while (gpu_->now().count < limits.cycles && step(limits)) check(*gpu_);
  }

  [[nodiscard]] const Machine& machine() const override { return *gpu_; }

  // As counted by the blocks themselves.
  [[nodiscard]] std::uint64_t blocks_done(KernelId kernel) const override {
    const auto buffers = gpu_->client(kernel.index).buffers();
    const std::uint64_t blocks = gpu_->client(kernel.index).current().grid.blocks.count();
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < blocks; ++i) {
      std::uint32_t count = 0;
      std::memcpy(&count, (*buffers)[0].data() + 4 * i, 4);
      EXPECT_LE(count - kFresh, gpu_->totals(kernel.index).launches + 1) << "block " << i << " ran too often";
      sum += count - kFresh;
    }
    return sum;
  }
  [[nodiscard]] std::string log() const override { return policy_->record().everything(); }
  [[nodiscard]] std::size_t happened() const override { return policy_->record().lines(); }

 private:
  bool step(const sim::RunLimits& limits) {
    const auto on = gpu_->step(*policy_, limits);
    EXPECT_TRUE(on.ok()) << (on.ok() ? "" : on.error().to_string());
    return on.ok() && *on;
  }

  std::unique_ptr<sim::CycleMachine> gpu_;
  std::unique_ptr<RecordedPolicy> policy_;
};

std::unique_ptr<Rig> make_cycle_rig(std::uint32_t sms) { return std::make_unique<CycleRig>(sms); }

INSTANTIATE_TEST_SUITE_P(Cycle, PolicyContract, every_policy_on(&make_cycle_rig), contract_name);
INSTANTIATE_TEST_SUITE_P(Cycle, PreemptionContract, preempting_policies_on(&make_cycle_rig), contract_name);

}  // namespace
}  // namespace wm::policy::test
