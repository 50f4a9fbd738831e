// Tables in device memory through which workers are told how many of them each compute unit may have and how many
// groups it may begin, and count themselves and their groups.
//
// The launches of a queue share one table, so that a launch which is on the device behind another one needs nothing
// from the process: its workers find the permits as they are, and the counts go on.
#pragma once

#include "runtime/device/backend.h"

namespace wm::runtime {

// The words in which the workers of one launch count its groups.
class LaunchCounters {
 public:
  virtual ~LaunchCounters() = default;
  // Whether all groups have ended. Exact once the workers of the launch have left.
  [[nodiscard]] virtual bool is_complete() const = 0;
};

class WorkerTable {
 public:
  // By compute unit: workers there now, groups that ended there, and groups that began there under a quota. Numbers of
  // groups go on from launch to launch, and wrap.
  struct Counts {
    std::vector<std::uint32_t> workers, groups, begun;
    // The launch that was asked for, groups of it that workers have taken (more than there are: none is left), and
    // workers of it that have started.
    const LaunchCounters* launch = nullptr;
    std::uint32_t taken = 0, started = 0;
  };
  // By compute unit: workers that it may have, and 1 + groups that may begin there in all (0: any number).
  struct Permits {
    std::span<const std::uint32_t> workers, quotas;
  };
  virtual ~WorkerTable() = default;
  [[nodiscard]] virtual const MemoryObject& memory() const = 0;
  // All counts become zero. No worker of the queue may be on the device.
  virtual Status begin(const Permits& permits) = 0;
  virtual Status change(const Permits& permits) = 0;
  // Completes when the latest `begin` or `change` is in the table; null: it is.
  [[nodiscard]] virtual EventHandle ready_event() = 0;
  // Asks the device for the counts of all launches and of this one; `answered` is true once, when they have come.
  virtual void ask(const LaunchCounters& launch) = 0;
  [[nodiscard]] virtual bool answered(Counts& counts) = 0;
};

class WorkerTables {
 public:
  virtual ~WorkerTables() = default;
  // Null: the device has no memory for it. The table goes back with the last handle, when no worker uses it any more.
  virtual std::shared_ptr<WorkerTable> take() = 0;
  // Zero; null as above. They must live until the workers of the launch and of the one that follows it have left.
  virtual std::shared_ptr<LaunchCounters> take_counters() = 0;
};

}  // namespace wm::runtime
