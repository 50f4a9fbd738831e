// Watches a run for others: sums up what was where, fills a timeline and says how far the run is where asked for.
#pragma once

#include <cstdint>
#include <functional>

#include "lab/residency.h"
#include "sim/cycle/observer.h"
#include "sim/cycle/timeline.h"

namespace wm::lab {

struct Participant;

// How much of a run is done, from 0 to 1; never less than before.
using OnProgress = std::function<void(double)>;

// Blocks of all launches that take time; 0 for what repeats without end.
std::uint64_t blocks_of(const Participant& participant);

class Watch final : public sim::Observer {
 public:
  // A run that ends after `cycles`, or after so many `blocks`; 0: nobody knows.
  Watch(sim::Timeline* timeline, OnProgress progress, std::uint64_t cycles, std::uint64_t blocks)
      : timeline_(timeline), progress_(std::move(progress)), cycles_(cycles), blocks_(blocks) {}

  void began(const sim::SeenBlock& block, std::uint64_t at, bool resumed) override;
  void left(const sim::SeenBlock& block, std::uint64_t at, sim::Left how) override;
  void quantum(const sim::CycleMachine& machine) override;
  [[nodiscard]] const Residency& residency() const { return residency_; }

 private:
  Residency residency_;
  sim::Timeline* timeline_;
  OnProgress progress_;
  std::uint64_t cycles_;
  std::uint64_t blocks_;
  std::uint64_t done_ = 0;  // blocks
  double told_ = 0;
};

}  // namespace wm::lab
