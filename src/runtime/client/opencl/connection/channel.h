// The message channel from a client process to the daemon: the socket on which the client introduces itself and asks
// for shared memory, and the ring of messages in the shared area. Safe for use by several threads.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "runtime/protocol/shared_area.h"
#include "runtime/protocol/socket.h"
#include "runtime/protocol/wire.h"

namespace wm::runtime::client {

// The status of every call after the connection to the daemon was lost: CL_DEVICE_NOT_AVAILABLE.
inline constexpr std::int32_t kDaemonLost = -2;
// A waiting thread checks after this many milliseconds whether the daemon still runs.
inline constexpr int kLostCheckInterval = 50;

class Channel {
 public:
  // Introduces this process with the priority and share of WARPMUX_PRIORITY and WARPMUX_SHARE.
  static Result<std::unique_ptr<Channel>> connect(const std::string& path);

  // Writes a message to the ring and waits while the ring is full. False: the connection is lost, or the message is
  // larger than kMaxMessageBytes.
  bool post(Writer& message);

  // Asks the daemon for a region of shared memory and maps it. 0: the daemon refused, or the connection is lost.
  std::uint32_t request_region(std::uint64_t bytes, Mapping& map);

  // Looks at the socket, and prints one line to stderr when the connection is found lost for the first time.
  [[nodiscard]] bool lost();
  // Whether `lost` has returned true before; costs no system call.
  [[nodiscard]] bool known_lost() const { return lost_.load(std::memory_order_relaxed); }

  [[nodiscard]] const SharedArea& area() const { return area_; }
  [[nodiscard]] bool device_uses_host_memory() const { return device_uses_host_memory_; }
  [[nodiscard]] std::int32_t native_result(NonstandardCall call) const { return native_results_[call]; }

 private:
  Channel(Descriptor socket, SharedArea area, const Welcome& welcome);

  Descriptor socket_;
  SharedArea area_;
  const bool device_uses_host_memory_;
  const NativeResults native_results_;
  std::atomic<bool> lost_{false};
  std::mutex ring_mutex_;
  RingWriter ring_;
  std::mutex request_mutex_;  // one region request is on the socket at a time
};

}  // namespace wm::runtime::client
