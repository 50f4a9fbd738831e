// The worker program as a child process that is kept: a request down its socket, a reply back.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "base/result.h"
#include "rewrite/program.h"

namespace wm::rewrite {

class WorkerProcess {
 public:
  static Result<WorkerProcess> start(const std::string& program);
  WorkerProcess(WorkerProcess&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), process_(std::exchange(other.process_, -1)) {}
  WorkerProcess& operator=(WorkerProcess&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(process_, other.process_);
    return *this;
  }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess();  // ends it

  // After an error the process is of no more use: it died, or is still busy with what took too long.
  Result<Reply> ask(const Request& request, std::chrono::milliseconds limit);

  [[nodiscard]] int process() const { return process_; }

 private:
  WorkerProcess(int socket, int process) : socket_(socket), process_(process) {}
  int socket_;
  int process_;
};

}  // namespace wm::rewrite
