// Events of submitted commands, and the device's clock.
//
// The device's clock counts nanoseconds as the daemon's steady clock does. The driver tells only differences between
// events, as a float of milliseconds, so that a base event is recorded again before the difference loses precision.
#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/device/backend.h"
#include "runtime/device/cuda/completion_words.h"
#include "runtime/device/cuda/device.h"
#include "runtime/device/cuda/host_memory.h"

namespace wm::runtime::cuda {

struct CommandEvent {
  Event start = nullptr;  // none: times are not recorded
  Event end = nullptr;
  std::uint64_t submitted = 0;  // nanoseconds
  std::atomic<Status> state{status::kSubmitted};
  CompletionWords::Ticket completion;
  std::atomic<std::uint64_t> asked{0};  // when the driver was last asked, in nanoseconds
  std::span<std::byte> bounce;          // pinned memory of a transfer; back to its pool with the event
  std::span<std::byte> copy_to;         // takes the contents of `bounce` when the command has completed
};

inline CommandEvent* of(EventHandle event) { return reinterpret_cast<CommandEvent*>(event); }

class Events {
 public:
  Events(Device& device, HostMemory& host);
  ~Events();
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;

  // The start is recorded now where `timed`.
  [[nodiscard]] CommandEvent* begin(Stream stream, bool timed);
  void end(CommandEvent& event, Stream stream);
  [[nodiscard]] Status state(CommandEvent& event) const;
  [[nodiscard]] DeviceTimes times(const CommandEvent& event);
  // The event's command has completed or failed.
  void release(CommandEvent* event);

 private:
  // The client's memory takes what a read has brought.
  static void copy_out(CommandEvent& event);
  Event take(bool timed);
  void give_back(Event event, bool timed);
  // Moves the base to a recent event that has completed.
  void move_base(Event to, std::uint64_t time);
  [[nodiscard]] std::uint64_t time_of(Event event);

  Device& device_;
  HostMemory& host_;
  CompletionWords words_;
  std::mutex free_mutex_;       // never held during a call of the driver, because threads that submit take it
  std::vector<Event> free_[2];  // without and with times
  std::mutex clock_mutex_;      // guards the base, also while the driver tells differences to it
  Stream clock_stream_ = nullptr;
  Event base_ = nullptr;
  std::uint64_t base_time_ = 0;
};

}  // namespace wm::runtime::cuda
