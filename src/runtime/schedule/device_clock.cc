#include "runtime/schedule/device_clock.h"

#include <algorithm>

namespace wm::runtime {
namespace {

constexpr std::uint64_t kComparisonHolds = 10'000'000;  // nanoseconds without noticeable drift
constexpr std::int64_t kStep = 1'000'000'000;           // a larger difference: one of the clocks was set

}  // namespace

bool DeviceClock::needs_comparison() const { return clock_.now() - compared_ > kComparisonHolds; }

// The driver takes its time stamp some time after ours, a long time where this thread was interrupted in between: the
// measured difference is never too small. Clocks drift by less than a part in 2048.
void DeviceClock::compare(std::uint64_t ahead) {
  const std::uint64_t at = clock_.now();
  const std::uint64_t before = compared_;
  const auto drift = static_cast<std::int64_t>((at - before) / 2048);
  const auto more = static_cast<std::int64_t>(ahead - ahead_);
  const bool late = before != 0 && more > drift && more < kStep;
  ahead_ = late ? ahead_ + static_cast<std::uint64_t>(drift) : ahead;
  compared_ = at;
}

void DeviceClock::record(Command& command, const DeviceTimes& times) {
  Command::Times& t = command.times;
  t.device_ended = std::max(t.device_ended, times.ended);
  if (t.device_started != 0) return;  // a later batch of workers
  t.device_started = times.started;
  if (times.queued != 0) compare(times.queued - t.submitted);
  // The device does not record these two times.
  t.device_submitted = std::min(t.submitted + ahead_, t.device_started);
  t.device_queued = std::min(t.received + ahead_, t.device_submitted);
}

std::uint64_t DeviceClock::estimated_start(const Command& command, const Completion& completion) {
  return std::min(std::max(command.times.submitted, command.queue->last_end), completion.observed);
}

void DeviceClock::estimate(Command& command, const Completion& completion) const {
  const std::uint64_t start = estimated_start(command, completion);
  Command::Times& t = command.times;
  t.device_ended = start + (completion.observed - start) / completion.observed_together;
  if (t.device_started == 0) t.device_started = start;
  command.queue->last_end = t.device_ended;
}

void DeviceClock::record_observed(Command& command, const Completion& completion) {
  record(command, {0, estimated_start(command, completion) + ahead_, completion.observed + ahead_});
  command.queue->last_end = completion.observed;
}

void DeviceClock::record_unsubmitted(Command& command) const {
  Command::Times& t = command.times;
  t.device_queued = t.received + ahead_;
  t.device_submitted = t.device_started = t.device_ended = clock_.now() + ahead_;
}

}  // namespace wm::runtime
