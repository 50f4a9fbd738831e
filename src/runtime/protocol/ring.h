// The ring buffer of messages from a client to the daemon in shared memory: one writer, one reader.
//
// Each side keeps its own position in private memory and publishes it; the reader checks the writer's position. The
// reader copies a message out before checking it, so the client cannot change a message that was checked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/protocol/futex.h"

namespace wm::runtime {

// The positions of both sides, in shared memory.
struct RingPositions {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(64) Word reader_sleeps{0};  // 1 while the reader waits for bytes
  Word writer_sleeps{0};              // 1 while the writer waits for room
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class RingWriter {
 public:
  RingWriter(RingPositions* positions, std::span<std::byte> bytes) : positions_(positions), bytes_(bytes) {}

  // False: the ring has no room now. A message larger than the ring never fits.
  bool try_write(std::span<const std::byte> message);
  // Returns when the reader has read something, or after `milliseconds`.
  void wait_for_room(int milliseconds);

 private:
  RingPositions* positions_;
  std::span<std::byte> bytes_;
  std::uint64_t written_ = 0;
};

class RingReader {
 public:
  RingReader(RingPositions* positions, std::span<const std::byte> bytes,
             std::chrono::nanoseconds max_awake = kDefaultMaxAwake)
      : positions_(positions), bytes_(bytes), awake_(max_awake) {}

  enum class Outcome { message, nothing, broken };
  // `broken`: the position or the size that the writer gave is impossible.
  Outcome try_read(std::vector<std::byte>& message);
  void wait_for_message(int milliseconds);
  [[nodiscard]] bool has_message() const { return positions_->written.load(std::memory_order_acquire) != read_; }
  // Copies the beginning of the next message if it has arrived. Only a hint: the client may still change the message.
  [[nodiscard]] bool peek(std::span<std::byte> beginning) const;

 private:
  void copy_out(std::uint64_t at, std::span<std::byte> to) const;

  RingPositions* positions_;
  std::span<const std::byte> bytes_;
  std::uint64_t read_ = 0;
  AwakeTime awake_;
};

}  // namespace wm::runtime
