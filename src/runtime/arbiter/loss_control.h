// How much a program is restricted beside a latency-sensitive one without a goal: as much as possible without costing
// the program more than a part of its rate (`--max-loss`). A rate is launches per second.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/arbiter/decision.h"

namespace wm::runtime {

// `--max-loss`, or its default for the kind of sharing.
[[nodiscard]] double max_loss(const ArbiterOptions& options);
// The same as the part of the time for which gates may be closed, which costs programs about as much of their rate.
[[nodiscard]] std::uint32_t max_loss_percent(const ArbiterOptions& options);

class LossControl {
 public:
  static std::unique_ptr<LossControl> make(const ArbiterOptions& options);
  virtual ~LossControl() = default;

  // Called before every decision with the time, and all launches of the program so far. `is_restricted`: a
  // latency-sensitive program is active.
  virtual void observe(double seconds, std::uint64_t launches, bool is_restricted) = 0;
  [[nodiscard]] virtual Restriction restriction() const = 0;
};

// A restriction that never changes.
class FixedRestriction final : public LossControl {
 public:
  explicit FixedRestriction(Restriction restriction) : restriction_(restriction) {}
  void observe(double, std::uint64_t, bool) override {}
  [[nodiscard]] Restriction restriction() const override { return restriction_; }

 private:
  const Restriction restriction_;
};

// Launches since a time at which the conditions of the program last changed.
class RateWindow {
 public:
  // Begins with the first launch after the restart.
  void observe(double seconds, std::uint64_t launches) {
    if (launches == first_) began_ = seconds;
  }
  void restart(double seconds, std::uint64_t launches) { began_ = seconds, first_ = launches; }
  [[nodiscard]] double length(double seconds) const { return seconds - began_; }
  [[nodiscard]] std::uint64_t count(std::uint64_t launches) const { return launches - first_; }
  [[nodiscard]] double rate(double seconds, std::uint64_t launches) const {
    return length(seconds) > 0 ? static_cast<double>(count(launches)) / length(seconds) : 0;
  }

 private:
  double began_ = 0;
  std::uint64_t first_ = 0;
};

// Sharing through MPS: the strictest limit of blocks that keeps the rate. A memory-bound kernel needs more blocks per
// SM than a compute-bound one, so limits are tried and the rates beside the latency-sensitive program compared. For a
// part of the time the next stricter limit uses up what the loss still allows.
class LimitSearch final : public LossControl {
 public:
  explicit LimitSearch(double max_loss);
  void observe(double seconds, std::uint64_t launches, bool is_restricted) override;
  [[nodiscard]] Restriction restriction() const override;

 private:
  struct Measured {
    double rate = 0, seconds = -1e9;
  };
  [[nodiscard]] bool is_fresh(std::size_t level, double seconds) const;
  // The lowest rate that the loss allows: of the isolated rate, where a limit reaches that, else of the best rate at
  // any limit, because the latency-sensitive program takes a part itself.
  [[nodiscard]] double lowest_rate(double seconds) const;
  [[nodiscard]] double best_rate(double seconds) const;
  // The part of the time for the next stricter limit.
  [[nodiscard]] double stricter_part(double seconds) const;
  // The level for the next window, after one with this rate.
  [[nodiscard]] std::size_t next_level(double rate, double seconds);

  const double max_loss_;
  std::size_t level_;
  std::vector<Measured> levels_;
  double isolated_rate_ = 0;  // 0: not known
  double now_ = 0, stricter_part_ = 0;
  RateWindow window_;
  bool was_restricted_ = false, is_settling_ = true;
};

// Isolated processes: short time slices for as long as the loss allows, then the driver's own. Every request of the
// latency-sensitive program costs two switches whatever the slice, so most requests are answered in the phases of short
// slices, while the rest of the time repays the loss.
class SliceBudget final : public LossControl {
 public:
  SliceBudget(double max_loss, std::uint32_t slice_microseconds);
  void observe(double seconds, std::uint64_t launches, bool is_restricted) override;
  [[nodiscard]] Restriction restriction() const override;

 private:
  const double max_loss_;
  const std::uint32_t slice_microseconds_;
  double full_rate_ = 0;  // by itself, or, until that is known, with the driver's own slices; 0: not known
  bool has_isolated_rate_ = false;
  double budget_ = 0;  // seconds of the program that may still be lost
  bool is_short_ = false, was_restricted_ = false;
  RateWindow window_;
};

}  // namespace wm::runtime
