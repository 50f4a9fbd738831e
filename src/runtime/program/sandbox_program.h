// A client's program as it is given to the compile sandbox.
#pragma once

#include "runtime/program/program.h"
#include "runtime/sandbox/request.h"

namespace wm::runtime {

// The daemon needs the types of parameters, whether or not the client's own options allow it to query them.
inline constexpr const char* kArgumentInfo = " -cl-kernel-arg-info";

// A program as it is now: its text does not change later, its options and headers may. Made by the reader thread.
struct SandboxProgram {
  std::shared_ptr<Program> program;
  std::string options;
  std::vector<std::pair<std::string, std::shared_ptr<Program>>> headers;
  // The binary of a compiled program. The text is not needed then, and files and headers may not exist any more.
  std::shared_ptr<const std::string> object;

  SandboxProgram(std::shared_ptr<Program> of, std::string build_options);
  [[nodiscard]] sandbox::Program text() const;
};

// The programs that an executable was built or linked from, and how.
std::vector<SandboxProgram> built_from(const std::shared_ptr<Program>& program);
[[nodiscard]] sandbox::Request::Kind build_kind(const Program& program);

sandbox::Request request_of(sandbox::Request::Kind kind, const std::string& options,
                            const std::vector<SandboxProgram>& programs);

}  // namespace wm::runtime
