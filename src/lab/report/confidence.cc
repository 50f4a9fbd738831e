#include "lab/report/confidence.h"

#include <array>
#include <cmath>
#include <numeric>

namespace wm::lab {
namespace {

// The 0.975 quantile of Student's t distribution. Beyond the table the first terms of its expansion at the normal
// quantile (Abramowitz and Stegun 26.7.5) are exact to four digits.
double t_quantile(std::size_t degrees) {
  constexpr std::array kTable{12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281,
                              2.2010,  2.1788, 2.1604, 2.1448, 2.1314, 2.1199, 2.1098, 2.1009, 2.0930, 2.0860};
  if (degrees <= kTable.size()) return kTable[degrees - 1];
  constexpr double z = 1.959964, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
  const auto n = static_cast<double>(degrees);
  return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n);
}

}  // namespace

Estimate estimate(const std::vector<double>& samples) {
  const auto n = static_cast<double>(samples.size());
  Estimate e{std::accumulate(samples.begin(), samples.end(), 0.0) / n, 0, samples.size()};
  if (samples.size() < 2) return e;
  double squares = 0;
  for (const double v : samples) squares += (v - e.mean) * (v - e.mean);
  e.half_width = t_quantile(samples.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return e;
}

std::optional<Estimate> estimate(const Expression& expression, const RecordIndex& records,
                                 const std::vector<Condition>& given) {
  std::vector<double> samples;
  const auto add = [&](const std::vector<Condition>& conditions) {
    const auto value = expression.evaluate(records, conditions);
    if (value && std::isfinite(*value)) samples.push_back(*value);
  };
  if (records.seeds().empty()) add(given);
  for (const std::string& seed : records.seeds()) {
    std::vector<Condition> of_seed = given;
    of_seed.push_back({"seed", Condition::Sign::equal, seed});
    add(of_seed);
  }
  if (samples.empty()) return std::nullopt;
  return estimate(samples);
}

}  // namespace wm::lab
