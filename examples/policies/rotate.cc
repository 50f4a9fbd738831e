// Round robin in time: the whole GPU belongs to one kernel for a slice, then to the next.
#include <algorithm>

#include "policy/algorithm/members.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Rotate final : public Policy {
 public:
  explicit Rotate(const Values& v) : slice_(v.cycles("slice")), how_(v.choice<Preempt>("preemption")) {}

  void on(const Epoch&, Machine& gpu) override { next(gpu); }
  void on(const KernelSetChanged&, Machine& gpu) override {
    if (gpu.find(turn_) == nullptr) next(gpu);  // the kernel that had the GPU has left
  }

 private:
  void next(Machine& gpu) {
    const auto kernels = by_client(gpu);
    if (kernels.empty()) return;
    const auto later = [this](const Kernel& k) { return k.id > turn_; };
    const auto found = std::find_if(kernels.begin(), kernels.end(), later);
    turn_ = found == kernels.end() ? kernels.front().id : found->id;
    for (const Sm& sm : gpu.sms()) gpu.give(sm.id, turn_, how_);
    gpu.set_epoch(slice_);  // every slice is whole
  }

  Cycles slice_;
  Preempt how_;
  KernelId turn_ = kNoKernel;
};

}  // namespace

WM_POLICY(Rotate, {.name = "rotate",
                   .about = "the whole GPU to one kernel for a slice, then to the next",
                   .paper = "time slicing, as operating systems do it",
                   .needs = {Can::own_sms},
                   .parameters = {cycles("slice", 50'000, {1'000, 100'000'000}, "length of a turn", ""),
                                  choice("preemption", {{"drain", {Can::drain}}, {"switch", {Can::switch_context}}},
                                         "how blocks in the way leave an SM", "")}})

}  // namespace wm::policy
