// Observes a run: sums up the residency of the SMs, and where requested fills a timeline and reports progress.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "lab/run/measured_region.h"
#include "lab/run/residency.h"
#include "lab/run/starvation.h"
#include "sim/cycle/observer.h"
#include "sim/cycle/timeline.h"

namespace wm::lab {

// Receives the fraction of a run that is done, from 0 to 1, never decreasing.
using OnProgress = std::function<void(double)>;

class Watch final : public sim::Observer {
 public:
  // The run ends after `cycles`, or after `blocks` have finished; 0: not known.
  Watch(sim::Timeline* timeline, OnProgress progress, std::uint64_t cycles, std::uint64_t blocks)
      : starvation_(cycles), timeline_(timeline), progress_(std::move(progress)), cycles_(cycles), blocks_(blocks) {}

  void began(const sim::SeenBlock& block, std::uint64_t at, bool resumed) override;
  void left(const sim::SeenBlock& block, std::uint64_t at, sim::Left how) override;
  void quantum(const sim::CycleMachine& machine) override;
  [[nodiscard]] const Residency& residency() const { return residency_; }
  [[nodiscard]] const Starvation& starvation() const { return starvation_; }
  // The region begins while the run is observed; it must outlive the run.
  void measure(MeasuredRegion& region) { region_ = &region; }

 private:
  Residency residency_;
  Starvation starvation_;
  MeasuredRegion* region_ = nullptr;
  sim::Timeline* timeline_;
  OnProgress progress_;
  std::uint64_t cycles_;
  std::uint64_t blocks_;
  std::uint64_t done_ = 0;  // blocks
  double reported_ = 0;
  std::chrono::steady_clock::time_point reported_at_ = std::chrono::steady_clock::now();
};

}  // namespace wm::lab
