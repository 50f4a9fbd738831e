#include "runtime/schedule/isolated_times.h"

namespace wm::runtime {
namespace {

// Completions of shorter launches are observed several at once, so only the mean of several is a time.
constexpr double kLong = 100'000;

}  // namespace

void IsolatedTimes::note(Key key, double nanoseconds) {
  constexpr std::uint32_t kLaunches = 16;
  constexpr std::size_t kMaxKeys = 256;
  if (times_.size() >= kMaxKeys && !times_.contains(key)) times_.clear();
  Entry& entry = times_[key];
  entry.sum += nanoseconds;
  ++entry.count;
  if (entry.count < kLaunches && nanoseconds < kLong) return;
  const double mean = entry.sum / entry.count;
  // The first launch may include loading its code, so a much shorter time replaces the old one at once.
  entry.known = entry.known <= 0 || entry.known > 2 * mean ? mean : 0.75 * entry.known + 0.25 * mean;
  entry.sum = entry.count = 0;
}

void IsolatedTimes::limit(Key key, double nanoseconds) {
  const auto it = times_.find(key);
  if (it != times_.end() && nanoseconds >= kLong && it->second.known > nanoseconds) it->second.known = nanoseconds;
}

std::optional<double> IsolatedTimes::find(Key key) const {
  const auto it = times_.find(key);
  return it == times_.end() || it->second.known <= 0 ? std::nullopt : std::optional(it->second.known);
}

}  // namespace wm::runtime
