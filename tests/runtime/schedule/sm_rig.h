// A GPU with real SMs for the contract suite, as a model of workers: each runs one group after the other on its SM and,
// between two groups, leaves where the SM has more workers of its kernel than it may have.
#pragma once

#include <algorithm>
#include <numeric>

#include "policy/contract_suite.h"
#include "policy/recorded_policy.h"
#include "runtime/schedule/sm_machine.h"

namespace wm::policy::test {
class SmRig final : public Rig {
 public:
  explicit SmRig(std::uint32_t sms) : machine_(FakeSpec{}.limits, sms, 1) {}

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
      for (Client& c : clients_) advance(c);
      machine_.fire_due_alarms(*policy_);
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
  using PerSm = std::vector<std::uint32_t>;
  struct Client {
    FakeKernel spec;
    std::uint64_t stream = 0;
    std::uint32_t left = 0;  // launches; 0: again and again
    KernelId id = kNoKernel;
    std::uint32_t taken = 0;  // groups of this launch that a worker has begun
    std::uint64_t all_done = 0;
    PerSm done;
    std::vector<std::vector<double>> workers;  // instructions that its group still has, by SM and worker
  };

  // Groups differ a little, so that they do not all end at once.
  static double next_group(Client& c) {
    return static_cast<double>(c.spec.block_instructions) * (1 + 0.02 * (c.taken++ % 7));
  }
  void launch(Client& c) {
    c.id = machine_.arrive({.function = 0,
                            .priority = c.spec.priority,
                            .share = c.spec.share,
                            .footprint = gpu::footprint(c.spec.block, machine_.limits()),
                            .groups = c.spec.blocks,
                            .divisible = true,
                            .stream = c.stream});
    c.taken = 0;
    c.done.assign(machine_.sms().size(), 0);
    c.workers.assign(machine_.sms().size(), {});
    policy_->on(KernelArrived{c.id}, machine_);
  }
  void advance(Client& c) {
    if (c.id == kNoKernel) return;
    PerSm workers;
    for (std::size_t sm = 0; sm < c.workers.size(); ++sm) {
      advance(c, sm);
      workers.push_back(static_cast<std::uint32_t>(c.workers[sm].size()));
    }
    machine_.observe(c.id, workers, c.done);
    if (std::accumulate(c.done.begin(), c.done.end(), 0U) < c.spec.blocks) return;
    const KernelId ended = c.id;
    machine_.finish(ended);
    policy_->on(KernelDone{ended}, machine_);
    c.id = kNoKernel;
    if (c.left == 1) return;
    c.left -= c.left > 0 ? 1 : 0;
    launch(c);
  }
  void advance(Client& c, std::size_t sm) {
    auto& on = c.workers[sm];
    for (std::size_t i = 0; i < on.size();) {
      on[i] -= (c.spec.ipc.empty() ? 20.0 : c.spec.ipc.front()) * static_cast<double>(kStep.count);
      if (on[i] > 0) {
        ++i;
        continue;
      }
      ++c.done[sm];
      ++c.all_done;
      if (on.size() <= machine_.worker_limits(c.id)[sm] && c.taken < c.spec.blocks) {
        on[i++] = next_group(c);
      } else {
        on.erase(on.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }
  void settle() {
    do {
      machine_.deliver_events(*policy_);
      policy_->on(KernelSetChanged{}, machine_);
      machine_.dispatch([this](KernelId id, std::uint32_t) {
        const auto c = std::find_if(clients_.begin(), clients_.end(), [&](const Client& k) { return k.id == id; });
        for (std::size_t sm = 0; sm < c->workers.size(); ++sm) {
          while (c->workers[sm].size() < machine_.worker_limits(id)[sm] && c->taken < c->spec.blocks) {
            c->workers[sm].push_back(next_group(*c));
          }
        }
      });
    } while (machine_.has_events());
  }

  runtime::SmMachine machine_;
  std::unique_ptr<RecordedPolicy> policy_;
  std::vector<Client> clients_;
};

inline std::unique_ptr<Rig> make_sm_rig(std::uint32_t sms) { return std::make_unique<SmRig>(sms); }

}  // namespace wm::policy::test
