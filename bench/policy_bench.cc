// The time of a policy's decisions: the end of an epoch, and the events of a busy moment, on 16, 56 and 132 SMs with
// four kernels.
//
// The policy is brought to work on the fake machine first; then its events are told again and again on a machine that
// stands still, so that only the policy is measured.
#include <benchmark/benchmark.h>

#include "policy/fake_machine.h"

namespace {

using namespace wm;          // NOLINT(google-build-using-namespace)
using namespace wm::policy;  // NOLINT(google-build-using-namespace)

// Shows another machine's views and does nothing.
class Still final : public Machine {
 public:
  explicit Still(Machine& shown) : shown_(shown) {}
  [[nodiscard]] Cans cans() const override { return shown_.cans(); }
  [[nodiscard]] Cycles now() const override { return shown_.now(); }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return shown_.limits(); }
  [[nodiscard]] std::span<const Sm> sms() const override { return shown_.sms(); }
  [[nodiscard]] std::span<const Kernel> kernels() const override { return shown_.kernels(); }
  [[nodiscard]] std::span<const ResidentKernel> residents(SmId sm) const override { return shown_.residents(sm); }
  [[nodiscard]] Cycles epoch_began() const override { return shown_.epoch_began(); }
  Random& random() override { return shown_.random(); }
  void give(SmId, KernelId, Preempt) override { ++actions_; }
  void share(SmId) override { ++actions_; }
  void cap(SmId, KernelId, std::uint32_t) override { ++actions_; }
  void preempt(SmId, KernelId, std::uint32_t) override { ++actions_; }
  void set_quota(SmId, KernelId, std::int64_t) override { ++actions_; }
  void add_quota(SmId, KernelId, std::int64_t) override { ++actions_; }
  void gate(SmId) override { ++actions_; }
  void order(std::span<const KernelId>) override { ++actions_; }
  void set_epoch(Cycles) override { ++actions_; }
  void wake_at(Cycles, std::uint64_t) override { ++actions_; }

 private:
  Machine& shown_;
  std::uint64_t actions_ = 0;
};

std::unique_ptr<test::FakeMachine> at_work(const std::string& policy, std::uint32_t sms) {
  auto gpu = std::make_unique<test::FakeMachine>(test::FakeSpec{.sms = sms, .sm_ipc = 128});
  gpu->start(policy);
  const double rate = 40.0 * sms;
  gpu->arrive_together(
      {{.name = "a", .blocks = 100'000'000, .ipc = {40, 70}, .goal = rate / 4, .isolated_ipc = rate},
       {.name = "b", .blocks = 100'000'000, .ipc = {30, 50}, .goal = rate / 8, .isolated_ipc = rate},
       {.name = "c", .blocks = 100'000'000, .ipc = {60}, .isolated_ipc = rate, .idle_warps = 4},
       {.name = "d", .blocks = 100'000'000, .ipc = {20, 30}, .isolated_ipc = rate, .memory_stalls = 0.5}});
  gpu->run({64'900});  // between two epochs
  return gpu;
}

void epoch(benchmark::State& state, const std::string& policy) {
  const auto gpu = at_work(policy, static_cast<std::uint32_t>(state.range(0)));
  Still still(*gpu);
  for (auto _ : state) gpu->policy().on(Epoch{{10'000}}, still);
}

void events(benchmark::State& state, const std::string& policy) {
  const auto gpu = at_work(policy, static_cast<std::uint32_t>(state.range(0)));
  Still still(*gpu);
  for (auto _ : state) {
    gpu->policy().on(KernelSetChanged{}, still);
    gpu->policy().on(SmIdle{{0}}, still);
    gpu->policy().on(SmReady{{0}, {0}}, still);
    gpu->policy().on(QuotaSpent{{0}, {2}}, still);
    gpu->policy().on(BlockDone{{0}, {1}}, still);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const std::string& label, const std::string& policy,
                      void (*body)(benchmark::State&, const std::string&)) {
    benchmark::RegisterBenchmark(label.c_str(), [policy, body](benchmark::State& s) { body(s, policy); })
        ->Arg(16)
        ->Arg(56)
        ->Arg(132);
  };
  for (const Entry& e : entries()) {
    const std::string name(e.info.name);
    add("epoch/" + name, name, &epoch);
    add("events/" + name, name, &events);
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
