// Hearing of a command's end past the device's driver.
//
// NVIDIA's driver tells of ends in the order in which commands were sent, over all queues of the context: what a short
// kernel beside a long one has done is known when the long one ends (580.159, H200: a 50 µs kernel that began beside
// one of 5 ms read as running for 4.6 ms after its end, by event, by clWaitForEvents and by callback alike). A flag is
// a word of the host's memory that a copy behind the command writes. It rings when everything before it on its queue
// has ended, whatever else runs. The copy takes some 8 µs of a stream's time, so only who has company hangs one up.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/device/opencl_native.h"

namespace wm::runtime {

class CompletionFlags {
 public:
  // Only for devices with memory of their own; others call back.
  explicit CompletionFlags(const Native& native);
  ~CompletionFlags();
  CompletionFlags(const CompletionFlags&) = delete;
  CompletionFlags& operator=(const CompletionFlags&) = delete;

  struct Flag {
    std::uint32_t place = 0, number = 0;
  };
  // Behind what is on the queue, or behind `after` where the queue is out of order. None: the device takes no more.
  [[nodiscard]] std::optional<Flag> enqueue(cl_command_queue queue, cl_event after);
  [[nodiscard]] bool is_set(const Flag& flag) const;
  // Nobody listens any more. It may still be about to ring.
  void release(const Flag& flag);

 private:
  [[nodiscard]] std::optional<std::uint32_t> free_place();

  const Native& native_;
  void* page_ = nullptr;
  cl_command_queue queue_ = nullptr;
  cl_mem numbers_ = nullptr;         // in the device's memory, each in its place
  cl_mem host_ = nullptr;            // the page, so that the device reaches it by itself
  std::vector<std::uint32_t> uses_;  // of each place
  std::deque<std::uint32_t> free_;
  std::deque<Flag> silent_;  // taken down before they rang
};

}  // namespace wm::runtime
