// An OpenCL driver that computes nothing, for tests and fuzzing without a device: it keeps its objects apart, checks
// the handles it is given, copies the bytes it is told to copy, and completes every command when it is asked about it.
#pragma once

#include <memory>

#include "runtime/device/backend.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime::test {

// `cpu`: the type of the device.
std::unique_ptr<Native> null_opencl(bool cpu);
// The driver behind the backend for its type: OpenClCpu or OpenClGpu.
std::unique_ptr<Backend> null_backend(bool cpu);

// The one program that it takes for rewritten, and the source that the daemon is told its workers have.
inline constexpr const char* kSource = "kernel void k(global uint* x, uint n, local uint* t) { x[0] = n; }";
inline constexpr const char* kAsWorkers = "kernel void k(wm__)";

}  // namespace wm::runtime::test
