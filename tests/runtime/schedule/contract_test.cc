// The contract suite on the device Machine: every policy that a device can serve keeps what it promises there.
//
// The device is a model of workers: each runs one group after the other and, between two groups, leaves where its
// kernel has more workers than it may have.
#include "policy/contract_suite.h"
#include "policy/recorded_policy.h"
#include "runtime/schedule/device_machine.h"
#include "runtime/schedule/sm_rig.h"

namespace wm::policy::test {
namespace {

class DeviceRig final : public Rig {
 public:
  // A device with the resources of the fake's SMs together.
  explicit DeviceRig(std::uint32_t sms) : machine_(limits(sms), 1) {}

  void start(const std::string& policy) override {
    policy_ = std::make_unique<RecordedPolicy>(machine_, *choose(policy), "device");
    policy_->on(Started{}, machine_);
  }

  void arrive(const std::vector<FakeKernel>& kernels) override {
    for (const FakeKernel& k : kernels) {
      Client client;
      client.spec = k;
      client.stream = clients_.size() + 1;
      client.left = k.launches;
      clients_.push_back(std::move(client));
      launch(clients_.back());
    }
    settle();
  }

  void run(Cycles length, const std::function<void(const Machine&)>& check) override {
    for (const Cycles end = machine_.now() + length; machine_.now() < end;) {
      machine_.set_now(machine_.now() + kStep);
      machine_.fire_due_alarms(*policy_);
      for (std::size_t i = 0; i < clients_.size(); ++i) advance(clients_[i]);
      settle();
      check(machine_);
    }
  }

  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] std::uint64_t blocks_done(KernelId kernel) const override { return clients_[kernel.index].all_done; }
  [[nodiscard]] std::string log() const override { return policy_->record().everything(); }
  [[nodiscard]] std::size_t happened() const override { return policy_->record().lines(); }

 private:
  static constexpr Cycles kStep{100};

  struct Client {
    FakeKernel spec;
    std::uint64_t stream = 0;
    std::uint32_t left = 0;  // launches; 0: again and again
    KernelId id = kNoKernel;
    std::uint32_t taken = 0;  // groups of this launch that a worker has begun
    std::uint32_t done = 0;
    std::uint64_t all_done = 0;   // in all launches
    std::vector<double> workers;  // instructions that its group still has, by worker
  };

  static gpu::SmLimits limits(std::uint32_t sms) {
    gpu::SmLimits one = FakeSpec{}.limits;
    one.total = {one.total.threads * sms, one.total.registers * sms, one.total.shared_bytes * sms,
                 one.total.blocks * sms};
    return one;
  }

  void launch(Client& c) {
    const gpu::Resources footprint = gpu::footprint(c.spec.block, machine_.limits());
    c.id = machine_.arrive({.function = 0,
                            .priority = c.spec.priority,
                            .share = c.spec.share,
                            .footprint = footprint,
                            .groups = c.spec.blocks,
                            .divisible = true,
                            .stream = c.stream});
    c.taken = c.done = 0;
    policy_->on(KernelArrived{c.id}, machine_);
  }

  void advance(Client& c) {
    if (c.id == kNoKernel) return;
    std::uint32_t gone = 0;
    for (std::size_t i = 0; i < c.workers.size();) {
      c.workers[i] -= (c.spec.ipc.empty() ? 20.0 : c.spec.ipc.front()) * static_cast<double>(kStep.count);
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
    if (c.done < c.spec.blocks) return;
    const KernelId ended = c.id;
    machine_.finish(ended);
    policy_->on(KernelDone{ended}, machine_);
    c.id = kNoKernel;
    if (c.left != 1) {
      c.left -= c.left > 0 ? 1 : 0;
      launch(c);
    }
  }

  void settle() {
    policy_->on(KernelSetChanged{}, machine_);
    machine_.dispatch([this](KernelId id, std::uint32_t workers) {
      const auto c = std::find_if(clients_.begin(), clients_.end(), [&](const Client& k) { return k.id == id; });
      for (std::uint32_t n = 0; n < workers && c->taken < c->spec.blocks; ++n) {
        ++c->taken;
        c->workers.push_back(static_cast<double>(c->spec.block_instructions));
      }
    });
  }

  runtime::DeviceMachine machine_;
  std::unique_ptr<RecordedPolicy> policy_;
  std::vector<Client> clients_;  // by the id of their stream, which never ends here
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
