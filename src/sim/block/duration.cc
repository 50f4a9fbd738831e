#include "sim/block/duration.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <vector>

namespace wm::sim {
namespace {

constexpr std::size_t kQuantiles = std::size_t{1} << DurationShape::kBits;

// The middle of each of a table's equal parts of probability.
double middle(std::size_t i, std::size_t parts = kQuantiles) {
  return (static_cast<double>(i) + 0.5) / static_cast<double>(parts);
}

// The inverse of the normal distribution's integral, by bisection: exact enough and the same on every host.
double normal_quantile(double p) {
  double low = -8;
  double high = 8;
  for (int i = 0; i < 80; ++i) {
    const double x = (low + high) / 2;
    (0.5 * std::erfc(-x / std::sqrt(2.0)) < p ? low : high) = x;
  }
  return (low + high) / 2;
}

}  // namespace

DurationShape::DurationShape() : quantiles_(kQuantiles, 65536) {}

DurationShape::DurationShape(const std::vector<double>& relative)
    : shift_(64 - std::countr_zero(relative.size())), fixed_(false) {
  const double mean = std::accumulate(relative.begin(), relative.end(), 0.0) / static_cast<double>(relative.size());
  for (const double duration : relative)
    quantiles_.push_back(static_cast<std::uint32_t>(std::llround(duration / mean * 65536)));
}

DurationShape DurationShape::uniform(double variation) {
  if (variation <= 0) return {};
  std::vector<double> table(kQuantiles);
  for (std::size_t i = 0; i < kQuantiles; ++i) table[i] = 1 + variation * (2 * middle(i) - 1);
  return DurationShape(table);
}

DurationShape DurationShape::lognormal(double variation) {
  if (variation <= 0) return {};
  const double sigma = std::sqrt(std::log1p(variation * variation));
  std::vector<double> table(kQuantiles);
  for (std::size_t i = 0; i < kQuantiles; ++i) table[i] = std::exp(sigma * normal_quantile(middle(i)));
  return DurationShape(table);
}

DurationShape DurationShape::from_samples(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  // The sum of durations near the largest number would be none.
  const double longest = sorted.back();
  if (longest > 1e290)
    for (double& duration : sorted) duration /= longest;
  // Several entries for each of many samples, so that all of them are nearly equally frequent.
  constexpr std::size_t kEntries = 8;
  const std::size_t wanted = sorted.size() <= kQuantiles ? kQuantiles : std::bit_ceil(sorted.size() * kEntries);
  std::vector<double> table(std::min(wanted, std::size_t{1} << kMaxBits));
  for (std::size_t i = 0; i < table.size(); ++i)
    table[i] = sorted[static_cast<std::size_t>(middle(i, table.size()) * static_cast<double>(sorted.size()))];
  return DurationShape(table);
}

}  // namespace wm::sim
