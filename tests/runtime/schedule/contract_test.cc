// The contract suite on the device Machine: every policy that a device can serve keeps what it promises there.
//
// The device is a model of workers: each runs one group after the other and, between two groups, leaves where its
// kernel has more workers than it may have.
#include "runtime/schedule/device_machine.h"
#include "runtime/schedule/sm_rig.h"
#include "runtime/schedule/worker_rig.h"

namespace wm::policy::test {
namespace {

struct DeviceClient : WorkerClient {
  std::uint32_t done = 0;       // groups of this launch
  std::vector<double> workers;  // instructions that its group still has, by worker
};

class DeviceRig final : public WorkerRig<runtime::DeviceMachine, DeviceClient> {
 public:
  // A device with the resources of the fake's SMs together.
  explicit DeviceRig(std::uint32_t sms) : WorkerRig(limits(sms), 1) {}

 private:
  static gpu::SmLimits limits(std::uint32_t sms) {
    gpu::SmLimits one = FakeSpec{}.limits;
    one.total = {one.total.threads * sms, one.total.registers * sms, one.total.shared_bytes * sms,
                 one.total.blocks * sms};
    return one;
  }

  void prepare(DeviceClient& c) override { c.done = 0; }

  void step() override {
    machine_.fire_due_alarms(*policy_);
    for (DeviceClient& c : clients_) advance(c);
  }

  void advance(DeviceClient& c) {
    if (c.id == kNoKernel) return;
    std::uint32_t gone = 0;
    for (std::size_t i = 0; i < c.workers.size();) {
      c.workers[i] -= instructions_per_step(c);
      if (c.workers[i] > 0) {
        ++i;
        continue;
      }
      ++c.done;
      ++c.all_done;
      const bool stays = c.workers.size() <= machine_.allowed(c.id) && c.taken < c.spec.blocks;
      if (stays) {
        ++c.taken;
        c.workers[i++] = static_cast<double>(c.spec.block_instructions);
      } else {
        c.workers.erase(c.workers.begin() + static_cast<std::ptrdiff_t>(i));
        ++gone;
      }
    }
    machine_.left(c.id, gone, c.done);
    if (c.done >= c.spec.blocks) finish(c);
  }

  void settle() override {
    policy_->on(KernelSetChanged{}, machine_);
    machine_.dispatch([this](KernelId id, std::uint32_t workers) {
      DeviceClient& c = client_of(id);
      for (std::uint32_t n = 0; n < workers && c.taken < c.spec.blocks; ++n) {
        ++c.taken;
        c.workers.push_back(static_cast<double>(c.spec.block_instructions));
      }
    });
  }
};

std::unique_ptr<Rig> make_device_rig(std::uint32_t sms) { return std::make_unique<DeviceRig>(sms); }

INSTANTIATE_TEST_SUITE_P(Device, PolicyContract,
                         every_policy_on(&make_device_rig, runtime::DeviceMachine::capabilities()), contract_name);

INSTANTIATE_TEST_SUITE_P(RealSms, PolicyContract, every_policy_on(&make_sm_rig, runtime::SmMachine::capabilities()),
                         contract_name);

// Workers leave between two groups: preemption by draining. A device without SM numbers has no mechanism to preempt.
INSTANTIATE_TEST_SUITE_P(RealSms, PreemptionContract,
                         preempting_policies_on(&make_sm_rig, runtime::SmMachine::capabilities()), contract_name);

}  // namespace
}  // namespace wm::policy::test
