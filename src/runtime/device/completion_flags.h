// Observing a command's completion independently of the device's driver.
//
// NVIDIA's OpenCL driver reports completions in submission order, over all queues of the context: a short kernel beside
// a long one is reported when the long one ends (580.159, H200: a 50 µs kernel that started beside one of 5 ms read as
// running for 4.6 ms after its end, by event, by clWaitForEvents and by callback alike). A flag is a word of host
// memory that a copy behind the command writes. It is set when everything before it on its queue has completed,
// whatever else runs. The copy takes some 8 µs of a stream's time, so flags are used only while other clients have
// commands on the device.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/device/backend.h"

namespace wm::runtime {

class CompletionFlags {
 public:
  CompletionFlags() = default;
  virtual ~CompletionFlags() = default;
  CompletionFlags(const CompletionFlags&) = delete;
  CompletionFlags& operator=(const CompletionFlags&) = delete;

  struct Flag {
    std::uint32_t place = 0, number = 0;
  };
  // Sets the flag behind all commands of the queue, or behind `after` if the queue is out of order. None: no flag is
  // free.
  [[nodiscard]] virtual std::optional<Flag> enqueue(const QueueObject& queue, EventHandle after) = 0;
  [[nodiscard]] virtual bool is_set(const Flag& flag) const = 0;
  // The flag is not read any more. The device may still be about to set it.
  virtual void release(const Flag& flag) = 0;
};

}  // namespace wm::runtime
