#include "sim/block/duration.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace wm::sim {
namespace {

// The middle of each of the table's equal parts of probability.
double middle(std::size_t i) { return (static_cast<double>(i) + 0.5) / static_cast<double>(DurationShape::kQuantiles); }

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

DurationShape::DurationShape() { quantiles_.fill(65536); }

DurationShape::DurationShape(const std::array<double, kQuantiles>& relative) : fixed_(false) {
  const double mean = std::accumulate(relative.begin(), relative.end(), 0.0) / kQuantiles;
  for (std::size_t i = 0; i < kQuantiles; ++i)
    quantiles_[i] = static_cast<std::uint32_t>(std::llround(relative[i] / mean * 65536));
}

DurationShape DurationShape::uniform(double variation) {
  if (variation <= 0) return {};
  std::array<double, kQuantiles> table{};
  for (std::size_t i = 0; i < kQuantiles; ++i) table[i] = 1 + variation * (2 * middle(i) - 1);
  return DurationShape(table);
}

DurationShape DurationShape::lognormal(double variation) {
  if (variation <= 0) return {};
  const double sigma = std::sqrt(std::log1p(variation * variation));
  std::array<double, kQuantiles> table{};
  for (std::size_t i = 0; i < kQuantiles; ++i) table[i] = std::exp(sigma * normal_quantile(middle(i)));
  return DurationShape(table);
}

DurationShape DurationShape::from_samples(std::span<const double> samples) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  std::array<double, kQuantiles> table{};
  for (std::size_t i = 0; i < kQuantiles; ++i)
    table[i] = sorted[static_cast<std::size_t>(middle(i) * static_cast<double>(sorted.size()))];
  return DurationShape(table);
}

}  // namespace wm::sim
