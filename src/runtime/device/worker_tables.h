// Tables in device memory through which workers are told how many of them each compute unit may have and how many
// groups it may begin, and count themselves and their groups.
#pragma once

#include "runtime/device/backend.h"

namespace wm::runtime {

class WorkerTable {
 public:
  struct Counts {
    std::uint32_t taken = 0;                     // groups that workers have begun; more than there are: none is left
    std::vector<std::uint32_t> workers, groups;  // by compute unit: workers there now, groups that ended there
    std::vector<std::uint32_t> begun;            // … and that began there under a quota
  };
  // By compute unit: workers that it may have, and 1 + groups that it may begin in this launch (0: any number).
  struct Permits {
    std::span<const std::uint32_t> workers, quotas;
  };
  virtual ~WorkerTable() = default;
  [[nodiscard]] virtual const MemoryObject& memory() const = 0;
  // A new launch begins with these permits.
  virtual Status begin(const Permits& permits) = 0;
  virtual Status change(const Permits& permits) = 0;
  // Completes when the latest `begin` or `change` is in the table.
  [[nodiscard]] virtual EventHandle ready_event() = 0;
  // Waits for a copy from the device.
  virtual Status read(Counts& counts) = 0;
};

class WorkerTables {
 public:
  virtual ~WorkerTables() = default;
  // Null: the device has no memory for it. The table goes back with the last handle, when no worker uses it any more.
  virtual std::shared_ptr<WorkerTable> take() = 0;
};

}  // namespace wm::runtime
