// By class: every class has GPUs of its own, as many as its part of the expected load, and uses the first with room.
// Requests of one class never wait for another's, and never use what another leaves free, unless there are more classes
// than GPUs.
#include <algorithm>
#include <cmath>

#include "sim/block/cluster/placement.h"

namespace wm::sim {
namespace {

class ByClass final : public Placement {
 public:
  void begin(const GpuPool& gpus, std::span<const Service> services) override {
    const auto classes = static_cast<std::uint32_t>(services.size());
    if (gpus.count() < classes) {  // too few: several classes have the same GPU
      for (std::uint32_t i = 0; i < classes; ++i) ranges_.push_back({i % gpus.count(), i % gpus.count() + 1});
      return;
    }
    double all = 0;
    for (const Service& s : services) all += load(s);
    // Every class has at least one GPU; the borders follow from the loads up to each class.
    double sum = 0;
    std::uint32_t begin = 0;
    for (std::uint32_t i = 0; i < classes; ++i) {
      sum += load(services[i]);
      const auto border = static_cast<std::uint32_t>(std::lround(sum / all * gpus.count()));
      const std::uint32_t end = std::min(std::max(border, begin + 1), gpus.count() - (classes - 1 - i));
      ranges_.push_back({begin, end});
      begin = end;
    }
  }
  std::uint32_t choose(const GpuPool& gpus, std::span<const Service> services, std::uint32_t service) override {
    return gpus.first(services[service].demand, ranges_[service].begin, ranges_[service].end);
  }

 private:
  // GPUs that the class keeps at work.
  static double load(const Service& s) {
    return s.arrivals.rate() * static_cast<double>(s.work.count) * s.demand / kWholeGpu;
  }

  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  std::vector<Range> ranges_;  // the GPUs of each class
};

}  // namespace

WM_PLACEMENT(ByClass, "by_class", "GPUs of its own for every class, by its part of the load")

}  // namespace wm::sim
