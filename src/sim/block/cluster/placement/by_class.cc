// By class: every class has GPUs of its own, as many as its part of the expected load, and uses the first with room.
// Requests of one class never wait for another's, and never use what another leaves free.
#include <algorithm>
#include <cmath>

#include "sim/block/cluster/placement.h"

namespace wm::sim {
namespace {

class ByClass final : public Placement {
 public:
  void begin(const GpuPool& gpus, std::span<const Service> services) override {
    double all = 0;
    for (const Service& s : services) all += load(s);
    // Every class has at least one GPU where there are enough; the borders follow from the loads up to each class.
    double sum = 0;
    borders_ = {0};
    for (std::size_t i = 0; i < services.size(); ++i) {
      sum += load(services[i]);
      const auto border = static_cast<std::uint32_t>(std::lround(sum / all * gpus.count()));
      const auto behind = static_cast<std::uint32_t>(services.size() - 1 - i);
      const std::uint32_t high = gpus.count() > behind ? gpus.count() - behind : gpus.count();
      borders_.push_back(std::min(std::max(border, borders_.back() + 1), high));
    }
  }
  std::uint32_t choose(const GpuPool& gpus, std::span<const Service> services, std::uint32_t service) override {
    if (borders_[service] >= borders_[service + 1]) return kNoGpu;
    return gpus.first(services[service].demand, borders_[service], borders_[service + 1]);
  }

 private:
  // GPUs that the class keeps at work.
  static double load(const Service& s) {
    return s.arrivals.rate() * static_cast<double>(s.work.count) * s.demand / kWholeGpu;
  }

  std::vector<std::uint32_t> borders_;  // first GPU of each class, and the end
};

}  // namespace

WM_PLACEMENT(ByClass, "by_class", "GPUs of its own for every class, by its part of the load")

}  // namespace wm::sim
