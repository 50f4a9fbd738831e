// The options of `wm serve`.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace wm::runtime {

struct ServeOptions {
  std::string socket;
  unsigned mode = 0600;
  std::string device;               // part of the name of the platform or device; empty: the first device
  std::string policy = "accelos";   // or "fifo": the device's own order
  std::uint64_t memory = 0;         // for all clients, in bytes; 0: the device's memory
  std::uint64_t client_memory = 0;  // per client, in bytes; 0: no limit of its own
  bool wait_for_memory = false;     // an allocation waits while other clients hold the memory, instead of failing
  bool rewrite = true;              // kernels run as workers where possible
  // Microseconds: shorter launches run unmodified. Not given: as the policy says, also after `wm policy`.
  std::optional<std::uint32_t> short_launch;
  std::uint32_t awake_milliseconds = 10;      // the longest time for which idle threads of the daemon stay awake
  std::uint32_t headroom = 50;                // percent of a compute unit that launches leave to higher priorities
  bool gates = false;                         // launches pause while one of higher priority runs, where the device can
  std::string cache;                          // folder of rewritten programs; empty: the user's cache
  std::map<std::string, double> user_shares;  // the share of a user's clients that ask for none; 1 for other users
  std::string decisions_file;                 // the policy's events and decisions are appended to it; empty: none
  std::uint32_t metrics_port = 0;             // on the loopback interface; 0: none
  std::uint32_t sandbox_seconds = 120;        // limit of a compilation in the sandbox; 0: no sandbox
};

}  // namespace wm::runtime
