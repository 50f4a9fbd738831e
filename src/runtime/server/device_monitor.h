// Detects that the device has failed: a kernel that accesses memory outside its buffers may end a GPU's context.
#pragma once

#include <future>

#include "runtime/device/backend.h"
#include "runtime/schedule/scheduler.h"

namespace wm::runtime {

class DeviceMonitor {
 public:
  DeviceMonitor(Backend& backend, Scheduler& scheduler) : backend_(backend), scheduler_(scheduler) {}

  // True: the device executes no commands any more. Called often; the check itself runs on a thread, and only after a
  // command has failed. Behind a kernel that never ends the check does not end either, which is not a failure.
  [[nodiscard]] bool device_failed();

 private:
  Backend& backend_;
  Scheduler& scheduler_;
  std::future<bool> check_;  // whether the device is alive
};

}  // namespace wm::runtime
