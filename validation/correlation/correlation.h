// Simulated against measured cycles over the zoo: rows, errors and the two figures that sum them up.
//
// A point is one kernel of one benchmark at one size: the mean over the launches that were both measured and simulated.
// Kernels shorter than a threshold are left out, since the launch overhead would dominate them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.h"

namespace wm::validation {

struct LaunchKey {
  std::string benchmark;
  std::string size;
  std::uint32_t launch = 0;
  auto operator<=>(const LaunchKey&) const = default;
};
struct LaunchCycles {
  std::string kernel;
  double cycles = 0;
  double instructions = 0;  // executed on hardware, issued in the simulator
};
using LaunchTable = std::map<LaunchKey, LaunchCycles>;

// A CSV with at least the columns benchmark, size, launch, kernel, cycles and instructions; lines with # are comments.
Result<LaunchTable> read_launches(const std::string& file);
// One name a line.
Result<std::set<std::string>> read_names(const std::string& file);

struct Point {
  std::string benchmark;
  std::string size;
  std::string kernel;
  std::uint32_t launches = 0;
  double measured = 0;  // cycles of a launch, mean
  double simulated = 0;
  double measured_instructions = 0;
  double simulated_instructions = 0;
  bool held_out = false;

  [[nodiscard]] double error() const { return simulated / measured - 1; }
};

// Every kernel that both tables have and whose measured mean is at least `threshold` cycles.
std::vector<Point> points(const LaunchTable& measured, const LaunchTable& simulated,
                          const std::set<std::string>& held_out, double threshold);

struct Agreement {
  std::size_t points = 0;
  double mean_absolute_error = 0;  // mean of |simulated / measured - 1|
  double log_correlation = 0;      // Pearson's, of the logarithms
};
Agreement agreement(const std::vector<Point>& points);

inline constexpr double kThresholdCycles = 19800;  // 10 microseconds at 1.98 GHz

}  // namespace wm::validation
