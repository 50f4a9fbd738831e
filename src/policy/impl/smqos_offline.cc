// The optimum SMQoS is measured against: the least number of SMs with which the LS task meets its goal, found by trying
// all of them on the tasks themselves; the batch tasks divide the rest. Sun et al., Parallel Computing 2022,
// section 5.4.
//
// `sms=17` runs with that number and tries nothing, for experiments that give every number a run of its own. The LS
// task is the oldest client with a goal; others count as batch tasks.
#include <algorithm>

#include "policy/algorithm/members.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class SmQosOffline final : public Policy {
 public:
  explicit SmQosOffline(const Values& v)
      : settle_(v.cycles("settle")),
        measurement_(v.cycles("trial")),
        fixed_(static_cast<std::uint32_t>(v.integer("sms"))) {}

  void on(const KernelSetChanged&, Machine& gpu) override {
    if (members_.changed(gpu) && members_.other_clients()) regroup(gpu);
  }

  void on(const Wake& e, Machine& gpu) override {
    if (e.tag != wake_tag_) return;  // the wake-up of an earlier measurement
    measuring_ = true;
    gpu.set_epoch(measurement_);
  }

  void on(const Epoch&, Machine& gpu) override {
    if (!measuring_) return;
    measuring_ = false;
    const Kernel* ls = gpu.find(ls_);
    if (ls == nullptr) return;  // it ended meanwhile
    if (gpu.epoch_ipc(ls_) >= ls->goal) best_ = std::min(best_, tried_);
    if (tried_ < max_sms(gpu)) {
      try_with(gpu, tried_ + 1);
    } else {
      divide(gpu, best_);
    }
  }

 private:
  // Every other task keeps one SM.
  static std::uint32_t max_sms(const Machine& gpu) {
    return static_cast<std::uint32_t>(gpu.sms().size() - (by_client(gpu).size() - 1));
  }

  void regroup(Machine& gpu) {
    measuring_ = false;
    ++wake_tag_;
    const auto kernels = by_client(gpu);
    const auto ls = std::find_if(kernels.begin(), kernels.end(), [](const Kernel& k) { return k.has_goal(); });
    ls_ = ls == kernels.end() ? kNoKernel : ls->id;
    if (ls_ == kNoKernel || kernels.size() < 2) return divide(gpu, 0);
    if (fixed_ > 0) return divide(gpu, std::min(fixed_, max_sms(gpu)));
    best_ = max_sms(gpu);  // where no number meets the goal
    try_with(gpu, 1);
  }

  void try_with(Machine& gpu, std::uint32_t sms) {
    tried_ = sms;
    divide(gpu, sms);
    gpu.wake_at(gpu.now() + settle_, ++wake_tag_);
  }

  // Gives the first `first` SMs to the LS task, the others in equal parts to the batch tasks.
  void divide(Machine& gpu, std::uint32_t first) const {
    auto others = by_client(gpu);
    if (others.empty()) return;
    if (others.size() > 1) {
      others.erase(std::remove_if(others.begin(), others.end(), [this](const Kernel& k) { return k.id == ls_; }),
                   others.end());
    }
    const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
    for (std::uint32_t i = 0; i < sms; ++i) {
      const KernelId id = i < first ? ls_ : others[part_of(i - first, sms - first, others.size())].id;
      gpu.give({i}, id, Preempt::drain);
    }
  }

  Cycles settle_;
  Cycles measurement_;
  std::uint32_t fixed_;
  Members members_;
  KernelId ls_ = kNoKernel;
  std::uint32_t tried_ = 0;
  std::uint32_t best_ = 0;
  bool measuring_ = false;
  std::uint64_t wake_tag_ = 0;
};

}  // namespace

WM_POLICY(SmQosOffline,
          {.name = "smqos_offline",
           .about = "the fewest SMs that meet the goal, by trying all numbers",
           .paper = "Sun et al. (SMQoS), Parallel Computing 2022, section 5.4",
           .goals = true,
           .needs = {Can::own_sms, Can::drain, Can::count_instructions},
           .parameters = {
               integer("sms", 0, {0, 100'000}, "SMs for the LS task, instead of the search; 0: search", "5.4"),
               cycles("settle", 10'000, {0, 10'000'000}, "wait for a partition to take effect", ""),
               cycles("trial", 10'000, {100, 10'000'000}, "length of a measurement", "")}})

}  // namespace wm::policy
