#include "runtime/server/device_monitor.h"

#include <chrono>
#include <fmt/format.h>
#include <thread>

#include "runtime/server/log.h"

namespace wm::runtime {

bool DeviceMonitor::device_failed() {
  if (check_.valid()) {
    return check_.wait_for(std::chrono::seconds(0)) == std::future_status::ready && !check_.get();
  }
  if (!scheduler_.take_failed_command()) return false;
  for (const KernelFault& fault : backend_.take_kernel_faults()) {
    log::write(log::Level::warning, "kernel_faulted",
               {{"kernel", fault.kernel},
                {"signal", std::int64_t{fault.signal}},
                {"address", fmt::format("{:#x}", fault.address)}});
  }
  check_ = std::async(std::launch::async, [this] {
    constexpr int kTries = 3;
    for (int i = 0; i < kTries; ++i) {
      if (backend_.is_alive()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return false;
  });
  return false;
}

}  // namespace wm::runtime
