// SMQoS: every SM has one owner. A latency-sensitive task gains or loses one SM as its goal is missed or met, and a
// batch task keeps no more SMs than it gains from. SMs from which no kernel gains are switched off. Sun et al.,
// "QoS-aware dynamic resource allocation with improved utilization and energy efficiency on GPU", Parallel Computing
// 2022, section 4, algorithms 1 to 3.
//
// LS tasks are kernels with a goal, batch tasks those without. An SM changes its owner only when its blocks have
// ended. That may take many epochs; meanwhile an LS task that is behind requests one more SM in every epoch. The
// benefit of an SM for a batch task is measured in epochs in which the task had the same SMs nearly all the time, from
// the first one on that begins after a block of it has ended: before, caches are empty and its blocks run in step. An
// LS task that is ahead is in no hurry, so it releases its next SM when the benefit of the last one has been measured.
#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "policy/algorithm/batch_keeps.h"
#include "policy/algorithm/demand.h"
#include "policy/algorithm/learned_sets.h"
#include "policy/algorithm/members.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class SmQos final : public Policy {
 public:
  explicit SmQos(const Values& v)
      : epoch_(v.cycles("epoch")),
        threshold_(v.number("threshold")),
        batch_keeps_(static_cast<std::uint32_t>(v.integer("batch_keeps"))) {}

  // Section 5.1: "Initially, the SMs are evenly partitioned". Another set of kernels starts again from there; a set
  // that was active before, from where it was. The paper's tasks never pause, so it has no such case.
  void on(const KernelSetChanged&, Machine& gpu) override {
    if (!members_.changed(gpu) || !members_.other_clients()) return;
    if (!clients_.empty()) learned_.store(clients_, {eventual_owners(gpu), batch_});
    clients_ = active_clients(gpu);
    if (clients_.empty()) return;
    if (const auto learned = learned_.find(clients_)) {
      restore(gpu, *learned);
    } else {
      partition(gpu);
    }
    gpu.set_epoch(epoch_);
    look_again(gpu);
  }

  // An SM that changes its owner early in an epoch counts as changed at its beginning.
  void on(const SmReady&, Machine& gpu) override {
    if (gpu.epoch_length().count * 4 < epoch_.count) look_again(gpu);
  }
  void on(const SmIdle&, Machine& gpu) override {
    if (gpu.epoch_length().count * 4 < epoch_.count) look_again(gpu);
  }

  void on(const Epoch&, Machine& gpu) override {
    for (auto& [id, task] : batch_) {
      const auto held = holds(gpu, id);
      if (!held || held != task.held) continue;
      determine_opt_k(task, gpu.epoch_ipc(id), *held);
      task.ipc_last = gpu.epoch_ipc(id);
      task.sm_last = *held;
      task.is_rate_known = true;
    }
    for (const Kernel& k : by_client(gpu)) {
      if (!k.has_goal()) continue;
      switch (maintain(gpu, k)) {
        case Swapped::in:
          swap_in(gpu, k.id);
          break;
        case Swapped::out:
          if (!take_back(gpu, k.id) && measured(gpu)) swap_out(gpu, k.id);
          break;
        case Swapped::none:
          break;
      }
    }
    look_again(gpu);
  }

 private:
  enum class Swapped { none, in, out };

  struct Batch {
    std::uint32_t opt_k = 0;
    bool upper_k = false;
    bool lower_k = false;
    std::optional<std::uint32_t> held;  // SMs since the epoch began, if none was changing its owner
    std::uint32_t sm_last = 0;          // … and in the last epoch in which that held until the end
    double ipc_last = 0;
    bool is_rate_known = false;  // sm_last and ipc_last are of an epoch
  };

  struct Learned {
    std::vector<KernelId> owners;
    std::map<KernelId, Batch> batch;
  };

  void partition(Machine& gpu) {
    const auto kernels = by_client(gpu);
    const std::size_t sms = gpu.sms().size();
    for (std::uint32_t i = 0; i < sms; ++i) gpu.give({i}, kernels[part_of(i, sms, kernels.size())].id, Preempt::drain);
    batch_.clear();
    for (const Kernel& k : kernels) {
      if (!k.has_goal()) batch_[k.id].opt_k = gpu.owned(k.id);
    }
  }

  void restore(Machine& gpu, const Learned& learned) {
    batch_ = learned.batch;
    for (std::uint32_t i = 0; i < learned.owners.size(); ++i) {
      if (learned.owners[i] != kNoKernel) {
        gpu.give({i}, learned.owners[i], Preempt::drain);
      } else if (gpu.can(Can::gate_power)) {
        gpu.gate({i});
      }
    }
  }

  // The number of SMs that hold only its blocks; nothing while blocks of it are leaving other SMs.
  [[nodiscard]] static std::optional<std::uint32_t> holds(const Machine& gpu, KernelId id) {
    std::uint32_t count = 0;
    for (const Sm& sm : gpu.sms()) {
      const bool its_own = sm.state == Sm::State::on && sm.owner == id;
      if (!its_own && gpu.residents(sm.id)[id.index].resident > 0) return {};
      count += its_own ? 1 : 0;
    }
    return count;
  }

  void look_again(const Machine& gpu) {
    for (auto& [id, task] : batch_) task.held = has_ended_blocks(gpu, id) ? holds(gpu, id) : std::nullopt;
  }

  [[nodiscard]] static bool has_ended_blocks(const Machine& gpu, KernelId id) {
    const auto kernels = gpu.kernels();
    return std::any_of(kernels.begin(), kernels.end(),
                       [id](const Kernel& k) { return k.id == id && (k.launch > 0 || k.done > 0); });
  }

  // Whether the rate of every batch task is known with the SMs that it has, where that rate may still move opt_k.
  [[nodiscard]] bool measured(const Machine& gpu) const {
    if (!gpu.can(Can::gate_power)) return true;
    return std::all_of(batch_.begin(), batch_.end(), [&gpu](const auto& entry) {
      const auto& [id, task] = entry;
      const bool is_decided = task.upper_k && task.lower_k;
      return is_decided || !has_ended_blocks(gpu, id) || (task.is_rate_known && task.sm_last == gpu.owned(id));
    });
  }

  // Algorithm 1: dynamic SM adjustment to maintain QoS.
  [[nodiscard]] Swapped maintain(const Machine& gpu, const Kernel& ls) const {
    const double ipc_ave = ls.history(gpu.now());
    const double ipc_epoch = gpu.epoch_ipc(ls.id);
    if (ipc_ave < ls.goal || ipc_epoch < ls.goal) return Swapped::in;
    const double n_epoch = static_cast<double>((gpu.now() - ls.first_arrived) / epoch_);
    if (ipc_ave * n_epoch / (n_epoch + 1) > ls.goal && ipc_epoch > ls.goal) return Swapped::out;
    return Swapped::none;
  }

  // Algorithm 2: determines whether the SM that the task gained or lost since the last call changed its rate.
  void determine_opt_k(Batch& task, double ipc_epoch, std::uint32_t sm_batch) const {
    if (!task.is_rate_known || task.sm_last == sm_batch || task.sm_last != task.opt_k || (task.upper_k && task.lower_k))
      return;
    if (task.sm_last < sm_batch) {
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

  // Algorithm 3, precondition 1: the LS task gets an idle SM, or one of the batch task that has most; by default its
  // last one too: a task whose rate is proportional to its SMs could not reach a goal of 95% with 23 of 24 SMs.
  void swap_in(Machine& gpu, KernelId ls) {
    if (const Sm* sm = idle_sm(gpu)) return gpu.give(sm->id, ls, Preempt::drain);
    KernelId from = kNoKernel;
    std::uint32_t max_owned = batch_keeps_;
    for (const auto& [id, task] : batch_) {
      if (gpu.owned(id) > max_owned) from = id, max_owned = gpu.owned(id);
    }
    if (from == kNoKernel) return;
    gpu.give(easiest_to_take(gpu, from)->id, ls, Preempt::drain);
  }

  // An SM that is off, or else one that is being switched off.
  [[nodiscard]] static const Sm* idle_sm(const Machine& gpu) {
    const Sm* found = nullptr;
    for (const Sm& sm : gpu.sms()) {
      if (sm.state == Sm::State::off) return &sm;
      if (sm.state == Sm::State::gating && found == nullptr) found = &sm;
    }
    return found;
  }

  // Gives back an SM that was requested for the LS task, has not arrived yet, and is not needed any more.
  [[nodiscard]] bool take_back(Machine& gpu, KernelId ls) const {
    for (const Sm& sm : gpu.sms()) {
      if (sm.state != Sm::State::reserved || sm.next != ls || !batch_.contains(sm.owner)) continue;
      gpu.give(sm.id, sm.owner, Preempt::drain);
      return true;
    }
    return false;
  }

  // Algorithm 3, precondition 2: the LS task's SM goes to the batch task with fewest SMs among those that want one; or
  // it is switched off, with another one of a batch task that may be past its optimum. A machine that cannot switch SMs
  // off uses them all. While blocks of the LS task are still leaving an SM, its rate is not that of its current SMs.
  void swap_out(Machine& gpu, KernelId ls) {
    if (gpu.owned(ls) < 2 || batch_.empty() || !holds(gpu, ls)) return;
    const SmId sm = easiest_to_take(gpu, ls)->id;
    KernelId wants = kNoKernel;
    KernelId may_shrink = kNoKernel;
    for (const auto& [id, task] : batch_) {
      const std::uint32_t has = gpu.owned(id);
      const bool swap_in = has < task.opt_k || !task.upper_k || !gpu.can(Can::gate_power);
      if (swap_in && (wants == kNoKernel || has < gpu.owned(wants))) wants = id;
      if (!swap_in && !task.lower_k && has > 1) may_shrink = id;
    }
    if (wants != kNoKernel) return gpu.give(sm, wants, Preempt::drain);
    if (may_shrink != kNoKernel) gpu.gate(easiest_to_take(gpu, may_shrink)->id);
    gpu.gate(sm);
  }

  Cycles epoch_;
  double threshold_;
  std::uint32_t batch_keeps_;
  Members members_;
  std::vector<KernelId> clients_;  // with an active launch
  std::map<KernelId, Batch> batch_;
  LearnedSets<Learned> learned_;
};

}  // namespace

WM_POLICY(SmQos, {.name = "smqos",
                  .about = "SMs one by one to goals, to batch tasks while they gain, else switched off",
                  .paper = "Sun et al. (SMQoS), Parallel Computing 2022",
                  .goals = true,
                  .needs = {Can::own_sms, Can::drain, Can::count_instructions},
                  .uses = {Can::gate_power},
                  .parameters = {cycles("epoch", 10'000, {100, 10'000'000}, "length of an epoch", "5.1"),
                                 number("threshold", 0.01, {0, 1}, "change of a batch task's rate that counts", "5.3"),
                                 batch_keeps()}})

}  // namespace wm::policy
