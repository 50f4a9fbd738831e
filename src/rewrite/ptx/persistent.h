// A kernel as persistent workers: the blocks of a launch take the numbers of the original's blocks, the virtual blocks,
// from a queue in device memory until none is left or their SM has more workers of the stream than it may. A worker
// waits where its SM has begun as many virtual blocks as it may, for some milliseconds; then it leaves.
//
// The rewritten kernel has two more parameters: the address of a PersistentControl, and a PersistentGrid. Block indices
// and grid sizes are virtual in the kernel and in the functions it calls. Between two virtual blocks all threads of a
// worker meet at a barrier that the kernel does not use itself. A worker that comes to an SM with enough workers leaves
// at once, so that a launch may start more workers than are wanted.
//
// Workers may leave before their launch is complete, and others may be started for it. So that the next launch of the
// stream can be on the device already, its workers leave at once where the launch before it is not complete, or where
// workers outside of the stream's order took part in it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::rewrite {

inline constexpr std::uint32_t kMaxSms = 256;

// In device memory, one for the launches of a stream, which follow each other. Workers read it before each chunk.
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
};
// Set in `completed` by workers that do not follow the stream's order. Launches have fewer than 2^31 - 1 virtual
// blocks.
inline constexpr std::uint32_t kBesideStream = 0x80000000U;

// A parameter of the launch: the original's grid, how many virtual blocks a worker takes at a time, x * y * z, and
// where the launch and the one before it in the stream count.
struct PersistentGrid {
  std::uint32_t x = 1, y = 1, z = 1, chunk = 1, total = 1;
  std::uint32_t beside = 0;        // kBesideStream for workers that do not follow the stream's order
  std::uint64_t queue = 0;         // address of the launch's PersistentQueue
  std::uint64_t before = 0;        // address of the PersistentQueue of the launch before it, or of one that is zero
  std::uint64_t complete = 0;      // address of a word that becomes 1 when the last virtual block has ended
  std::uint32_t before_total = 0;  // virtual blocks of the launch before it
  std::uint32_t unused = 0;
};

// How many blocks a worker of the original kernel takes at a time while their time is not known: blocks of few
// instructions take their numbers in chunks, so that the queue costs little (accelOS, 6.4). And the most at any time.
std::uint32_t min_chunk(const ptx::Function& kernel);
inline constexpr std::uint32_t kMaxChunk = 8;

// An error: the reason why the kernel must run as it is.
Result<void> make_persistent(ptx::Module& module, const std::string& kernel);

}  // namespace wm::rewrite
