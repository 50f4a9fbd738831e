// A kernel as persistent workers: the blocks of a launch take the numbers of the original's blocks, the virtual blocks,
// from a queue in device memory until none is left or their SM has more workers of the stream than it may. A worker
// waits where its SM has begun as many virtual blocks as it may, for some milliseconds; then it leaves.
//
// The rewritten kernel has two more parameters: the address of a PersistentControl, and a PersistentGrid. Block indices
// and grid sizes are virtual in the kernel and in the functions it calls. Between two virtual blocks all threads of a
// worker meet at a barrier that the kernel does not use itself. A worker that comes to an SM with enough workers leaves
// at once, so that a launch may start more workers than are wanted.
//
// Workers may leave before their launch is complete, and others may be started for it. A launch is completed in one of
// two ways:
// - By the process, which starts more workers where some have left. So that the next launch of the stream can be on the
//   device already, its workers leave at once where the launch before it is not complete, or where workers outside of
//   the stream's order took part in it.
// - By itself, for streams whose other work must follow. The last worker of the launch does not leave early, whatever
//   its SM may have, and ends when all virtual blocks have ended, those of workers beside the stream too. It leaves the
//   launch's words as they were, so that another launch can use them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ptx/ir.h"
#include "rewrite/ptx/persistent_words.h"

namespace wm::rewrite {

// How many blocks a worker of the original kernel takes at a time while their time is not known: blocks of few
// instructions take their numbers in chunks, so that the queue costs little (accelOS, 6.4). And the most at any time.
std::uint32_t min_chunk(const ptx::Function& kernel);
inline constexpr std::uint32_t kMaxChunk = 8;

// An error: the reason why the kernel must run as it is.
Result<void> make_persistent(ptx::Module& module, const std::string& kernel, Completion by = Completion::process);

}  // namespace wm::rewrite
