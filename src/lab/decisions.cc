#include "lab/decisions.h"

#include <algorithm>
#include <ctime>

#include "policy/policy.h"

namespace wm::lab {
namespace {

// Of this thread's processor, so that what else runs on the host does not count.
double busy() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// What reading the clock adds to an event: it asks the system.
double reading() {
  constexpr int kTimes = 2000;
  double all = 0;
  for (int i = 0; i < kTimes; ++i) {
    const double start = busy();
    all += busy() - start;
  }
  return all / kTimes;
}

// Hands every event on and takes the time.
class Timed final : public policy::Policy {
 public:
  Timed(policy::Policy& inner, DecisionCost& cost) : inner_(inner), cost_(cost), reading_(reading()) {}
  void on(const policy::Started& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::KernelArrived& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::KernelDone& e, policy::Machine& gpu) override { tell(e, gpu); }
  void on(const policy::Regrouped& e, policy::Machine& gpu) override { tell(e, gpu); }
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
    const double start = busy();
    inner_.on(event, gpu);
    cost_.policy_seconds += std::max(0.0, busy() - start - reading_);
    ++cost_.events;
  }

  policy::Policy& inner_;
  DecisionCost& cost_;
  double reading_;
};

}  // namespace

Result<DecisionCost> measure_decisions(const gpu::GpuConfig& gpu, const std::vector<Participant>& participants,
                                       const policy::Choice& policy, std::uint64_t cycles) {
  auto machine = sim::CycleMachine::make(gpu, 1, 1);
  if (!machine) return machine.error();
  for (const Participant& p : participants) {
    const double goal = p.goal_ipc.value_or(0);
    if (auto r = (*machine)->add(spec_of(p, goal, 4 * goal)); !r) return r.error();
  }
  auto made = policy::make(policy, (*machine)->cans(), "cycle");
  if (!made) return made.error();
  DecisionCost cost;
  Timed timed(**made, cost);
  const double start = busy();
  if (auto r = (*machine)->run(timed, {.cycles = cycles, .instructions = {}}); !r) return r.error();
  cost.run_seconds = busy() - start;
  return cost;
}

}  // namespace wm::lab
