// How far the simulated launches of the corpus are from the measured ones: errors per case, and figures that sum up
// many.
//
// Launch 0 of a case is cold: nothing of its data is in L2. Launch 1 follows it and is warm. Every third kernel, chosen
// by a hash of its name, is set aside: no part of the model is fitted to it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lab/validation/launch_rows.h"

namespace wm::lab {

// Figures below these are not compared: the profiler's own traffic is as large.
inline constexpr double kNoiseSectors = 200;
inline constexpr double kNoiseBytes = 20'000;

// Whether a case's kernel (the name's part before the first dot) is set aside.
bool is_set_aside(std::string_view case_name);

// One figure of a launch on both sides.
struct Compared {
  double measured = 0;
  double simulated = 0;
  [[nodiscard]] double error() const { return simulated / measured - 1; }
};

struct LaunchAccuracy {
  Compared cycles;
  std::optional<Compared> instructions;  // executed, and issued in the simulator
  std::optional<Compared> l2_sectors;    // between L1 and L2
  std::optional<Compared> dram_read;     // bytes
};

struct CaseAccuracy {
  std::string name;
  bool set_aside = false;
  LaunchAccuracy cold;
  std::optional<LaunchAccuracy> warm;
};

// The cases that both have, in the order of their names.
std::vector<CaseAccuracy> compare(const LaunchRows& measured, const LaunchRows& simulated);

// The accuracy of a number of launches.
struct AccuracySummary {
  std::size_t launches = 0;
  double mean_absolute_error = 0;  // errors of the cycles
  double log_correlation = 0;      // Pearson's, of the logarithms of the cycles
  std::size_t beyond_40_percent = 0;
  std::string largest_name;  // the case with the largest error
  double largest_error = 0;
  double instructions_within_5_percent = 0;  // shares of the launches that have the figure
  double instructions_within_15_percent = 0;
  double l2_within_15_percent = 0;
  double dram_within_15_percent = 0;
};

enum class Part { fitted, set_aside, all };
enum class Temperature { cold, warm };
AccuracySummary summarize(const std::vector<CaseAccuracy>& cases, Part part, Temperature temperature);

}  // namespace wm::lab
