// Gates: warps of a rewritten kernel stop at the back-edges of its loops while a word in device memory is not zero.
//
// A client in need of the SMs for a while writes the word, and clears it when done. A warp tests the word once in about
// `interval` of its instructions. The value that is tested was loaded one test earlier, so that the load's latency
// overlaps with execution. A loop that counts is strip-mined: an inner loop with the same body runs up to a nearer
// bound, and the test follows it. Other short innermost loops are unrolled so that the test costs little: all their
// exits are kept, only the way back is taken through copies of the body.
//
// The kernel gets one more parameter, the address of its word, unless the options name the address. A kernel without
// loops is left as it is: its blocks end soon. A thread that was held for about a millisecond is held no more, since a
// kernel that needs the room of its block would never start otherwise: it tests the word that follows at
// kOpenGateOffset, which stays 0.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ptx/ir.h"

namespace wm::rewrite {

inline constexpr std::uint32_t kOpenGateOffset = 256;  // bytes

struct GateOptions {
  std::uint32_t interval = 512;       // instructions of a thread between two tests
  std::uint32_t max_unrolled = 1024;  // instructions of an unrolled loop
  std::uint32_t sleep_nanoseconds = 500;
  std::uint32_t max_sleeps = 2000;
  std::uint64_t word_address = 0;  // 0: a parameter of the kernel
};

struct GatedKernel {
  std::uint32_t gates = 0;     // loops with tests; 0: the kernel is unchanged and has no more parameters than before
  std::uint32_t unrolled = 0;  // loops that were unrolled
  std::uint32_t strips = 0;    // loops that were strip-mined
};

// An error: the reason why the kernel cannot have gates.
Result<GatedKernel> add_gates(ptx::Module& module, const std::string& kernel, const GateOptions& options = {});

}  // namespace wm::rewrite
