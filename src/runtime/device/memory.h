// The memory objects and samplers of clients, and the limits on the device memory that clients may allocate.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/device/backend.h"
#include "runtime/protocol/descriptor.h"

namespace wm::runtime {

// Accounts for the device memory of all clients. Safe for use by several threads.
class MemoryLimits {
 public:
  // `unlimited`: the user has set no limit, so `total` is the memory that the device has.
  MemoryLimits(std::uint64_t total, std::uint64_t per_client, bool wait, bool unlimited = false)
      : total_(total), per_client_(per_client), wait_(wait), unlimited_(unlimited) {}

  // The part of one client.
  struct Share {
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> program_text{0};  // bytes of its programs, in the daemon's own memory
    std::atomic<bool> closed{false};
  };

  [[nodiscard]] std::uint64_t per_client() const { return per_client_; }
  [[nodiscard]] bool waits() const { return wait_; }
  // Whether a buffer is larger than the device's memory and thus not counted: some drivers create such a buffer and
  // allocate nothing until it is used.
  [[nodiscard]] bool exceeds_device(std::uint64_t bytes) const { return unlimited_ && bytes > total_; }
  // Whether an allocation of `bytes` would have to wait for other clients.
  [[nodiscard]] bool must_wait(std::uint64_t bytes) const;
  // Counts `bytes`. Waits, if that was asked for, while other clients hold memory. False: the bytes exceed a limit, or
  // the client has gone.
  bool allocate(Share& share, std::uint64_t bytes);
  void free(Share& share, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t available() const;
  // Lets waiting threads check whether their client has gone.
  void wake() { freed_.notify_all(); }

 private:
  const std::uint64_t total_, per_client_;
  const bool wait_, unlimited_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::uint64_t used_ = 0;
};

// A memory object of a client. It lives until the client has released it and the last command that uses it is done.
struct Memory {
  // Declared first, and so destroyed last: tells the client that nothing uses the memory any more.
  std::shared_ptr<void> release_notice;
  std::shared_ptr<Mapping> place;  // stores the buffer, where its memory is shared with the client
  MemoryHandle handle;
  std::shared_ptr<Memory> parent;  // parent of a sub-buffer, or the buffer below an image
  std::shared_ptr<MemoryLimits::Share> share;
  MemoryLimits* limits = nullptr;
  std::uint64_t bytes = 0;   // counted by `limits`
  std::uint64_t extent = 0;  // bytes of a buffer; 0 for an image
  ~Memory() {
    handle.reset();
    if (limits != nullptr) limits->free(*share, bytes);
  }
};

struct Sampler {
  SamplerHandle handle;
};

}  // namespace wm::runtime
