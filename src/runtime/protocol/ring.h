// Messages from a client to the daemon through shared memory: bytes in a circle, one writer, one reader.
//
// Each side keeps its own end to itself and publishes it; what it reads of the other's end is checked. The reader
// copies a message out before it looks at it, so nobody can change what was checked.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/protocol/futex.h"

namespace wm::runtime {

// In shared memory, followed by the bytes.
struct RingEnds {
  alignas(64) std::atomic<std::uint64_t> written{0};
  alignas(64) std::atomic<std::uint64_t> read{0};
  alignas(64) Word reader_sleeps{0};  // 1 while the reader waits for bytes
  Word writer_sleeps{0};              // 1 while the writer waits for room
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class RingWriter {
 public:
  RingWriter(RingEnds* ends, std::span<std::byte> bytes) : ends_(ends), bytes_(bytes) {}

  // False: no room now. A message larger than the ring never has.
  bool try_write(std::span<const std::byte> message);
  // Until the reader has moved, or a while has passed.
  void wait_for_room(int milliseconds);

 private:
  RingEnds* ends_;
  std::span<std::byte> bytes_;
  std::uint64_t written_ = 0;
};

class RingReader {
 public:
  RingReader(RingEnds* ends, std::span<const std::byte> bytes) : ends_(ends), bytes_(bytes) {}

  enum class Outcome { message, nothing, broken };
  // `broken`: the other side broke the rules (an end that cannot be, a size that cannot be).
  Outcome try_read(std::vector<std::byte>& message);
  void wait_for_message(int milliseconds);
  // The beginning of the next message, if it is there already. A hint: it may be another when it is read.
  [[nodiscard]] bool peek(std::span<std::byte> beginning) const;

 private:
  void copy_out(std::uint64_t at, std::span<std::byte> to) const;

  RingEnds* ends_;
  std::span<const std::byte> bytes_;
  std::uint64_t read_ = 0;
};

}  // namespace wm::runtime
