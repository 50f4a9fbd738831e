#include "runtime/arbiter/loss_control.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace wm::runtime {

namespace {

// Percent of the blocks that fit on an SM, strictest last.
constexpr std::array<std::uint32_t, 6> kTriedOccupancies{75, 62, 50, 38, 25, 12};
constexpr std::size_t kFirstLevel = 2;
constexpr double kSettleSeconds = 0.1;  // launches from before a change are still on the device
constexpr double kWindowSeconds = 0.6, kLongestWindow = 4;
constexpr double kFreshSeconds = 20;  // a rate at another level is believed for this time

constexpr double kPeriod = 0.3;  // two limits alternate in it; two of them are a window
constexpr double kSafety = 0.8;  // the part of the allowed loss that is used
constexpr double kIsolatedWindow = 0.4;
constexpr double kNoise = 0.02;  // the ratio of two windows may be this much too low
constexpr std::uint64_t kFewLaunches = 5;
constexpr double kForgotten = 0.9;  // a part of an isolated rate that a slower window leaves

constexpr double kBudgetWindow = 0.1;
constexpr double kBudgetToBegin = 0.1;  // seconds that are saved before slices become short
constexpr double kLargestBudget = 0.5, kLargestDebt = 2;

}  // namespace

double max_loss(const ArbiterOptions& options) {
  return options.max_loss.value_or(options.sharing == Sharing::mps ? 0.08 : 0.3);
}

std::uint32_t max_loss_percent(const ArbiterOptions& options) {
  return static_cast<std::uint32_t>(std::lround(100 * max_loss(options)));
}

std::unique_ptr<LossControl> LossControl::make(const ArbiterOptions& options) {
  const double bound = max_loss(options);
  if (options.sharing == Sharing::isolated) {
    if (bound < 1) return std::make_unique<SliceBudget>(bound, options.slice_microseconds);
    return std::make_unique<FixedRestriction>(Restriction{100, options.slice_microseconds});
  }
  if (!options.headroom_percent) return std::make_unique<LimitSearch>(bound);
  return std::make_unique<FixedRestriction>(Restriction{100 - std::min(*options.headroom_percent, 99U), 0});
}

LimitSearch::LimitSearch(double max_loss)
    : max_loss_(max_loss), level_(kFirstLevel), levels_(kTriedOccupancies.size()) {}

Restriction LimitSearch::restriction() const {
  const bool is_stricter = std::fmod(now_, kPeriod) < stricter_part_ * kPeriod;
  return {kTriedOccupancies[is_stricter ? level_ + 1 : level_], 0};
}

bool LimitSearch::is_fresh(std::size_t level, double seconds) const {
  return level < levels_.size() && seconds - levels_[level].seconds < kFreshSeconds;
}

double LimitSearch::best_rate(double seconds) const {
  double best = 0;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (is_fresh(i, seconds)) best = std::max(best, levels_[i].rate);
  }
  return best;
}

double LimitSearch::lowest_rate(double seconds) const {
  const double best = best_rate(seconds), of_isolated = (1 - max_loss_) * isolated_rate_;
  return of_isolated > 0 && best >= of_isolated ? of_isolated : (1 - max_loss_) * best;
}

double LimitSearch::stricter_part(double seconds) const {
  const std::size_t stricter = level_ + 1;
  if (!is_fresh(level_, seconds) || !is_fresh(stricter, seconds)) return 0;
  const double difference = levels_[level_].rate - levels_[stricter].rate;
  const double to_spare = levels_[level_].rate - lowest_rate(seconds);
  return difference > 0 ? std::clamp(kSafety * to_spare / difference, 0.0, 1.0) : 0;
}

void LimitSearch::observe(double seconds, std::uint64_t launches, bool is_restricted) {
  now_ = seconds;
  window_.observe(seconds, launches);
  if (is_restricted != was_restricted_) {
    was_restricted_ = is_restricted;
    is_settling_ = true;
    stricter_part_ = 0;
    return window_.restart(seconds, launches);
  }
  if (is_settling_) {
    if (window_.length(seconds) < kSettleSeconds) return;
    is_settling_ = false;
    return window_.restart(seconds, launches);
  }
  const double rate = window_.rate(seconds, launches);
  if (!is_restricted) {
    if (window_.length(seconds) < kIsolatedWindow || window_.count(launches) < kFewLaunches) return;
    isolated_rate_ = std::max(rate, kForgotten * isolated_rate_);
    return window_.restart(seconds, launches);
  }
  // So many launches that one more or less is half of the loss that has to be seen.
  const auto enough = static_cast<std::uint64_t>(2 / std::max(max_loss_, 0.01));
  if (window_.length(seconds) < kWindowSeconds ||
      (window_.count(launches) < enough && window_.length(seconds) < kLongestWindow))
    return;
  window_.restart(seconds, launches);
  if (stricter_part_ > 0 && is_fresh(level_ + 1, seconds)) {
    if (rate < lowest_rate(seconds)) stricter_part_ *= kSafety;
    return;
  }
  const std::size_t next = next_level(rate, seconds);
  is_settling_ = next != level_;
  level_ = next;
  stricter_part_ = is_settling_ ? 0 : stricter_part(seconds);
}

std::size_t LimitSearch::next_level(double rate, double seconds) {
  levels_[level_] = {rate, seconds};
  const double best = best_rate(seconds), lowest = lowest_rate(seconds);
  if (rate < lowest) {
    if (level_ > 0) return level_ - 1;
    // Even the loosest limit is slow now: the other rates are of work that has ended.
    for (std::size_t i = 1; i < levels_.size(); ++i) levels_[i] = {};
    return level_;
  }
  // A looser limit is tried once to see whether the limits or the latency-sensitive program itself take the rest.
  const bool is_below_isolated = best < (1 - max_loss_) * (1 - kNoise) * isolated_rate_;
  if (level_ > 0 && is_below_isolated && !is_fresh(level_ - 1, seconds)) return level_ - 1;
  const std::size_t stricter = level_ + 1;
  if (stricter == levels_.size()) return level_;
  return !is_fresh(stricter, seconds) || levels_[stricter].rate >= lowest ? stricter : level_;
}

SliceBudget::SliceBudget(double max_loss, std::uint32_t slice_microseconds)
    : max_loss_(max_loss), slice_microseconds_(slice_microseconds) {}

Restriction SliceBudget::restriction() const { return {100, is_short_ ? slice_microseconds_ : 0}; }

void SliceBudget::observe(double seconds, std::uint64_t launches, bool is_restricted) {
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
  budget_ += max_loss_ * length - (length - count / full_rate_);
  budget_ = std::clamp(budget_, -kLargestDebt, kLargestBudget);
  is_short_ = budget_ > (is_short_ ? 0 : kBudgetToBegin);
  window_.restart(seconds, launches);
}

}  // namespace wm::runtime
