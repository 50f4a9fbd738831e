// SMQoS: whole SMs; a latency-sensitive task gains or loses one as its goal is missed or met, and a batch task keeps no
// more than it gains from. SMs nobody gains from are switched off. Sun et al., "QoS-aware dynamic resource allocation
// with improved utilization and energy efficiency on GPU", Parallel Computing 2022, section 4, algorithms 1 to 3.
//
// LS tasks are kernels with a goal, batch tasks those without. An SM changes hands only when its blocks have ended, and
// one at a time: while one is on its way nothing is decided.
#include <algorithm>
#include <map>

#include "policy/algorithm/demand.h"
#include "policy/algorithm/members.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class SmQos final : public Policy {
 public:
  explicit SmQos(const Values& v) : epoch_(v.cycles("epoch")), threshold_(v.number("threshold")) {}

  // Section 5.1: "Initially, the SMs are evenly partitioned". Other company, another beginning.
  void on(const Regrouped&, Machine& gpu) override {
    if (!members_.changed(gpu) || !members_.other_clients() || gpu.kernels().empty()) return;
    const auto kernels = by_client(gpu);
    const std::size_t sms = gpu.sms().size();
    for (std::uint32_t i = 0; i < sms; ++i) gpu.give({i}, kernels[part_of(i, sms, kernels.size())].id, Preempt::drain);
    batch_.clear();
    for (const Kernel& k : kernels) {
      if (!k.has_goal()) batch_[k.id] = {.opt_k = gpu.owned(k.id)};
    }
    gpu.set_epoch(epoch_);
  }

  void on(const Epoch&, Machine& gpu) override {
    const auto rests = [](const Sm& sm) { return sm.state == Sm::State::on || sm.state == Sm::State::off; };
    if (!std::all_of(gpu.sms().begin(), gpu.sms().end(), rests)) return;
    for (auto& [id, task] : batch_) {
      determine_opt_k(task, gpu.epoch_ipc(id), gpu.owned(id));
      task.ipc_last = gpu.epoch_ipc(id);
      task.sm_last = gpu.owned(id);
      task.swapped = Swapped::none;
    }
    for (const Kernel& k : by_client(gpu)) {
      if (!k.has_goal()) continue;
      switch (maintain(gpu, k)) {
        case Swapped::in:
          swap_in(gpu, k.id);
          break;
        case Swapped::out:
          swap_out(gpu, k.id);
          break;
        case Swapped::none:
          break;
      }
    }
  }

 private:
  enum class Swapped { none, in, out };

  struct Batch {
    std::uint32_t opt_k = 0;
    bool upper_k = false;
    bool lower_k = false;
    std::uint32_t sm_last = 0;
    double ipc_last = 0;
    Swapped swapped = Swapped::none;
  };

  // Algorithm 1: dynamic SM adjustment to maintain QoS.
  [[nodiscard]] Swapped maintain(const Machine& gpu, const Kernel& ls) const {
    const double ipc_ave = ls.history(gpu.now());
    const double ipc_epoch = gpu.epoch_ipc(ls.id);
    if (ipc_ave < ls.goal || ipc_epoch < ls.goal) return Swapped::in;
    const double n_epoch = static_cast<double>((gpu.now() - ls.first_arrived) / epoch_);
    if (ipc_ave * n_epoch / (n_epoch + 1) > ls.goal && ipc_epoch > ls.goal) return Swapped::out;
    return Swapped::none;
  }

  // Algorithm 2: the task swapped an SM in the epoch before; did it matter?
  void determine_opt_k(Batch& task, double ipc_epoch, std::uint32_t sm_batch) const {
    if (task.swapped == Swapped::none || task.sm_last != task.opt_k || (task.upper_k && task.lower_k)) return;
    if (task.swapped == Swapped::in) {
      if (ipc_epoch > task.ipc_last * (1 + threshold_)) {
        task.lower_k = true;
        task.opt_k = sm_batch;
      } else {
        task.upper_k = true;
      }
    } else {
      if (ipc_epoch < task.ipc_last * (1 - threshold_)) {
        task.lower_k = true;
      } else {
        task.upper_k = true;
        task.opt_k = sm_batch;
      }
    }
  }

  // Algorithm 3, precondition 1: the LS task gets an idle SM, or one of the batch task that has most, its last one too:
  // a task whose speed goes with its SMs could never make up for its beginning on 23 of 24 at a goal of 95%.
  void swap_in(Machine& gpu, KernelId ls) {
    for (const Sm& sm : gpu.sms()) {
      if (!powered(sm)) return gpu.give(sm.id, ls, Preempt::drain);
    }
    KernelId from = kNobody;
    std::uint32_t most = 0;
    for (const auto& [id, task] : batch_) {
      if (gpu.owned(id) > most) from = id, most = gpu.owned(id);
    }
    if (from == kNobody) return;
    gpu.give(easiest_to_take(gpu, from)->id, ls, Preempt::drain);
    batch_[from].swapped = Swapped::out;
  }

  // Algorithm 3, precondition 2: the LS task's SM goes to the batch task with fewest SMs among those that want one; or
  // it is switched off, with another one of a batch task that may be past its optimum. A machine that cannot switch SMs
  // off uses them all.
  void swap_out(Machine& gpu, KernelId ls) {
    if (gpu.owned(ls) < 2 || batch_.empty()) return;
    const SmId sm = easiest_to_take(gpu, ls)->id;
    KernelId wants = kNobody;
    KernelId may_shrink = kNobody;
    for (const auto& [id, task] : batch_) {
      const std::uint32_t has = gpu.owned(id);
      const bool swap_in = has < task.opt_k || !task.upper_k || !gpu.can(Can::gate_power);
      if (swap_in && (wants == kNobody || has < gpu.owned(wants))) wants = id;
      if (!swap_in && !task.lower_k && has > 1) may_shrink = id;
    }
    if (wants != kNobody) {
      gpu.give(sm, wants, Preempt::drain);
      batch_[wants].swapped = Swapped::in;
      return;
    }
    if (may_shrink != kNobody) {
      gpu.gate(easiest_to_take(gpu, may_shrink)->id);
      batch_[may_shrink].swapped = Swapped::out;
    }
    gpu.gate(sm);
  }

  Cycles epoch_;
  double threshold_;
  Members members_;
  std::map<KernelId, Batch> batch_;
};

}  // namespace

WM_POLICY(SmQos,
          {.name = "smqos",
           .about = "SMs one by one to goals, to batch tasks while they gain, else switched off",
           .paper = "Sun et al. (SMQoS), Parallel Computing 2022",
           .goals = true,
           .needs = {Can::own_sms, Can::drain, Can::count_instructions},
           .uses = {Can::gate_power},
           .parameters = {cycles("epoch", 10'000, {100, 10'000'000}, "length of an epoch", "5.1"),
                          number("threshold", 0.01, {0, 1}, "change of a batch task's rate that counts", "5.3")}})

}  // namespace wm::policy
