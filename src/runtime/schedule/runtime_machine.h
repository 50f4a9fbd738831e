// The part of a device's Machine that does not depend on where groups run: the launches that have arrived, their order,
// epochs and wake-ups, and the device time that each launch used.
//
// Time is in nanoseconds. Rates and goals are in instructions per nanosecond. A group counts as so many instructions as
// its arrival says, by default one: a goal of 2 ms for a launch of 100 groups is then a rate of 100 per 2 ms. A machine
// that counts instructions counts groups, in the same unit.
#pragma once

#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "policy/machine.h"
#include "policy/policy.h"
#include "runtime/schedule/undivided_caps.h"

namespace wm::runtime {

class RuntimeMachine : public policy::Machine {
 public:
  // --- called by the runtime
  struct KernelArrival {
    std::uint32_t function = 0;
    int priority = 0;
    double share = 1;
    gpu::Resources footprint;  // needs of a group
    std::uint32_t groups = 0;
    bool divisible = false;           // rewritten: runs as workers
    std::uint64_t stream = 0;         // the client's queue, whose launches have one id for a policy; 0: none
    double goal_nanoseconds = 0;      // time in which the launch should complete; 0: no goal
    double isolated_nanoseconds = 0;  // time that it takes isolated; 0: not known
    std::uint64_t group_instructions = 1;
    std::uint32_t chunk = 1;        // groups that a worker takes at a time
    gpu::Resources undivided = {};  // needs of a group that runs unmodified
  };
  // Adds the time since the latest call to the kernels that occupied the device.
  void set_now(Cycles now);
  // The id of the stream's last launch where that has completed; else a new one, or the one unused for longest.
  policy::KernelId arrive(const KernelArrival& launch);
  // A launch that is on the device already, undivided.
  policy::KernelId arrive_started(const KernelArrival& launch);
  // Reports that `workers` workers have left and `done` groups of the launch are complete.
  virtual void left(policy::KernelId kernel, std::uint32_t workers, std::uint32_t done) = 0;
  void finish(policy::KernelId kernel);
  // For a kernel that cannot be stopped and whose client has gone: policies no longer see it, and its resources stay
  // occupied until it completes.
  virtual void abandon(policy::KernelId kernel) = 0;
  // The number of groups whose resources the kernel occupies.
  [[nodiscard]] virtual std::uint32_t holds(policy::KernelId kernel) const = 0;
  virtual void give_back(const gpu::Resources& footprint, std::uint32_t groups) = 0;
  // Changes the weights of a kernel that has arrived.
  void set_weights(policy::KernelId kernel, int priority, double share);
  // Another policy takes over: caps, owners, order, epochs and wake-ups of the former one do not apply any more.
  virtual void forget_decisions();
  // Called after the policy: `start(kernel, workers)` submits that many workers of a kernel that may start; a launch
  // that cannot be divided is started once, with all its groups. Room for `spare` groups stays free.
  using Start = std::function<void(policy::KernelId, std::uint32_t)>;
  virtual void dispatch(const Start& start, std::uint32_t spare) = 0;
  void dispatch(const Start& start) { dispatch(start, 0); }
  [[nodiscard]] virtual bool full() const = 0;
  // Nanoseconds of device time that the launch has used: time that kernels shared is divided among them, so that all
  // kernels together use at most the time that passes.
  [[nodiscard]] double used(policy::KernelId kernel) const { return extras_[kernel.index].used; }
  // Nanoseconds that the launch would have taken isolated, estimated from the part of the device that it used.
  [[nodiscard]] double isolated_estimate(policy::KernelId kernel) const;
  // The number of workers that the kernel may have now; the others must leave.
  [[nodiscard]] virtual std::uint32_t allowed(policy::KernelId kernel) const = 0;
  // The limit of an undivided launch's groups on each of so many compute units; 0: none.
  [[nodiscard]] virtual std::uint32_t allowed_per_unit(policy::KernelId kernel, std::uint32_t units) const = 0;
  // Called after the policy: whether and how the caps of the active kernels hold for undivided launches. They stay so
  // while the policy changes no cap, also for a kernel that is not active.
  virtual void decide_undivided_caps() {}
  [[nodiscard]] virtual std::optional<UndividedCap> undivided_cap(policy::KernelId) const { return std::nullopt; }
  // The number of kernels that come after this one, where the policy gave them an order.
  [[nodiscard]] std::optional<int> kernels_after(policy::KernelId kernel) const;
  // When the policy asked to be called next; `fire_due_alarms` calls it.
  [[nodiscard]] virtual std::optional<Cycles> next_alarm() const;
  void fire_due_alarms(policy::Policy& policy);
  // Tells the policy what its decisions led to since the last call.
  virtual void deliver_events(policy::Policy& policy) = 0;
  [[nodiscard]] virtual bool has_events() const = 0;

