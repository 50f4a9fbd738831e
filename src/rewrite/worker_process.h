// A program as a child process that is kept, such as wm-rewrite: a request down its socket, a reply back, each a frame.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "rewrite/program.h"

namespace wm::rewrite {

class WorkerProcess {
 public:
  // `name` is what errors call it.
  static Result<WorkerProcess> start(const std::string& program, const std::string& name = "the rewriter");
  WorkerProcess(WorkerProcess&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        process_(std::exchange(other.process_, -1)),
        name_(std::move(other.name_)) {}
  WorkerProcess& operator=(WorkerProcess&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(process_, other.process_);
    std::swap(name_, other.name_);
    return *this;
  }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();  // ends it

  // After an error the process is of no more use: it died, or is still busy with what took too long.
  Result<Reply> ask(const Request& request, std::chrono::milliseconds limit);
  // The same with bytes of whatever kind.
  Result<std::string> exchange(std::string_view request, std::chrono::milliseconds limit);
  // The signal that ended it, 0 where it ended by itself; nothing where it still runs a moment after it closed its
  // pipe.
  std::optional<int> ended_by();

  [[nodiscard]] int process() const { return process_; }

 private:
  WorkerProcess(int socket, int process, std::string name)
      : socket_(socket), process_(process), name_(std::move(name)) {}
  int socket_;
  int process_;
  std::string name_;
};

// The path in the environment's `variable`, or the program of that name beside the running one; empty if there is none.
std::string find_program(const char* variable, const char* name);

}  // namespace wm::rewrite
