// A GPU with real SMs for the contract suite, as a model of workers: each runs one group after the other on its SM and,
// between two groups, leaves where the SM has more workers of its kernel than it may have, and waits where the SM has
// begun as many groups as it may.
#pragma once

#include <algorithm>
#include <numeric>

#include "runtime/schedule/sm_machine.h"
#include "runtime/schedule/worker_rig.h"

namespace wm::policy::test {

struct SmClient : WorkerClient {
  std::vector<std::uint32_t> done, begun;    // groups of all launches, and those that began under a quota, by SM
  std::uint32_t done_before = 0;             // groups of earlier launches
  std::vector<std::vector<double>> workers;  // instructions that its group still has, by SM and worker
  std::uint32_t submitted = 0;               // workers that the driver has not placed yet
};

class SmRig final : public WorkerRig<runtime::SmMachine, SmClient> {
 public:
  explicit SmRig(std::uint32_t sms) : WorkerRig(FakeSpec{}.limits, sms, 1) {}

 private:
  static constexpr double kHeld = -1;  // a worker that waits for quota

  // Groups differ a little, so that they do not all end at once.
  double next_group(SmClient& c, std::size_t sm) {
    if (const std::uint32_t quota = machine_.quotas(c.id)[sm]; quota != 0) {
      if (c.begun[sm] + 1 >= quota) return kHeld;
      ++c.begun[sm];
    }
    return static_cast<double>(c.spec.block_instructions) * (1 + 0.02 * (c.taken++ % 7));
  }

  void prepare(SmClient& c) override {
    c.done.resize(machine_.sms().size(), 0);
    c.begun.resize(machine_.sms().size(), 0);
    c.done_before = std::accumulate(c.done.begin(), c.done.end(), 0U);
    c.workers.assign(machine_.sms().size(), {});
    c.submitted = 0;
  }

  void step() override {
    for (SmClient& c : clients_) advance(c);
    for (SmClient& c : clients_) place(c);
    machine_.fire_due_alarms(*policy_);
  }

  void advance(SmClient& c) {
    if (c.id == kNoKernel) return;
    std::vector<std::uint32_t> workers;
    for (std::size_t sm = 0; sm < c.workers.size(); ++sm) {
      advance(c, sm);
      workers.push_back(static_cast<std::uint32_t>(c.workers[sm].size()));
    }
    machine_.observe(c.id, {workers, c.done, c.begun});
    if (std::accumulate(c.done.begin(), c.done.end(), 0U) - c.done_before >= c.spec.blocks) finish(c);
  }

  void advance(SmClient& c, std::size_t sm) {
    auto& on = c.workers[sm];
    for (std::size_t i = 0; i < on.size();) {
      const bool held = on[i] == kHeld;
      if (!held && (on[i] -= instructions_per_step(c)) > 0) {
        ++i;
        continue;
      }
      c.done[sm] += held ? 0 : 1;
      c.all_done += held ? 0 : 1;
      if (on.size() <= machine_.worker_limits(c.id)[sm] && c.taken < c.spec.blocks) {
        on[i++] = next_group(c, sm);
      } else {
        on.erase(on.begin() + static_cast<std::ptrdiff_t>(i));
      }
    }
  }

  void settle() override {
    do {
      machine_.deliver_events(*policy_);
      policy_->on(KernelSetChanged{}, machine_);
      machine_.dispatch([this](KernelId id, std::uint32_t workers) {
        SmClient& c = client_of(id);
        c.submitted += workers;
        place(c);
      });
    } while (machine_.has_events());
  }

  // The driver fills SMs one worker at a time, the last SM first, and keeps those for which there is no room. Those
  // that find enough workers of their kernel leave at once.
  void place(SmClient& c) {
    if (c.id == kNoKernel) return;
    for (bool any_placed = true; any_placed && c.submitted != 0;) {
      any_placed = false;
      for (std::size_t sm = c.workers.size(); sm-- != 0 && c.submitted != 0;) {
        if (gpu::fit(machine_.find(c.id)->footprint, room(sm)) == 0) continue;
        --c.submitted;
        any_placed = true;
        if (c.workers[sm].size() < machine_.worker_limits(c.id)[sm] && c.taken < c.spec.blocks) {
          c.workers[sm].push_back(next_group(c, sm));
        }
      }
    }
  }

  [[nodiscard]] gpu::Resources room(std::size_t sm) const {
    gpu::Resources room = machine_.limits().total;
    for (const SmClient& c : clients_) {
      if (c.id == kNoKernel) continue;
      room = gpu::less(room, machine_.find(c.id)->footprint, static_cast<std::uint32_t>(c.workers[sm].size()));
    }
    return room;
  }
};

inline std::unique_ptr<Rig> make_sm_rig(std::uint32_t sms) { return std::make_unique<SmRig>(sms); }

}  // namespace wm::policy::test
