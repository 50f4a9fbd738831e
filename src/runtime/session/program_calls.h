// The calls of a client that create, build and link programs, and queries about them.
#pragma once

#include "runtime/program/sandbox_program.h"
#include "runtime/protocol/wire.h"
#include "runtime/session/session_state.h"

namespace wm::runtime {

// The functions that return bool return false where the message breaks the protocol.
class ProgramCalls {
 public:
  explicit ProgramCalls(SessionState& state) : state_(state) {}

  void create(const MessageHeader& header, const CreateProgram& m);
  bool build(const MessageHeader& header, Reader& reader);
  bool link(const MessageHeader& header, Reader& reader);
  void info(const MessageHeader& header, const Query& m);
  void build_info(const MessageHeader& header, const Query& m);

 private:
  struct Build;
  // Makes the program's form as workers while the client continues; the first launch waits for it.
  void make_form(Program& program, const std::shared_future<Status>& built);
  Status compile(const Build& build);
  void link_now(const MessageHeader& header, std::uint64_t id, const std::vector<std::shared_ptr<Program>>& inputs,
                const std::string& options, const std::vector<SandboxProgram>& sandboxed);
  // Where a request for the binary makes the device compile all kernels, the sandbox does so first. False: it failed.
  bool precompile_for_binary(const std::shared_ptr<Program>& program);
  void binary(const MessageHeader& header, const Program& program);
  [[nodiscard]] std::shared_ptr<Program> own(ProgramHandle handle) const;

  SessionState& state_;
};

}  // namespace wm::runtime
