#include "runtime/device/cuda/events.h"

#include <chrono>
#include <cstring>

namespace wm::runtime::cuda {
namespace {

constexpr unsigned kNonBlockingClock = 1, kWithoutTimes = 2;
constexpr std::uint64_t kDriverInterval = 1'000'000;  // nanoseconds between questions about an event that has a word
constexpr double kMaxDifference = 500;                // milliseconds: a float keeps 30 ns of it

std::uint64_t steady_nanoseconds() {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

Events::Events(Device& device, HostMemory& host) : device_(device), host_(host), words_(device, host) {
  device_.make_current();
  device_.cuda.create_stream(&clock_stream_, kNonBlockingClock, device_.facts().least_priority);
  device_.cuda.create_event(&base_, 0);
  device_.cuda.record_event(base_, clock_stream_);
  device_.cuda.synchronize_event(base_);
  base_time_ = steady_nanoseconds();
}

Events::~Events() {
  device_.make_current();
  for (auto& list : free_) {
    for (Event event : list) device_.cuda.destroy_event(event);
  }
  if (base_ != nullptr) device_.cuda.destroy_event(base_);
  if (clock_stream_ != nullptr) device_.cuda.destroy_stream(clock_stream_);
}

Event Events::take(bool timed) {
  {
    const std::lock_guard lock(free_mutex_);
    auto& list = free_[timed ? 1 : 0];
    if (!list.empty()) {
      Event event = list.back();
      list.pop_back();
      return event;
    }
  }
  Event made = nullptr;
  device_.cuda.create_event(&made, timed ? 0 : kWithoutTimes);
  return made;
}

void Events::give_back(Event event, bool timed) {
  if (event == nullptr) return;
  const std::lock_guard lock(free_mutex_);
  free_[timed ? 1 : 0].push_back(event);
}

CommandEvent* Events::begin(Stream stream, bool timed) {
  auto event = std::make_unique<CommandEvent>();
  event->submitted = steady_nanoseconds();
  if (timed) {
    event->start = take(true);
    device_.cuda.record_event(event->start, stream);
  }
  event->end = take(timed);
  return event.release();
}

void Events::end(CommandEvent& event, Stream stream) {
  const Code code = device_.cuda.record_event(event.end, stream);
  if (code != kSuccess) event.state = status_of(code);
  event.completion = words_.write_after(stream);
  event.asked = steady_nanoseconds();
}

Status Events::state(CommandEvent& event) const {
  if (const Status known = event.state; known <= status::kComplete) return known;
  const bool has_word = event.completion.word != nullptr, is_written = has_word && event.completion.is_written();
  if (has_word && !is_written) {
    // A stream that has failed writes no more words.
    const std::uint64_t now = steady_nanoseconds();
    if (now - event.asked < kDriverInterval) return status::kRunning;
    event.asked = now;
  }
  device_.make_current();
  const Code code = is_written ? kSuccess : device_.cuda.query_event(event.end);
  if (code == kNotReady) return status::kRunning;
  if (code == kSuccess) copy_out(event);
  return event.state = code == kSuccess ? status::kComplete : status_of(code);
}

void Events::copy_out(CommandEvent& event) {
  if (event.copy_to.empty()) return;
  std::memcpy(event.copy_to.data(), event.bounce.data(), event.copy_to.size());
  event.copy_to = {};
}

std::uint64_t Events::time_of(Event event) {
  float milliseconds = 0;
  if (device_.cuda.elapsed(&milliseconds, base_, event) != kSuccess) return 0;
  return base_time_ + static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

void Events::move_base(Event to, std::uint64_t time) {
  Event next = nullptr;
  if (device_.cuda.create_event(&next, 0) != kSuccess) return;
  device_.cuda.record_event(next, clock_stream_);
  device_.cuda.synchronize_event(next);
  float between = 0;
  if (device_.cuda.elapsed(&between, to, next) != kSuccess) {
    device_.cuda.destroy_event(next);
    return;
  }
  device_.cuda.destroy_event(base_);
  base_ = next;
  base_time_ = time + static_cast<std::uint64_t>(static_cast<double>(between) * 1e6);
}

DeviceTimes Events::times(const CommandEvent& event) {
  if (event.start == nullptr) return {};
  device_.make_current();
  const std::lock_guard lock(clock_mutex_);
  const std::uint64_t started = time_of(event.start);
  float ran = 0;
  if (started == 0 || device_.cuda.elapsed(&ran, event.start, event.end) != kSuccess) return {};
  const std::uint64_t ended = started + static_cast<std::uint64_t>(static_cast<double>(ran) * 1e6);
  if (static_cast<double>(ended - base_time_) > kMaxDifference * 1e6) move_base(event.end, ended);
  return {event.submitted, std::max(started, event.submitted), std::max(ended, event.submitted)};
}

void Events::release(CommandEvent* event) {
  if (event == nullptr) return;
  const bool timed = event->start != nullptr;
  // A read that completed with a later command of its stream was not asked about by itself.
  if (event->state >= status::kComplete) copy_out(*event);
  if (!event->bounce.empty()) host_.give_back(event->bounce);
  words_.give_back(event->completion);
  give_back(event->start, timed);
  give_back(event->end, timed);
  delete event;
}

}  // namespace wm::runtime::cuda
