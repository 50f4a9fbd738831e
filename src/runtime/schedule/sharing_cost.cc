#include "runtime/schedule/sharing_cost.h"

#include <algorithm>

namespace wm::runtime {

void SharingCost::note_completed(Command& command, std::uint64_t now, double used, double estimate) {
  ClientState& client = command.client->state;
  // A pipelined launch is ready before the launch ahead of it has completed.
  const std::uint64_t began = std::max(command.times.ready, command.queue->last_launch_completed);
  const double turnaround = static_cast<double>(now - std::min(began, now));
  command.queue->last_launch_completed = now;
  const IsolatedTimes::Key key{command.launch->kernel->function, group_count(*command.launch)};
  const bool isolated = kernels_.shared_until() == 0 || kernels_.shared_until() < began;
  if (isolated) client.isolated_times.note(key, turnaround);
  if (!isolated) client.isolated_times.limit(key, turnaround);
  if (!isolated && estimate > 0) client.estimated_times.note(key, estimate);
  const auto measured = isolated ? std::optional(turnaround) : client.isolated_times.find(key);
  ClientStatistics& statistics = client.statistics;
  statistics.device_nanoseconds += static_cast<std::uint64_t>(used);
  statistics.turnaround_nanoseconds += turnaround;
  statistics.isolated_nanoseconds += measured.value_or(estimate);
  if (!measured) ++statistics.estimated_launches;
}

}  // namespace wm::runtime
