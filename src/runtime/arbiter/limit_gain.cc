#include "runtime/arbiter/limit_gain.h"

#include <algorithm>

namespace wm::runtime {

namespace {

constexpr double kFirstHold = 20, kLongestHold = 640;  // seconds
constexpr std::uint64_t kFewRequests = 20;             // so few tell nothing
// Limits must shorten the mean request to this part: means of a host-bound program differ by a few percent from one
// window to the next.
constexpr double kWorthwhile = 0.9;

}  // namespace

LimitGain::LimitGain() : hold_(kFirstHold) {}

void LimitGain::measured_without(const Requests& requests, double seconds) {
  without_ = requests;
  with_ = {};
  last_ = verdict_;
  verdict_ = Verdict::unknown;
  until_ = seconds + hold_;
}

void LimitGain::measured_with(const Requests& requests, double seconds) {
  if (verdict_ != Verdict::unknown || without_.count < kFewRequests) return;
  with_ += requests;
  if (with_.count < std::min(without_.count, kEnoughRequests)) return;
  verdict_ = with_.mean() <= kWorthwhile * without_.mean() ? Verdict::some : Verdict::none;
  hold_ = verdict_ == last_ ? std::min(2 * hold_, kLongestHold) : kFirstHold;
  until_ = seconds + hold_;
}

}  // namespace wm::runtime
