// Dense matrix-vector products in double, the reference of the linear-algebra benchmarks.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace wm::zoo {

// A x, with A stored by rows.
inline std::vector<double> times(const std::vector<float>& a, const std::vector<double>& x) {
  std::vector<double> y(a.size() / x.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) y[i] += a[i * x.size() + j] * x[j];
  return y;
}

// transpose(A) x, with A stored by rows.
inline std::vector<double> transposed_times(const std::vector<float>& a, const std::vector<double>& x) {
  std::vector<double> y(a.size() / x.size());
  for (std::size_t i = 0; i < x.size(); ++i)
    for (std::size_t j = 0; j < y.size(); ++j) y[j] += a[i * y.size() + j] * x[i];
  return y;
}

inline std::vector<double> widen(const std::vector<float>& x) { return {x.begin(), x.end()}; }
inline std::vector<float> narrow(const std::vector<double>& x) { return {x.begin(), x.end()}; }

// The relative error to allow a float sum of n positive terms of like size. Its roundings are half an ulp of the
// running sum each and as often up as down, so they add like a random walk to about sqrt(n) 2^-25; eight times that is
// never reached by chance, while one term dropped (1 / n) shows up to n = 10^4.
inline double sum_tolerance(std::size_t n) { return 8 * std::sqrt(static_cast<double>(n)) * 0x1p-25; }

}  // namespace wm::zoo
