#include "runtime/server/device_monitor.h"

#include <chrono>
#include <thread>

namespace wm::runtime {

bool DeviceMonitor::device_failed() {
  if (check_.valid()) {
    return check_.wait_for(std::chrono::seconds(0)) == std::future_status::ready && !check_.get();
  }
  if (!scheduler_.take_failed_command()) return false;
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
