// The papers' metrics of sharing, from the rates or times of kernels in a co-run and in isolation.
//
// Times and rates may be in any unit, as long as both of a kernel are in the same. Definitions:
//   Eyerman and Eeckhout, IEEE Micro 2008 (NTT, ANTT, STP, fairness), as ISCA 2014 section 4.1 uses them;
//   accelOS, CGO 2016 section 7.4 (unfairness, overlap); ISCA 2017 section 4 (QoSreach, overshoot);
//   SMQoS, Parallel Computing 2022 sections 5 and 6 (violations, NPM, NTP).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace wm::gpu {

// The progress of one kernel, or application, of a workload relative to its isolated run. From times it is
// isolated/shared; from rates, shared/isolated.
struct Progress {
  double normalized = 0;  // 1: as fast as in isolation

  static Progress of_times(double isolated, double shared) { return {shared > 0 ? isolated / shared : 0}; }
  static Progress of_rates(double isolated, double shared) { return {isolated > 0 ? shared / isolated : 0}; }

  // Normalized turnaround time, the slowdown: infinite without progress.
  [[nodiscard]] double ntt() const;
};

double antt(std::span<const Progress> all);       // mean slowdown
double worst_ntt(std::span<const Progress> all);  // largest slowdown
double stp(std::span<const Progress> all);        // sum of normalized progress
double least(std::span<const Progress> all);      // Warped-Slicer's minimum speedup (figure 9a)
// Least progress over largest: 1 if all are equal, 0 if one kernel starved.
double fairness(std::span<const Progress> all);
// accelOS: largest slowdown over smallest, 1 or more; infinite where a kernel starved.
double unfairness(std::span<const Progress> all);
// The unfairness of ideal processor sharing, where programs of these isolated times begin together and each of the n
// that have not ended progresses at 1/n of its isolated rate: a longer program is slowed down less, so that it is above
// 1 unless all times are equal. 1 where there are none; times must be above 0.
double processor_sharing_unfairness(std::span<const double> isolated);

// When an execution ran, for overlap.
struct Interval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};
// accelOS: the time in which all executions run, over the time in which at least one does. 0 when nothing runs.
double overlap(std::span<const Interval> all);

// A kernel with a goal: its rate and its goal.
struct Goal {
  double reached = 0;
  double wanted = 0;

  [[nodiscard]] bool met() const { return reached >= wanted; }
};
// The part of the cases in which every goal was met; nothing where there are no cases.
std::optional<double> qos_reach(std::span<const Goal> cases);
// By how much those that met their goal are above it, on average (ISCA 2017 figure 9: 0.028 is 2.8%).
std::optional<double> overshoot(std::span<const Goal> cases);
// The cases that missed, by how much, as counts: up to edges[0], up to edges[1], …, and above the last (ISCA 2017
// figure 5). Edges rise.
std::vector<std::size_t> violations(std::span<const Goal> cases, std::span<const double> edges);

// SMQoS on real hardware, from durations: NPM = T_isolated / (goal x T_shared), above 1 when the goal is met;
// NTP = T_isolated / T_shared.
double npm(double isolated, double shared, double goal);
double ntp(double isolated, double shared);

// Energy of a run.
struct Energy {
  double joules = 0;
  double seconds = 0;
  double instructions = 0;  // thread instructions

  [[nodiscard]] double watts() const { return seconds > 0 ? joules / seconds : 0; }
  [[nodiscard]] double instructions_per_joule() const { return joules > 0 ? instructions / joules : 0; }
  // Instructions per second and watt: the metric of ISCA 2017, figure 14. The same number as instructions per joule.
  [[nodiscard]] double instructions_per_watt_second() const { return instructions_per_joule(); }
  [[nodiscard]] double energy_delay() const { return joules * seconds; }
};

// Mean of ratios, as the papers average over workloads. All must be above 0.
double geometric_mean(std::span<const double> values);

}  // namespace wm::gpu
