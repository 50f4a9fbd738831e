// The words in device memory that persistent workers (persistent.h) share with each other and with the process that
// launches them, and the parameter of their launches.
#pragma once

#include <cstddef>
#include <cstdint>

namespace wm::rewrite {

inline constexpr std::uint32_t kMaxSms = 256;

// A launch whose workers may leave early is completed by the process, or by the launch itself (persistent.h).
enum class Completion { process, launch };

// In device memory, one for the launches of a stream, which follow each other, or for all of a context that complete by
// themselves. Workers read it before each chunk.
// Arrays are by %smid; the numbers of blocks go on from launch to launch, and wrap.
struct PersistentControl {
  std::uint32_t limit[kMaxSms] = {};     // workers that an SM may have; the others leave
  std::uint32_t quota[kMaxSms] = {};     // 1 + virtual blocks that may begin there in all; 0: no limit
  std::uint32_t begun[kMaxSms] = {};     // virtual blocks that began there while there was a limit
  std::uint32_t resident[kMaxSms] = {};  // workers that it has
  std::uint32_t done[kMaxSms] = {};      // virtual blocks that ended there
};

// In device memory, one for a launch, zero before it. Each word has a line of L2 of its own, so that atomic operations
// on one do not wait for those on another.
struct PersistentQueue {
  alignas(128) std::uint32_t next = 0;       // the first virtual block that no worker has taken
  alignas(128) std::uint32_t completed = 0;  // virtual blocks of workers that have left, and kBesideStream
  alignas(128) std::uint32_t arrived = 0;    // workers that started, also those that left at once
  // A launch that completes by itself has two more: its workers that have left or have to stay, and 1 once it has
  // begun. They change when workers leave, `arrived` when they come.
  std::uint32_t left = 0, begun = 0;
};
// A worker beside the stream takes part in a launch that completes by itself once that has begun: as if it waited for
// another launch of one virtual block, whose words are here.
inline constexpr std::uint64_t kBegunAsCompleted =
    offsetof(PersistentQueue, begun) - offsetof(PersistentQueue, completed);
// Set in `completed` by workers that do not follow the stream's order. Launches have fewer than 2^31 - 1 virtual
// blocks.
inline constexpr std::uint32_t kBesideStream = 0x80000000U;

// A parameter of the launch: the original's grid, how many virtual blocks a worker takes at a time, x * y * z, and
// where the launch and the one before it in the stream count.
struct PersistentGrid {
  std::uint32_t x = 1, y = 1, z = 1, chunk = 1, total = 1;
  std::uint32_t beside = 0;  // kBesideStream for workers that do not follow the stream's order
  std::uint64_t queue = 0;   // address of the launch's PersistentQueue
  std::uint64_t before = 0;  // address of the PersistentQueue of the launch before it, or of one that is zero
  // Address of a word that becomes 1 when the last virtual block has ended, or, where the launch completes by itself,
  // its last worker.
  std::uint64_t complete = 0;
  std::uint32_t before_total = 0;  // virtual blocks of the launch before it
  std::uint32_t workers = 0;       // the workers of a launch that completes by itself; 0: these are beside it
};

}  // namespace wm::rewrite
