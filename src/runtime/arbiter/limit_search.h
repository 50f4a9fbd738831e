// Sharing through MPS: the strictest limit of blocks that keeps a program's rate, for as long as limits shorten the
// requests of latency-sensitive programs (limit_gain.h).
//
// A memory-bound kernel needs more blocks per SM than a compute-bound one, so limits are tried, and the rates beside
// the latency-sensitive program compared with each other and with that without a limit. For a part of the time the
// next stricter limit uses up what the loss still allows.
#pragma once

#include <vector>

#include "runtime/arbiter/limit_gain.h"
#include "runtime/arbiter/loss_control.h"

namespace wm::runtime {

class LimitSearch final : public LossControl {
 public:
  explicit LimitSearch(double max_loss);
  void observe(const Observation& now) override;
  [[nodiscard]] Restriction restriction() const override;

 private:
  struct Measured {
    double rate = 0, seconds = -1e9;
  };
  [[nodiscard]] bool is_fresh(std::size_t level) const;
  // The lowest rate that the loss allows: of the isolated rate, where any limit reaches that, else of the best rate at
  // any limit, because the latency-sensitive program takes a part itself. An isolated rate from before the program was
  // warm is no excuse for a loss: the best rate counts too.
  [[nodiscard]] double lowest_rate() const;
  [[nodiscard]] double best_rate() const;
  // The part of the time for the next stricter limit.
  [[nodiscard]] double stricter_part() const;
  [[nodiscard]] bool is_unlimited() const { return level_ == 0 && stricter_part_ == 0; }
  [[nodiscard]] bool is_complete(const Observation& now) const;
  void restart_window(const Observation& now);
  void end_window(double rate, const Requests& requests);
  // One step of the search. False: the level stays.
  bool search(double rate);
  void set_level(std::size_t level);
  // The level for the next window, after one with this rate.
  [[nodiscard]] std::size_t next_level(double rate);

  const double max_loss_;
  std::size_t level_ = 0;    // 0: no limit
  std::size_t search_from_;  // the level after a time without limits
  std::vector<Measured> levels_;
  LimitGain gain_;
  double isolated_rate_ = 0;  // 0: not known
  double now_ = 0, restricted_seconds_ = 0, stricter_part_ = 0;
  RateWindow window_;
  Requests window_requests_;  // until the window began
  bool was_restricted_ = false, is_settling_ = true;
};

}  // namespace wm::runtime
