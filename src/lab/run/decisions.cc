#include "lab/run/decisions.h"

#include <chrono>

#include "policy/policy.h"

namespace wm::lab {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Forwards every event to the policy and measures the time.
class Timed final : public policy::Policy {
 public:
  Timed(policy::Policy& inner, DecisionCost& cost) : inner_(inner), cost_(cost) {}
  void on(const policy::Started& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::KernelArrived& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::KernelDone& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::KernelSetChanged& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::BlockDone& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::SmIdle& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::SmReady& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::Preempted& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::QuotaSpent& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::Wake& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::Epoch& e, policy::Machine& gpu) override {
    const double before = cost_.policy_seconds;
    tell(e, gpu);
    cost_.epoch_seconds += cost_.policy_seconds - before;
    ++cost_.epochs;
  }

 private:
  template <typename Event>
  void tell(const Event& event, policy::Machine& gpu) {
    const Clock::time_point start = Clock::now();
    inner_.on(event, gpu);
    cost_.policy_seconds += since(start);
    ++cost_.events;
  }

  policy::Policy& inner_;
  DecisionCost& cost_;
};

}  // namespace

Result<DecisionCost> measure_decisions(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                                       const policy::Choice& policy, std::uint64_t cycles) {
  auto machine = sim::CycleMachine::make(gpu, 1, 1);
  if (!machine) return machine.error();
  for (const Participant& p : participants) {
    const double goal = p.goal_ipc.value_or(0);
    if (auto r = (*machine)->add(client_spec(p, goal, 4 * goal)); !r) return r.error();
  }
  auto made = policy::make(policy, (*machine)->cans(), "cycle");
  if (!made) return made.error();
  DecisionCost cost;
  Timed timed(**made, cost);
  const Clock::time_point start = Clock::now();
  if (auto r = (*machine)->run(timed, {.cycles = cycles, .instructions = {}}); !r) return r.error();
  cost.run_seconds = since(start);
  return cost;
}

}  // namespace wm::lab
