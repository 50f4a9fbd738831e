// Dynamic spatial sharing: each process has a budget of SMs in tokens, pays one for each SM it has, and may go into
// debt for SMs that no other process wants. Tanasic et al., ISCA 2014, section 3.4, algorithm 1.
#include <algorithm>
#include <map>

#include "policy/algorithm/demand.h"
#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Dss final : public Policy {
 public:
  explicit Dss(const Values& v) : how_(v.choice<Preempt>("preemption")) {}

  // "(1) a kernel is inserted in the active queue and (2) an SM becomes idle"
  void on(const KernelArrived&, Machine& gpu) override { partition(gpu); }
  void on(const SmIdle&, Machine& gpu) override { partition(gpu); }

 private:
  // Section 4.4: tc = floor(N_sm / N_p) tokens for each of N_p processes, in proportion to shares where they differ;
  // the remainder to those that came first. A process's tokens are its budget less the SMs its kernels have or that are
  // reserved for them.
  using Tokens = std::map<std::uint32_t, std::int64_t>;  // by process
  static Tokens tokens(const Machine& gpu, std::span<const Kernel> active) {
    std::vector<std::uint32_t> processes;
    std::vector<double> weights;
    for (const Kernel& k : active) {
      if (std::find(processes.begin(), processes.end(), k.process) != processes.end()) continue;
      processes.push_back(k.process);
      weights.push_back(k.share);
    }
    const auto budget = proportional(static_cast<std::uint32_t>(gpu.sms().size()), weights);
    Tokens count;
    for (std::size_t i = 0; i < processes.size(); ++i) count[processes[i]] = budget[i];
    for (const Kernel& k : active) count[k.process] -= gpu.owned(k.id);
    return count;
  }

  void partition(Machine& gpu) const {
    // No more active kernels than SMs (section 3.3); the others wait in their command buffers.
    const auto active = gpu.kernels().first(std::min(gpu.kernels().size(), gpu.sms().size()));
    if (active.empty()) return;
    Tokens count = tokens(gpu, active);
    for (;;) {
      const Kernel* max = nullptr;  // most tokens, among those with blocks to issue
      const Kernel* min = nullptr;  // fewest tokens, among those that have an SM to lose
      for (const Kernel& k : active) {
        if (unserved(gpu, k) > 0 && (max == nullptr || count[k.process] > count[max->process])) max = &k;
        if (gpu.owned(k.id) > 0 && (min == nullptr || count[k.process] < count[min->process])) min = &k;
      }
      if (max == nullptr) return claim_rest(gpu, active.front().id, how_);
      const auto all = gpu.sms();
      const auto free = std::find_if(all.begin(), all.end(), [&](const Sm& sm) { return idle(gpu, sm); });
      if (free != all.end()) {
        const Kernel* owner = gpu.find(free->owner);
        if (owner != nullptr && count.contains(owner->process))
          ++count[owner->process];  // the owner has no blocks for it any more
        gpu.give(free->id, max->id, how_);
        --count[max->process];
        continue;
      }
      // "until the difference between the token counts is no bigger than one (to prevent a livelock)"
      if (min == nullptr || count[max->process] <= count[min->process] + 1) return;
      // An SM still being preempted for `min` only changes the kernel it is reserved for.
      gpu.give(easiest_to_take(gpu, min->id)->id, max->id, how_);
      ++count[min->process];
      --count[max->process];
    }
  }

  Preempt how_;
};

}  // namespace

WM_POLICY(Dss, {.name = "dss",
                .about = "SMs by tokens, in debt where no other kernel wants them",
                .paper = "Tanasic et al., ISCA 2014, section 3.4",
                .needs = {Can::own_sms},
                .parameters = {choice("preemption", {{"drain", {Can::drain}}, {"switch", {Can::switch_context}}},
                                      "how blocks in the way leave an SM", "3.2")}})

}  // namespace wm::policy
