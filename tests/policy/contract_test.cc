#include "policy/contract_suite.h"

namespace wm::policy::test {
namespace {

class FakeRig final : public Rig {
 public:
  explicit FakeRig(std::uint32_t sms) : gpu_({.sms = sms, .sm_ipc = 128}) {}
  void start(const std::string& policy) override { gpu_.start(policy); }
  void arrive(const std::vector<FakeKernel>& kernels) override { gpu_.arrive_together(kernels); }
  void run(Cycles length, const std::function<void(const Machine&)>& check) override {
    gpu_.after_each_step([&check](const FakeMachine& gpu) { check(gpu); });
    gpu_.run(length);
    gpu_.after_each_step({});
  }
  [[nodiscard]] const Machine& machine() const override { return gpu_; }
  [[nodiscard]] std::uint64_t blocks_done(KernelId kernel) const override { return gpu_.blocks_done(kernel); }
  [[nodiscard]] std::string log() const override { return gpu_.recorder().everything(); }
  [[nodiscard]] std::size_t happened() const override { return gpu_.recorder().lines(); }

 private:
  FakeMachine gpu_;
};

std::unique_ptr<Rig> make_fake_rig(std::uint32_t sms) { return std::make_unique<FakeRig>(sms); }

INSTANTIATE_TEST_SUITE_P(Fake, PolicyContract, every_policy_on(&make_fake_rig), contract_name);
INSTANTIATE_TEST_SUITE_P(Fake, PreemptionContract, preempting_policies_on(&make_fake_rig), contract_name);

}  // namespace
}  // namespace wm::policy::test
