// The part of a run that its rates are computed over: from a cycle on (a warm-up), from a number of launches on (a
// region of interest), or all of it. The run itself is the same with every region.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "sim/cycle/machine.h"

namespace wm::lab {

struct RegionStart {
  std::uint64_t cycles = 0;    // the region begins at this cycle
  std::uint32_t launches = 0;  // and when every client has completed so many launches

  [[nodiscard]] bool given() const { return cycles != 0 || launches != 0; }
  friend bool operator==(const RegionStart&, const RegionStart&) = default;
};

class MeasuredRegion {
 public:
  explicit MeasuredRegion(RegionStart start) : start_(start), begun_(!start.given()) {}

  // To be called after every quantum. The counters are read once, at the first quantum of the region.
  void look(const sim::CycleMachine& machine);
  // The counters within the region of a client that arrived at `arrival`, for its `totals` at the end of the run; an
  // error where it ended before the region.
  [[nodiscard]] Result<sim::ClientTotals> within(std::uint32_t client, Cycles arrival, sim::ClientTotals totals) const;

  [[nodiscard]] std::uint64_t first_cycle() const { return first_cycle_; }
  [[nodiscard]] std::uint64_t gated_before() const { return gated_before_; }

 private:
  RegionStart start_;
  bool begun_;
  std::uint64_t first_cycle_ = 0;
  std::uint64_t gated_before_ = 0;
  std::vector<sim::ClientTotals> before_;  // by client, when the region began
};

}  // namespace wm::lab
