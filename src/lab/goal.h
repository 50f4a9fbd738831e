// What a kernel is to reach, as its user knows it, as the rate that policies work with (QoS paper, section 3.2).
//
// A time, or a rate of runs, is that of the whole application, transfers included: what the link to the host takes is
// subtracted, and the rest must see all its instructions. They are counted by running it once, without time.
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

// Thread instructions per cycle; nothing where it has no goal. `alone`: its rate alone. A time that the transfers use
// up is an error.
Result<std::optional<double>> goal_ipc(const gpu::GpuConfig& gpu, const Participant& participant, double alone);

// What the application's copies to and from the host take, one after the other.
Picoseconds transfer_time(const gpu::GpuConfig& gpu, const gpu::Application& application);

}  // namespace wm::lab
