// Preemptive priority queues: the most important kernel takes the SMs it can use from less important ones. Tanasic et
// al., ISCA 2014, sections 2.4, 4.2 and 4.3.
//
//   exclusive   while a kernel of higher priority is active, no other starts a block anywhere (figure 6a)
//   shared      SMs it cannot use go to the next in line (figure 6b)
#include <algorithm>
#include <span>

#include "policy/algorithm/demand.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Ppq final : public Policy {
 public:
  explicit Ppq(const Values& v)
      : exclusive_(v.choice<Access>("access") == Access::exclusive), how_(v.choice<Preempt>("preemption")) {}

  void on(const KernelSetChanged&, Machine& gpu) override { schedule(gpu); }
  void on(const SmIdle&, Machine& gpu) override { schedule(gpu); }

 private:
  enum class Access { exclusive, shared };

  void schedule(Machine& gpu) const {
    const auto kernels = by_priority(gpu);
    for (const Kernel& k : kernels) {
      if (exclusive_ && k.priority < kernels.front().priority) break;
      give_idle(gpu, k, how_);
      preempt_for(gpu, kernels, k);
    }
    if (kernels.empty()) return;
    claim_rest(gpu, kernels.front().id, how_);
    if (exclusive_) clear_for(gpu, kernels.front());
  }

  // From the least important kernels first, as long as this one has blocks that fit nowhere.
  void preempt_for(Machine& gpu, std::span<const Kernel> kernels, const Kernel& k) const {
    if (kernels.back().priority >= k.priority) return;
    std::uint32_t need = unserved(gpu, k);
    for (auto victim = kernels.rbegin(); victim != kernels.rend() && victim->priority < k.priority; ++victim) {
      for (const Sm* sm = nullptr; need > 0 && (sm = easiest_to_take(gpu, victim->id)) != nullptr;) {
        gpu.give(sm->id, k.id, how_);
        need -= std::min(need, k.max_blocks_per_sm);
      }
    }
  }

  // Less important kernels lose also the SMs that no more important kernel needs.
  void clear_for(Machine& gpu, const Kernel& top) const {
    for (const Sm& sm : gpu.sms()) {
      if (eventual_owner(sm) == top.id) continue;
      const Kernel* owner = gpu.find(eventual_owner(sm));
      if (owner != nullptr && owner->priority < top.priority) gpu.give(sm.id, top.id, how_);
    }
  }

  bool exclusive_;
  Preempt how_;
};

}  // namespace

WM_POLICY(Ppq, {.name = "ppq",
                .about = "the most important kernel takes SMs from the others",
                .paper = "Tanasic et al., ISCA 2014, section 4.2",
                .waits = Waits::for_priority,
                .needs = {Can::own_sms},
                .parameters = {choice("access", {{"exclusive"}, {"shared"}},
                                      "whether less important kernels may use what it leaves", "4.3"),
                               choice("preemption", {{"drain", {Can::drain}}, {"switch", {Can::switch_context}}},
                                      "how blocks in the way leave an SM", "3.2")}})

}  // namespace wm::policy
