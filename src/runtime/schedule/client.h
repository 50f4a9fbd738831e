// A client as the scheduler sees it.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/protocol/message.h"
#include "runtime/protocol/status.h"
#include "runtime/schedule/isolated_times.h"

namespace wm::runtime {

struct Command;
using CommandPtr = std::shared_ptr<Command>;

// Statistics of a client's work that `wm status` and the metrics report.
struct ClientStatistics {
  std::uint64_t commands = 0, launches = 0, outstanding = 0;
  std::uint64_t device_nanoseconds = 0;   // device time; time that kernels shared is divided among them
  std::uint64_t waited_nanoseconds = 0;   // kernels that were ready and not on the device
  double turnaround_nanoseconds = 0;      // sum over completed launches, from ready to completion
  double isolated_nanoseconds = 0;        // isolated time of these launches
  std::uint64_t estimated_launches = 0;   // launches whose isolated time was estimated, not measured
  std::uint64_t as_workers = 0;           // launches that ran as workers
  std::uint64_t unmodified_short = 0;     // launches that were too short to run as workers, which they could
  std::uint64_t unmodified_capped = 0;    // launches that could run as workers and kept their cap without
  std::uint64_t queued_workers = 0;       // … of these, launches on the device behind another one of the client
  std::uint64_t repeated_workers = 0;     // submissions of more workers for a launch
  std::uint64_t running_nanoseconds = 0;  // since the oldest of its running kernels was submitted
  std::uint32_t workers = 0;              // groups of the running kernel that may run at once
  std::string kernel;                     // the latest one that was started
  int priority = 0;
  double share = 1;
  double goal_nanoseconds = 0;  // in which each launch should complete; 0: no goal of this kind
  double goal_part = 0;         // the part of its isolated rate; 0: no goal of this kind
};

// Guarded by the scheduler's lock.
struct ClientState {
  std::map<EventId, CommandPtr> open;  // commands and user events that have not completed
  std::vector<CommandPtr> displaced;   // commands whose event was reused before they completed
  std::map<EventId, Status> failed;    // how the last command of an event failed
  std::uint32_t pipelined_launches = 0;
  double pipelined_nanoseconds = 0;  // expected time of the pipelined launches
  IsolatedTimes isolated_times;      // measured while no other client had kernels
  IsolatedTimes estimated_times;     // estimated from the part of the device that launches used
  ClientStatistics statistics;
};

class Client {
 public:
  virtual ~Client() = default;

  // The client has disconnected, or was cut off.
  [[nodiscard]] virtual bool closed() const = 0;
  // Publishes an execution state that is not final.
  virtual void show_state(EventId event, Status state) = 0;
  // Publishes the times and the status of a command that has completed.
  virtual void show_completion(const Command& command) = 0;

  struct Identity {
    std::uint64_t number = 0;
    std::string name;
    int pid = 0;
  };
  [[nodiscard]] virtual Identity identity() const = 0;

  ClientState state;
  std::atomic<std::uint64_t> outstanding{0}, outstanding_bytes{0};
};

}  // namespace wm::runtime
