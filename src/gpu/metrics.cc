#include "gpu/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wm::gpu {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double largest(std::span<const Progress> all) {
  double max_normalized = 0;
  for (const Progress& p : all) max_normalized = std::max(max_normalized, p.normalized);
  return max_normalized;
}

}  // namespace

double Progress::ntt() const { return normalized > 0 ? 1 / normalized : kInfinity; }

double antt(std::span<const Progress> all) {
  double sum = 0;
  for (const Progress& p : all) sum += p.ntt();
  return all.empty() ? 0 : sum / static_cast<double>(all.size());
}

double worst_ntt(std::span<const Progress> all) { return all.empty() ? 0 : Progress{least(all)}.ntt(); }

double stp(std::span<const Progress> all) {
  double sum = 0;
  for (const Progress& p : all) sum += p.normalized;
  return sum;
}

double least(std::span<const Progress> all) {
  double low = all.empty() ? 0 : kInfinity;
  for (const Progress& p : all) low = std::min(low, p.normalized);
  return low;
}

double fairness(std::span<const Progress> all) {
  const double high = largest(all);
  return high > 0 ? least(all) / high : 0;
}

double unfairness(std::span<const Progress> all) {
  const double fair = fairness(all);
  return fair > 0 ? 1 / fair : kInfinity;
}

double processor_sharing_unfairness(std::span<const double> isolated) {
  std::vector<double> times(isolated.begin(), isolated.end());
  std::sort(times.begin(), times.end());
  std::vector<Progress> all;
  double now = 0, served = 0;  // every program that has not ended has been served so much
  for (std::size_t ended = 0; ended < times.size(); ++ended) {
    now += (times[ended] - served) * static_cast<double>(times.size() - ended);
    served = times[ended];
    all.push_back(Progress::of_times(times[ended], now));
  }
  return all.empty() ? 1 : unfairness(all);
}

double overlap(std::span<const Interval> all) {
  struct Edge {
    std::uint64_t at;
    int change;
  };
  std::vector<Edge> edges;
  for (const Interval& i : all) {
    edges.push_back({i.begin, 1});
    edges.push_back({i.end, -1});
  }
  // Ends first, so that executions that only touch do not overlap.
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return a.at != b.at ? a.at < b.at : a.change < b.change; });
  std::uint64_t any = 0;
  std::uint64_t together = 0;
  std::uint64_t since = 0;
  int running = 0;
  for (const Edge& e : edges) {
    if (running > 0) any += e.at - since;
    if (running == static_cast<int>(all.size())) together += e.at - since;
    running += e.change;
    since = e.at;
  }
  return any == 0 ? 0 : static_cast<double>(together) / static_cast<double>(any);
}

std::optional<double> qos_reach(std::span<const Goal> cases) {
  if (cases.empty()) return std::nullopt;
  const auto met = std::count_if(cases.begin(), cases.end(), [](const Goal& g) { return g.met(); });
  return static_cast<double>(met) / static_cast<double>(cases.size());
}

std::optional<double> overshoot(std::span<const Goal> cases) {
  double sum = 0;
  std::size_t met = 0;
  for (const Goal& g : cases) {
    if (!g.met() || g.wanted <= 0) continue;
    sum += g.reached / g.wanted - 1;
    ++met;
  }
  if (met == 0) return std::nullopt;
  return sum / static_cast<double>(met);
}

std::vector<std::size_t> violations(std::span<const Goal> cases, std::span<const double> edges) {
  std::vector<std::size_t> counts(edges.size() + 1, 0);
  for (const Goal& g : cases) {
    if (g.met() || g.wanted <= 0) continue;
    // Compared as amounts, not as ratios: 99 of 100 misses by exactly 1%.
    std::size_t bin = 0;
    while (bin < edges.size() && g.wanted - g.reached > edges[bin] * g.wanted) ++bin;
    ++counts[bin];
  }
  return counts;
}

double npm(double isolated, double shared, double goal) {
  return shared > 0 && goal > 0 ? isolated / (goal * shared) : 0;
}

double ntp(double isolated, double shared) { return Progress::of_times(isolated, shared).normalized; }

double geometric_mean(std::span<const double> values) {
  double logs = 0;
  for (const double v : values) logs += std::log(v);
  return values.empty() ? 0 : std::exp(logs / static_cast<double>(values.size()));
}

}  // namespace wm::gpu
