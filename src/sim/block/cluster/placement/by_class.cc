// By class: every class has GPUs of its own, as many as its part of the expected load, and uses the first with room.
// Requests of one class never wait for another's, and never use what another leaves free, unless there are more classes
// than GPUs.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "sim/block/cluster/placement.h"

namespace wm::sim {
namespace {

class ByClass final : public Placement {
 public:
  void begin(const GpuPool& gpus, std::span<const Service> services) override {
    std::vector<std::string_view> names;
    std::vector<double> loads;
    for (const Service& s : services) {
      const auto found = std::find(names.begin(), names.end(), s.name);
      class_of_.push_back(static_cast<std::uint32_t>(found - names.begin()));
      if (found == names.end()) {
        names.push_back(s.name);
        loads.push_back(0);
      }
      loads[class_of_.back()] += load(s);
    }
    divide(gpus.count(), loads);
  }
  std::uint32_t choose(const GpuPool& gpus, std::span<const Service> services, std::uint32_t service) override {
    const Range& range = ranges_[class_of_[service]];
    return gpus.first(services[service].demand, range.begin, range.end);
  }

 private:
  void divide(std::uint32_t gpus, const std::vector<double>& loads) {
    const auto classes = static_cast<std::uint32_t>(loads.size());
    if (gpus < classes) {  // too few: several classes have the same GPU
      for (std::uint32_t i = 0; i < classes; ++i) ranges_.push_back({i % gpus, i % gpus + 1});
      return;
    }
    const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
    // Every class has at least one GPU; the borders follow from the loads up to each class.
    double sum = 0;
    std::uint32_t begin = 0;
    for (std::uint32_t i = 0; i < classes; ++i) {
      sum += loads[i];
      const auto border = static_cast<std::uint32_t>(std::lround(sum / all * gpus));
      const std::uint32_t end = std::min(std::max(border, begin + 1), gpus - (classes - 1 - i));
      ranges_.push_back({begin, end});
      begin = end;
    }
  }
  // GPUs that the class keeps at work. The rate of a record that ends early is high, but no more requests than it has
  // are served at a time.
  static double load(const Service& s) {
    const double served = s.arrivals.rate() * static_cast<double>(s.work.count);
    return std::min(served, s.arrivals.expected_before(kNever)) * s.demand / kWholeGpu;
  }

  struct Range {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };
  std::vector<std::uint32_t> class_of_;  // by service: services of one name are a class
  std::vector<Range> ranges_;            // the GPUs of each class
};

}  // namespace

WM_PLACEMENT(ByClass, "by_class", "GPUs of its own for every class, by its part of the load")

}  // namespace wm::sim
