// A program as it is given to the process that tries it first.
#pragma once

#include "runtime/daemon/objects.h"
#include "runtime/trial/request.h"

namespace wm::runtime {

// The daemon wants to know arguments apart; whether the client may ask is up to its own options.
inline constexpr const char* kArgumentInfo = " -cl-kernel-arg-info";

// A program to be tried, as it is now: its text does not change, what it is compiled with does. Made by the reader.
struct Tried {
  std::shared_ptr<Program> program;
  std::string options;
  std::vector<std::pair<std::string, std::shared_ptr<Program>>> headers;
  // What it was compiled to: nothing else of it is needed then, and files and headers may be gone by now.
  std::shared_ptr<const std::string> object;

  Tried(std::shared_ptr<Program> what, std::string with);
  [[nodiscard]] trial::Program text() const;
};

// An executable program, as it was made.
std::vector<Tried> what_made(const std::shared_ptr<Program>& program);
[[nodiscard]] trial::Request::What how_made(const Program& program);

trial::Request request_of(trial::Request::What what, const std::string& options, const std::vector<Tried>& programs);

}  // namespace wm::runtime
