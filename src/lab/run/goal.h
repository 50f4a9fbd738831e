// Converts a goal as the user states it into the rate that policies work with (QoS paper, section 3.2).
//
// A goal in time, or in runs per second, is for the whole application with its transfers: the time of the link to the
// host is subtracted, and the kernels must execute all their instructions in the rest. The instructions are counted in
// one functional run.
#pragma once

#include <optional>

#include "base/result.h"
#include "base/units.h"

namespace wm::gpu {
struct GpuConfig;
struct Application;
}  // namespace wm::gpu

namespace wm::lab {

struct Participant;

// Thread instructions per cycle; nothing where the kernel has no goal. A goal in time that the transfers use up is an
// error.
Result<std::optional<double>> goal_ipc(const gpu::GpuConfig& gpu, const Participant& participant, double isolated_ipc);

// The time of the application's copies to and from the host, one after the other.
Picoseconds transfer_time(const gpu::GpuConfig& gpu, const gpu::Application& application);

}  // namespace wm::lab
