// Turns the launch messages of a client into launch plans, and precompiles them where the device compiles at launch.
// Used by the reader thread only.
#pragma once

#include <optional>

#include "runtime/protocol/ring.h"
#include "runtime/protocol/wire.h"
#include "runtime/session/session_state.h"

namespace wm::runtime {

class LaunchReader {
 public:
  explicit LaunchReader(SessionState& state) : state_(state) {}

  // False: the message breaks the protocol.
  bool read(Command& command, Reader& reader);
  // Looks at the next message of the ring, before the current one is read: if it is a launch for the same queue, the
  // scheduler is told so.
  void look_ahead(const RingReader& ring);

  static constexpr std::uint32_t kMaxArguments = 4096;

 private:
  bool read_range(const LaunchMessage& m, LaunchPlan& plan) const;
  // `valid` becomes false where an argument does not fit its parameter. False: the message breaks the protocol.
  bool read_arguments(const LaunchMessage& m, Reader& reader, LaunchPlan& plan, bool& valid) const;
  // Precompiles the launch in the forms in which it may run. False: the launch must be refused.
  bool precompile(LaunchPlan& plan, const Client& client);

  SessionState& state_;
  std::optional<std::uint64_t> next_launch_queue_;
};

}  // namespace wm::runtime
