// Simultaneous multikernel: on every SM blocks by dominant-resource fairness, and instruction quotas under which
// all kernels are slower than in isolation by the same factor. Wang et al., HPCA 2016, as the QoS paper (ISCA 2017,
// sections 2.3 and 3.3) builds on it.
//
// Quotas are in proportion to the isolated rate. On an SM where every kernel has spent its quota all get the next one,
// so no kernel idles for long; a kernel that cannot use its quota loses it at the end of the epoch. If the isolated
// rate is not known the kernels are measured first, each by itself on its part of the SMs.
#include <algorithm>
#include <cmath>

#include "policy/algorithm/members.h"
#include "policy/algorithm/shares.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Smk final : public Policy {
 public:
  explicit Smk(const Values& v) : epoch_(v.cycles("epoch")), profile_(v.cycles("profile")) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    if (e.kernel.index >= isolated_ipc_.size()) isolated_ipc_.resize(e.kernel.index + 1, 0);
    if (const double known = gpu.find(e.kernel)->isolated_ipc; known > 0) isolated_ipc_[e.kernel.index] = known;
  }
  void on(const KernelSetChanged&, Machine& gpu) override {
    if (members_.changed(gpu)) restart(gpu);
  }

  void on(const Epoch&, Machine& gpu) override {
    if (profiling_) {
      read_profile(gpu);
      restart(gpu);
    } else {
      refill(gpu, gpu.sms());
    }
  }

  // The fair epoch of an SM ends when all of its kernels have had their turn.
  void on(const QuotaSpent& e, Machine& gpu) override {
    const auto residents = gpu.residents(e.sm);
    const auto waits = [&](const Kernel& k) {
      return absent(k, residents[k.id.index]) || residents[k.id.index].quota <= 0;
    };
    if (!profiling_ && std::all_of(gpu.kernels().begin(), gpu.kernels().end(), waits))
      refill(gpu, gpu.sms().subspan(e.sm.index, 1));
  }

 private:
  void restart(Machine& gpu) {
    const auto kernels = gpu.kernels();
    if (kernels.empty()) return;
    const auto unknown = [&](const Kernel& k) { return isolated_ipc_[k.id.index] == 0; };
    profiling_ = kernels.size() > 1 && std::any_of(kernels.begin(), kernels.end(), unknown);
    if (profiling_) return begin_profile(gpu);

    std::vector<Claim> claims;
    for (const Kernel& k : kernels) claims.push_back({k.footprint, k.share});
    const auto blocks = dominant_fair(claims, gpu.limits().total);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, kernels[i].id, std::max(blocks[i], 1U));
    }
    refill(gpu, gpu.sms());
    gpu.set_epoch(epoch_);
  }

  // Each kernel by itself on its part of the SMs: the others' blocks there run to their end.
  void begin_profile(Machine& gpu) {
    const auto kernels = gpu.kernels();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      for (const Sm& sm : gpu.sms()) {
        const bool measured = part_of(sm.index, gpu.sms().size(), kernels.size()) == i;
        gpu.cap(sm.id, kernels[i].id, measured ? kNoCap : 0);
        gpu.set_quota(sm.id, kernels[i].id, kNoQuota);
      }
    }
    gpu.set_epoch(profile_);
  }

  void read_profile(Machine& gpu) {
    for (const Kernel& k : gpu.kernels()) {
      const auto mine = [&](const Sm& sm) { return gpu.residents(sm.id)[k.id.index].cap != 0; };
      const auto sms = std::count_if(gpu.sms().begin(), gpu.sms().end(), mine);
      const double per_sm = gpu.epoch_ipc(k.id) / static_cast<double>(std::max<std::ptrdiff_t>(sms, 1));
      // A kernel that never ran counts as slow: it gets a small quota, and can run.
      if (isolated_ipc_[k.id.index] == 0)
        isolated_ipc_[k.id.index] = std::max(per_sm * static_cast<double>(gpu.sms().size()), 1.0);
    }
  }

  // Each kernel's quota is an equal part of the epoch at its isolated rate.
  void refill(Machine& gpu, std::span<const Sm> sms) const {
    const auto kernels = gpu.kernels();
    for (const Kernel& k : kernels) {
      const double part = static_cast<double>(epoch_.count) / static_cast<double>(kernels.size() * gpu.sms().size());
      const auto fair = std::max<std::int64_t>(std::llround(isolated_ipc_[k.id.index] * part), 1);
      for (const Sm& sm : sms) gpu.set_quota(sm.id, k.id, kernels.size() < 2 ? kNoQuota : fair);
    }
  }

  Cycles epoch_;
  Cycles profile_;
  Members members_;
  std::vector<double> isolated_ipc_;  // by kernel; 0: not known
  bool profiling_ = false;
};

}  // namespace

WM_POLICY(Smk, {.name = "smk",
                .about = "fair blocks on every SM, and quotas that slow all kernels alike",
                .paper = "Wang et al. (SMK), HPCA 2016",
                .needs = {Can::cap_blocks, Can::quotas, Can::count_instructions},
                .parameters = {cycles("epoch", 10'000, {100, 10'000'000}, "longest time between two quotas", ""),
                               cycles("profile", 10'000, {100, 10'000'000},
                                      "measurement of kernels whose isolated rate is not known", "")}})

}  // namespace wm::policy
