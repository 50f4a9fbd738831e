// The calls of a client that create kernels, check their arguments and query them.
#pragma once

#include "runtime/protocol/wire.h"
#include "runtime/session/session_state.h"

namespace wm::runtime {

// Reads an Argument and its bytes. False: the message breaks the protocol.
bool read_argument(Reader& reader, LaunchPlan::Value& value);

// The functions that return bool return false where the message breaks the protocol.
class KernelCalls {
 public:
  explicit KernelCalls(SessionState& state) : state_(state) {}

  bool create(const MessageHeader& header, Reader& reader);
  bool check_argument(const MessageHeader& header, Reader& reader);
  void info(const MessageHeader& header, const Query& m);
  void argument_info(const MessageHeader& header, const KernelQuery& m);
  void group_info(const MessageHeader& header, const KernelQuery& m);

 private:
  SessionState& state_;
};

}  // namespace wm::runtime
