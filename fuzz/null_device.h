// An OpenCL device that computes nothing, for trying the daemon without a driver: it keeps its objects apart, checks
// what it is handed, touches the bytes it is told to move, and ends every command when somebody wants to hear of it.
#pragma once

#include <memory>

#include "runtime/device/opencl_native.h"

namespace wm::fuzz {

// As a CPU it works in the host's memory, as a GPU it does not.
std::unique_ptr<runtime::Native> null_device(bool cpu);

// The one program it takes for rewritten, and what the daemon is told its rewritten form is.
inline constexpr const char* kSource = "kernel void k(global uint* x, uint n, local uint* t) { x[0] = n; }";
inline constexpr const char* kAsWorkers = "kernel void k(wm__)";

}  // namespace wm::fuzz