  // --- Machine
  [[nodiscard]] Cycles now() const override { return now_; }
  [[nodiscard]] const gpu::SmLimits& limits() const override { return limits_; }
  [[nodiscard]] std::span<const policy::Kernel> kernels() const override { return kernels_; }
  [[nodiscard]] Cycles epoch_began() const override { return epoch_began_; }
  Random& random() override { return random_; }
  void preempt(policy::SmId, policy::KernelId, std::uint32_t) override { refused("switch contexts"); }
  void set_quota(policy::SmId, policy::KernelId, std::int64_t) override { refused("set quotas"); }
  void add_quota(policy::SmId, policy::KernelId, std::int64_t) override { refused("set quotas"); }
  void gate(policy::SmId) override { refused("gate power"); }
  void order(std::span<const policy::KernelId> first) override { first_.assign(first.begin(), first.end()); }
  void set_epoch(Cycles length) override;
  void wake_at(Cycles when, std::uint64_t tag) override { alarms_.push_back({std::max(when, now_), tag}); }

 protected:
  RuntimeMachine(const gpu::SmLimits& limits, std::uint64_t seed) : limits_(limits), random_(seed) {}

  struct Alarm {
    Cycles when;
    std::uint64_t tag;
  };
  struct Extra {
    enum class State {
      waiting,    // a launch that cannot be divided, before it is submitted
      started,    // the same, submitted with all its groups
      divisible,  // it runs as workers, so that groups start one after the other
    };
    State state = State::waiting;
    std::uint32_t launches = 0;  // launches of its stream before this one
    Cycles first_arrived;
    std::uint64_t stream = 0;
    std::uint32_t roomless = 0;      // resident groups that exceeded the device's resources when they were submitted
    double used = 0;                 // device time of this launch
    std::uint64_t instructions = 0;  // launches of its stream before this one executed so many
    std::uint64_t group_instructions = 1;
    Cycles ended;  // the launch before this one
    std::uint32_t chunk = 1;
    gpu::Resources undivided = {};
  };
  [[noreturn]] static void refused(const char* what);
  [[nodiscard]] policy::Kernel* view(policy::KernelId id);
  [[nodiscard]] std::vector<policy::KernelId> in_order() const;
  void forget(policy::Kernel& kernel);

  // --- the parts that know where groups run
  // A kernel got an id, new or used before: it has no groups and no cap anywhere.
  virtual void reset(policy::KernelId id) = 0;
  // The groups of an undivided launch that is on the device, as far as they fit.
  virtual void occupy_undivided(policy::Kernel& kernel) = 0;
  virtual void vacate_all(policy::Kernel& kernel) = 0;
  virtual void clear_counters() = 0;
  // Groups that the device holds of the kernel isolated, and the part of the device that it occupies, from 0 to 1.
  [[nodiscard]] virtual std::uint32_t places(const policy::Kernel& kernel) const = 0;
  [[nodiscard]] double isolated_part(const policy::Kernel& kernel) const;
  [[nodiscard]] double occupied_part(const policy::Kernel& kernel) const;

  const gpu::SmLimits limits_;
  std::vector<policy::Kernel> kernels_;     // in order of arrival
  std::vector<Extra> extras_;               // by id
  std::vector<policy::KernelId> free_ids_;  // the one that completed first is first
  std::vector<policy::KernelId> first_;
  std::vector<Alarm> alarms_;
  Cycles now_, epoch_began_, epoch_length_;
  Random random_;

 private:
  policy::KernelId id_for(std::uint64_t stream);
};

}  // namespace wm::runtime
