#include "runtime/arbiter/loss_control.h"

#include <algorithm>
#include <cmath>

namespace wm::runtime {

namespace {

constexpr double kBudgetWindow = 0.1;
constexpr double kBudgetToBegin = 0.1;  // seconds that are saved before slices become short
constexpr double kLargestBudget = 0.5, kLargestDebt = 2;
// The part of the bound that is used: the rate by itself is known to about 1%, and at a bound of 30% programs
// lost 30.6% on an H200 where all of it was.
constexpr double kAim = 0.95;

}  // namespace

double max_loss(const ArbiterOptions& options) {
  return options.max_loss.value_or(options.sharing == Sharing::mps ? 0.08 : 0.3);
}

std::uint32_t max_loss_percent(const ArbiterOptions& options) {
  return static_cast<std::uint32_t>(std::lround(100 * max_loss(options)));
}

SliceBudget::SliceBudget(double max_loss, std::uint32_t slice_microseconds)
    : max_loss_(max_loss), slice_microseconds_(slice_microseconds) {}

Restriction SliceBudget::restriction() const { return {100, is_short_ ? slice_microseconds_ : 0}; }

void SliceBudget::observe(const Observation& now) {
  const auto& [seconds, launches, is_restricted, requests] = now;
  if (!is_restricted || full_rate_ == 0) window_.observe(seconds, launches);
  if (is_restricted != was_restricted_) {
    was_restricted_ = is_restricted;
    budget_ = kBudgetToBegin;
    is_short_ = is_restricted && full_rate_ > 0;
    return window_.restart(seconds, launches);
  }
  const double length = window_.length(seconds);
  const double count = static_cast<double>(window_.count(launches));
  if (!is_restricted || full_rate_ == 0) {
    if (length < kIsolatedWindow || window_.count(launches) < kFewLaunches) return;
    const double known = has_isolated_rate_ || !is_restricted ? full_rate_ : 0;
    full_rate_ = std::max(count / length, kForgotten * known);
    has_isolated_rate_ |= !is_restricted;
    return window_.restart(seconds, launches);
  }
  if (length < kBudgetWindow) return;
  budget_ += kAim * max_loss_ * length - (length - count / full_rate_);
  budget_ = std::clamp(budget_, -kLargestDebt, kLargestBudget);
  is_short_ = budget_ > (is_short_ ? 0 : kBudgetToBegin);
  window_.restart(seconds, launches);
}

}  // namespace wm::runtime
