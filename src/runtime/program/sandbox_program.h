// A program as it is given to the process that tries it first.
#pragma once

#include "runtime/sandbox/request.h"
#include "runtime/session/objects.h"

namespace wm::runtime {

// The daemon wants to know arguments apart; whether the client may ask is up to its own options.
inline constexpr const char* kArgumentInfo = " -cl-kernel-arg-info";

// A program to be tried, as it is now: its text does not change, what it is compiled with does. Made by the reader.
struct SandboxProgram {
  std::shared_ptr<Program> program;
  std::string options;
  std::vector<std::pair<std::string, std::shared_ptr<Program>>> headers;
  // What it was compiled to: nothing else of it is needed then, and files and headers may be gone by now.
  std::shared_ptr<const std::string> object;

  SandboxProgram(std::shared_ptr<Program> what, std::string with);
  [[nodiscard]] sandbox::Program text() const;
};

// An executable program, as it was made.
std::vector<SandboxProgram> what_made(const std::shared_ptr<Program>& program);
[[nodiscard]] sandbox::Request::What how_made(const Program& program);

sandbox::Request request_of(sandbox::Request::What what, const std::string& options,
                            const std::vector<SandboxProgram>& programs);

}  // namespace wm::runtime
