// Spatial QoS: every SM has one owner. A kernel with a goal gets as many SMs as a linear model predicts, then one more
// or one less as its measured rate requires. Aguilera et al., "QoS-aware dynamic resource allocation for
// spatial-multitasking GPUs", ASP-DAC 2014, as the QoS paper (ISCA 2017, sections 2.3, 4.1 and 5) and SMQoS
// (section 2.3) describe and compare with it.
#include <algorithm>
#include <cmath>

#include "policy/algorithm/batch_keeps.h"
#include "policy/algorithm/members.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Spart final : public Policy {
 public:
  explicit Spart(const Values& v)
      : epoch_(v.cycles("epoch")),
        how_(v.choice<Preempt>("preemption")),
        batch_keeps_(static_cast<std::uint32_t>(v.integer("batch_keeps"))) {}

  void on(const Started&, Machine& gpu) override { gpu.set_epoch(epoch_); }

  // When the set of kernels changes: an even split to measure from.
  void on(const KernelSetChanged&, Machine& gpu) override {
    if (!members_.changed(gpu) || !members_.other_clients() || gpu.kernels().empty()) return;
    const auto kernels = by_client(gpu);
    const std::size_t sms = gpu.sms().size();
    for (std::uint32_t i = 0; i < sms; ++i) gpu.give({i}, kernels[part_of(i, sms, kernels.size())].id, how_);
    predicted_ = false;
    gpu.set_epoch(epoch_);
  }

  void on(const Epoch&, Machine& gpu) override {
    const auto reserved = [](const Sm& sm) { return sm.state == Sm::State::reserved; };
    if (std::any_of(gpu.sms().begin(), gpu.sms().end(), reserved)) return;  // the partition is still changing
    const auto kernels = by_client(gpu);
    bool moved = false;
    for (const Kernel& k : kernels) {
      if (!k.has_goal()) continue;
      const std::uint32_t has = gpu.owned(k.id);
      const std::uint32_t needs = predict(gpu, k, has);
      // The first step follows the model's prediction; later steps change one SM at a time.
      const std::uint32_t steps = predicted_ ? 1 : gpu.sms().size();
      for (std::uint32_t i = 0; i < steps && has + i < needs; ++i) moved |= grow(gpu, kernels, k);
      for (std::uint32_t i = 0; i < steps && has > needs + i; ++i) moved |= shrink(gpu, kernels, k);
    }
    predicted_ = true;
    if (moved) gpu.set_epoch(epoch_);
  }

 private:
  // Performance in proportion to SMs: the least number that meets the goal. If the kernel is behind its goal over its
  // life, it needs one more than it has.
  static std::uint32_t predict(const Machine& gpu, const Kernel& k, std::uint32_t has) {
    const double ipc = gpu.epoch_ipc(k.id);
    if (ipc <= 0) return has + 1;
    const auto needs = static_cast<std::uint32_t>(std::clamp(std::ceil(k.goal * has / ipc), 1.0, 1e6));
    return k.history(gpu.now()) < k.goal ? std::max(needs, has + 1) : needs;
  }

  // Takes an SM from the kernel without a goal that has most SMs, if that has more than it may keep.
  bool grow(Machine& gpu, const std::vector<Kernel>& kernels, const Kernel& k) const {
    KernelId from = kNoKernel;
    std::uint32_t max_owned = batch_keeps_;
    for (const Kernel& other : kernels) {
      const std::uint32_t has = gpu.owned(other.id);
      if (!other.has_goal() && has > max_owned) from = other.id, max_owned = has;
    }
    return from != kNoKernel && move(gpu, from, k.id);
  }

  // Gives an SM to the kernel without a goal that has fewest.
  bool shrink(Machine& gpu, const std::vector<Kernel>& kernels, const Kernel& k) const {
    KernelId to = kNoKernel;
    std::uint32_t least = 0;
    for (const Kernel& other : kernels) {
      if (other.has_goal()) continue;
      const std::uint32_t has = gpu.owned(other.id);
      if (to == kNoKernel || has < least) to = other.id, least = has;
    }
    return to != kNoKernel && gpu.owned(k.id) > 1 && move(gpu, k.id, to);
  }

  // Moves the SM with the fewest blocks that have to leave.
  bool move(Machine& gpu, KernelId from, KernelId to) const {
    const Sm* best = nullptr;
    for (const Sm& sm : gpu.sms()) {
      if (eventual_owner(sm) == from && (best == nullptr || sm.resident < best->resident)) best = &sm;
    }
    if (best == nullptr) return false;
    gpu.give(best->id, to, how_);
    return true;
  }

  Cycles epoch_;
  Preempt how_;
  std::uint32_t batch_keeps_;
  Members members_;
  bool predicted_ = false;
};

}  // namespace

WM_POLICY(Spart, {.name = "spart",
                  .about = "whole SMs, as many for a goal as a linear model and measurement say",
                  .paper = "Aguilera et al., ASP-DAC 2014",
                  .goals = true,
                  .needs = {Can::own_sms, Can::count_instructions},
                  .parameters = {cycles("epoch", 10'000, {100, 10'000'000}, "length of an epoch", "ISCA 2017, 4.1"),
                                 choice("preemption", {{"drain", {Can::drain}}, {"switch", {Can::switch_context}}},
                                        "how blocks in the way leave an SM", "ISCA 2014, 3.2"),
                                 batch_keeps()}})

}  // namespace wm::policy
