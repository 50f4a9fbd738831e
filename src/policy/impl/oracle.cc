// The oracle of Warped-Slicer's figure 6: every combination of blocks per SM, left-over and spatial sharing, tried one
// after the other on the kernels themselves; the best one stays. Xu et al., ISCA 2016, section V.A.
//
// `blocks=5/3` runs one combination and tries nothing, for experiments that give every combination a run of its own.
#include <algorithm>

#include "policy/algorithm/members.h"
#include "policy/algorithm/water_filling.h"
#include "policy/policy.h"

namespace wm::policy {
namespace {

class Oracle final : public Policy {
 public:
  explicit Oracle(const Values& v)
      : settle_(v.cycles("settle")),
        measurement_(v.cycles("trial")),
        objective_(v.choice<Objective>("objective")),
        fixed_(v.counts("blocks")) {}

  void on(const KernelSetChanged&, Machine& gpu) override {
    if (members_.changed(gpu)) regroup(gpu);
  }

  void on(const Wake& e, Machine& gpu) override {
    if (e.tag != wake_tag_) return;  // the wake-up of an earlier measurement
    measuring_ = true;
    gpu.set_epoch(measurement_);
  }

  void on(const Epoch&, Machine& gpu) override {
    if (!measuring_) return;
    measuring_ = false;
    const double score = judge(gpu);
    if (score > best_score_) best_score_ = score, best_ = next_ - 1;
    if (next_ < plans_.size()) {
      try_next(gpu);
    } else {
      apply(gpu, plans_[best_]);
    }
  }

 private:
  enum class Objective { ipc, stp, least };
  using Plan = std::vector<std::uint32_t>;  // blocks per kernel; empty: left-over
  static constexpr std::uint32_t kSpatial = 0;

  void regroup(Machine& gpu) {
    const auto kernels = by_client(gpu);
    measuring_ = false;
    ++wake_tag_;
    if (kernels.size() < 2) return apply(gpu, {});
    if (!fixed_.empty()) return apply(gpu, fixed_);
    std::vector<gpu::Resources> footprints;
    for (const Kernel& k : kernels) footprints.push_back(k.footprint);
    plans_ = combinations(footprints, gpu.limits().total);
    plans_.push_back({});
    plans_.emplace_back(kernels.size(), kSpatial);
    next_ = best_ = 0;
    best_score_ = -1;
    try_next(gpu);
  }

  void try_next(Machine& gpu) {
    apply(gpu, plans_[next_++]);
    gpu.wake_at(gpu.now() + settle_, ++wake_tag_);
  }

  static void apply(Machine& gpu, const Plan& plan) {
    const auto kernels = by_client(gpu);
    const bool spatial = !plan.empty() && std::all_of(plan.begin(), plan.end(), [](auto n) { return n == kSpatial; });
    const std::size_t sms = gpu.sms().size();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      for (std::uint32_t sm = 0; sm < sms; ++sm) {
        std::uint32_t cap = i < plan.size() && plan[i] > 0 ? plan[i] : kNoCap;
        if (spatial) cap = part_of(sm, sms, kernels.size()) == i ? kNoCap : 0;
        gpu.cap({sm}, kernels[i].id, cap);
      }
    }
  }

  // Total rate as in figure 6, or rates relative to the isolated ones: their sum, or their minimum.
  [[nodiscard]] double judge(const Machine& gpu) const {
    double sum = 0;
    double least = 0;
    for (const Kernel& k : gpu.kernels()) {
      const bool relative = objective_ != Objective::ipc && k.isolated_ipc > 0;
      const double value = gpu.epoch_ipc(k.id) / (relative ? k.isolated_ipc : 1);
      least = sum == 0 ? value : std::min(least, value);
      sum += value;
    }
    return objective_ == Objective::least ? least : sum;
  }

  Cycles settle_;
  Cycles measurement_;
  Objective objective_;
  Plan fixed_;
  Members members_;
  std::vector<Plan> plans_;
  std::size_t next_ = 0;
  std::size_t best_ = 0;
  double best_score_ = -1;
  bool measuring_ = false;
  std::uint64_t wake_tag_ = 0;
};

}  // namespace

WM_POLICY(Oracle, {.name = "oracle",
                   .about = "tries every combination of blocks per SM and keeps the best",
                   .paper = "Xu et al. (Warped-Slicer), ISCA 2016, section V.A",
                   .waits = Waits::for_earlier,
                   .needs = {Can::cap_blocks, Can::count_instructions},
                   .parameters = {counts("blocks", "one combination to run, as in 5/3, instead of the search", "V.A"),
                                  cycles("settle", 5'000, {0, 10'000'000}, "wait for a combination to take effect", ""),
                                  cycles("trial", 5'000, {100, 10'000'000}, "length of a measurement", ""),
                                  choice("objective", {{"ipc"}, {"stp"}, {"least"}},
                                         "measure of a combination: the sum of rates, the sum of "
                                         "rates relative to the isolated ones, or the least of these",
                                         "V.A")}})

}  // namespace wm::policy
