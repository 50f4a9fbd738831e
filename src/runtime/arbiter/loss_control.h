// How much a program is restricted beside a latency-sensitive one without a goal: as much as possible without costing
// the program more than a part of its rate (`--max-loss`). A rate is launches per second.
#pragma once

#include <cstdint>

#include "runtime/arbiter/decision.h"
#include "runtime/arbiter/limit_gain.h"

namespace wm::runtime {

// `--max-loss`, or its default for the kind of sharing.
[[nodiscard]] double max_loss(const ArbiterOptions& options);
// The same as the part of the time for which gates may be closed, which costs programs about as much of their rate.
[[nodiscard]] std::uint32_t max_loss_percent(const ArbiterOptions& options);

class LossControl {
 public:
  virtual ~LossControl() = default;

  struct Observation {
    double seconds = 0;          // the time
    std::uint64_t launches = 0;  // that the program has made so far
    bool is_restricted = false;  // a latency-sensitive program is active
    Requests requests;           // that latency-sensitive programs have made so far
  };
  // Called before every decision.
  virtual void observe(const Observation& now) = 0;
  [[nodiscard]] virtual Restriction restriction() const = 0;
};

// A restriction that never changes.
class FixedRestriction final : public LossControl {
 public:
  explicit FixedRestriction(Restriction restriction) : restriction_(restriction) {}
  void observe(const Observation&) override {}
  [[nodiscard]] Restriction restriction() const override { return restriction_; }

 private:
  const Restriction restriction_;
};

// A rate by itself is that of a window of so many seconds with so many launches, and of a slower one later on this part
// of the rate before is left: the last window before a latency-sensitive program launches may contain its start, which
// takes a part of the GPU.
inline constexpr double kIsolatedWindow = 0.4, kForgotten = 0.99;
inline constexpr std::uint64_t kFewLaunches = 5;

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

// Isolated processes: short time slices for as long as the loss allows, then the driver's own. Every request of the
// latency-sensitive program costs two switches whatever the slice, so most requests are answered in the phases of short
// slices, while the rest of the time repays the loss.
class SliceBudget final : public LossControl {
 public:
  SliceBudget(double max_loss, std::uint32_t slice_microseconds);
  void observe(const Observation& now) override;
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
