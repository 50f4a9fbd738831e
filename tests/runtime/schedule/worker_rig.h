// The common part of the models of workers for the contract suite: clients that launch a kernel again and again, a
// recorded policy, and time in steps. The rig of a machine describes how its workers advance.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>

#include "policy/contract_suite.h"
#include "policy/recorded_policy.h"

namespace wm::policy::test {

struct WorkerClient {
  FakeKernel spec;
  std::uint64_t stream = 0;
  std::uint32_t left = 0;  // launches; 0: again and again
  KernelId id = kNoKernel;
  std::uint32_t taken = 0;     // groups of this launch that a worker has begun
  std::uint64_t all_done = 0;  // groups of all launches that have ended
};

// `Client` is a WorkerClient with the workers of its kernel.
template <typename RuntimeMachine, typename Client>
class WorkerRig : public Rig {
 public:
  template <typename... Arguments>
  explicit WorkerRig(Arguments&&... arguments) : machine_(std::forward<Arguments>(arguments)...) {}

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
      step();
      settle();
      check(machine_);
    }
  }

  [[nodiscard]] const Machine& machine() const override { return machine_; }
  [[nodiscard]] std::uint64_t blocks_done(KernelId kernel) const override { return clients_[kernel.index].all_done; }
  [[nodiscard]] std::string log() const override { return policy_->record().everything(); }
  [[nodiscard]] std::size_t happened() const override { return policy_->record().lines(); }

 protected:
  static constexpr Cycles kStep{100};

  // Empties what `client` counts per launch.
  virtual void prepare(Client& client) = 0;
  // Advances all workers by a step and fires the alarms that are due.
  virtual void step() = 0;
  // Delivers events, and starts the workers that the policy wants.
  virtual void settle() = 0;

  // Instructions that a worker of the client's kernel executes in a step.
  static double instructions_per_step(const Client& c) {
    return (c.spec.ipc.empty() ? 20.0 : c.spec.ipc.front()) * static_cast<double>(kStep.count);
  }

  Client& client_of(KernelId id) {
    return *std::find_if(clients_.begin(), clients_.end(), [&](const Client& c) { return c.id == id; });
  }

  // All groups of the client's kernel have ended; it is launched again where launches are left.
  void finish(Client& c) {
    const KernelId ended = std::exchange(c.id, kNoKernel);
    machine_.finish(ended);
    policy_->on(KernelDone{ended}, machine_);
    if (c.left == 1) return;
    c.left -= c.left > 0 ? 1 : 0;
    launch(c);
  }

  RuntimeMachine machine_;
  std::unique_ptr<RecordedPolicy> policy_;
  std::vector<Client> clients_;  // by the id of their stream, which never ends here

 private:
  void launch(Client& c) {
    c.id = machine_.arrive({.function = 0,
                            .priority = c.spec.priority,
                            .share = c.spec.share,
                            .footprint = gpu::footprint(c.spec.block, machine_.limits()),
                            .groups = c.spec.blocks,
                            .divisible = true,
                            .stream = c.stream});
    c.taken = 0;
    prepare(c);
    policy_->on(KernelArrived{c.id}, machine_);
  }
};

}  // namespace wm::policy::test
