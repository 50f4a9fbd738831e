// Turns the launch messages of a client into launch plans, and precompiles them where the device compiles at launch.
// Used by the reader thread only.
#pragma once

#include "runtime/protocol/wire.h"
#include "runtime/session/session_state.h"

namespace wm::runtime {

class LaunchReader {
 public:
  explicit LaunchReader(SessionState& state) : state_(state) {}

  // False: the message breaks the protocol.
  bool read(Command& command, Reader& reader);

  static constexpr std::uint32_t kMaxArguments = 4096;

 private:
  bool read_range(const LaunchMessage& m, LaunchPlan& plan) const;
  // `valid` becomes false where an argument does not fit its parameter. False: the message breaks the protocol.
  bool read_arguments(const LaunchMessage& m, Reader& reader, LaunchPlan& plan, bool& valid) const;
  // Precompiles the launch in the forms in which it may run. False: the launch must be refused.
  bool precompile(LaunchPlan& plan, const Client& client);

  SessionState& state_;
};

}  // namespace wm::runtime
