#include "runtime/arbiter/limit_search.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace wm::runtime {

namespace {

// Percent of the blocks that fit on an SM, strictest last.
constexpr std::array<std::uint32_t, 7> kTriedOccupancies{100, 75, 62, 50, 38, 25, 12};
constexpr std::size_t kFirstLimit = 3;
constexpr double kSettleSeconds = 0.1;  // launches from before a change are still on the device
constexpr double kWindowSeconds = 0.6, kLongestWindow = 4;
constexpr double kFreshSeconds = 20;  // a rate at another level is believed for this time

constexpr double kPeriod = 0.3;  // two limits alternate in it; two of them are a window
constexpr double kSafety = 0.8;  // the part of the allowed loss that is used

}  // namespace

LimitSearch::LimitSearch(double max_loss)
    : max_loss_(max_loss), search_from_(kFirstLimit), levels_(kTriedOccupancies.size()) {}

Restriction LimitSearch::restriction() const {
  const bool is_stricter = std::fmod(now_, kPeriod) < stricter_part_ * kPeriod;
  Restriction restriction{kTriedOccupancies[is_stricter ? level_ + 1 : level_], 0};
  restriction.has_no_gain = is_unlimited() && gain_.has_none();
  return restriction;
}

bool LimitSearch::is_fresh(std::size_t level) const {
  if (level >= levels_.size()) return false;
  // The rate without a limit is the reference until it is measured again.
  if (level == 0 && levels_[0].rate > 0 && !gain_.is_due(restricted_seconds_)) return true;
  return now_ - levels_[level].seconds < kFreshSeconds;
}

double LimitSearch::best_rate() const {
  double best = 0;
  for (std::size_t i = 0; i < levels_.size(); ++i) {
    if (is_fresh(i)) best = std::max(best, levels_[i].rate);
  }
  return best;
}

double LimitSearch::lowest_rate() const {
  const double of_best = (1 - max_loss_) * best_rate(), of_isolated = (1 - max_loss_) * isolated_rate_;
  return best_rate() >= of_isolated ? std::max(of_isolated, of_best) : of_best;
}

double LimitSearch::stricter_part() const {
  const std::size_t stricter = level_ + 1;
  if (!is_fresh(level_) || !is_fresh(stricter)) return 0;
  const double difference = levels_[level_].rate - levels_[stricter].rate;
  const double to_spare = levels_[level_].rate - lowest_rate();
  return difference > 0 ? std::clamp(kSafety * to_spare / difference, 0.0, 1.0) : 0;
}

bool LimitSearch::is_complete(const Observation& now) const {
  const double length = window_.length(now.seconds);
  if (length < kWindowSeconds) return false;
  if (length >= kLongestWindow) return true;
  // So many launches that one more or less is half of the loss that has to be seen.
  const auto enough = static_cast<std::uint64_t>(2 / std::max(max_loss_, 0.01));
  const Requests requests = now.requests - window_requests_;
  const bool has_few_requests = requests.count > 0 && requests.count < LimitGain::kEnoughRequests;
  return window_.count(now.launches) >= enough && !(is_unlimited() && has_few_requests);
}

void LimitSearch::restart_window(const Observation& now) {
  window_.restart(now.seconds, now.launches);
  window_requests_ = now.requests;
}

void LimitSearch::observe(const Observation& now) {
  if (now.is_restricted && was_restricted_) restricted_seconds_ += now.seconds - now_;
  now_ = now.seconds;
  window_.observe(now.seconds, now.launches);
  if (now.is_restricted != was_restricted_) {
    was_restricted_ = now.is_restricted;
    is_settling_ = true;
    stricter_part_ = 0;
    return restart_window(now);
  }
  if (is_settling_) {
    if (window_.length(now.seconds) < kSettleSeconds) return;
    is_settling_ = false;
    return restart_window(now);
  }
  const double rate = window_.rate(now.seconds, now.launches);
  if (!now.is_restricted) {
    if (window_.length(now.seconds) < kIsolatedWindow || window_.count(now.launches) < kFewLaunches) return;
    isolated_rate_ = std::max(rate, kForgotten * isolated_rate_);
    return restart_window(now);
  }
  if (!is_complete(now)) return;
  const Requests requests = now.requests - window_requests_;
  restart_window(now);
  end_window(rate, requests);
}

void LimitSearch::end_window(double rate, const Requests& requests) {
  const bool is_due = gain_.is_due(restricted_seconds_);
  if (is_unlimited() && (is_due || gain_.has_none())) {
    levels_[0] = {rate, now_};
    if (!is_due) return;
    gain_.measured_without(requests, restricted_seconds_);
    return set_level(search_from_);
  }
  if (is_due) {
    search_from_ = std::max<std::size_t>(level_, 1);
    return set_level(0);
  }
  if (search(rate)) return;
  gain_.measured_with(requests, restricted_seconds_);
  if (!gain_.has_none()) return;
  search_from_ = kFirstLimit;
  set_level(0);
}

bool LimitSearch::search(double rate) {
  if (stricter_part_ > 0 && is_fresh(level_ + 1)) {
    if (rate < lowest_rate()) stricter_part_ *= kSafety;
    return false;
  }
  const std::size_t next = next_level(rate);
  if (next != level_) {
    set_level(next);
    return true;
  }
  const double part = stricter_part();
  const bool changes = (part > 0) != (stricter_part_ > 0);
  stricter_part_ = part;
  if (changes) gain_.limits_changed();
  return changes;
}

void LimitSearch::set_level(std::size_t level) {
  is_settling_ = level != level_;
  level_ = level;
  stricter_part_ = 0;
  gain_.limits_changed();
}

std::size_t LimitSearch::next_level(double rate) {
  levels_[level_] = {rate, now_};
  const double lowest = lowest_rate();
  if (rate < lowest) {
    if (level_ > 0) return level_ - 1;
    // The program is slow without a limit too: the other rates are of work that has ended.
    for (std::size_t i = 1; i < levels_.size(); ++i) levels_[i] = {};
    return level_;
  }
  const std::size_t stricter = level_ + 1;
  if (stricter == levels_.size()) return level_;
  return !is_fresh(stricter) || levels_[stricter].rate >= lowest ? stricter : level_;
}

}  // namespace wm::runtime
