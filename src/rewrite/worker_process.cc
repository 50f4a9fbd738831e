#include "rewrite/worker_process.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewrite/wire.h"

extern char** environ;

namespace wm::rewrite {
namespace {

using Clock = std::chrono::steady_clock;

Error system_error(const std::string& what) { return {what + ": " + std::strerror(errno)}; }

// Waits until the socket is ready for `events`, or the deadline has passed.
Result<void> wait_for(const std::string& who, int socket, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Error{who + " takes too long"};
    pollfd waiting{socket, events, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<long long>(left, 60000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return system_error("waiting for " + who);
  }
}

Result<void> send_all(const std::string& who, int socket, std::string_view bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    if (auto ready = wait_for(who, socket, POLLOUT, deadline); !ready) return ready;
    // MSG_NOSIGNAL: a worker process that died is reported as an error, not as a signal to the application.
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EINTR && errno != EAGAIN) return Error{who + " has died"};
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<std::string> receive(const std::string& who, int socket, std::size_t size, Clock::time_point deadline) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    if (auto ready = wait_for(who, socket, POLLIN, deadline); !ready) return ready.error();
    const ssize_t got = recv(socket, bytes.data() + at, size - at, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return Error{who + " has died"};
    if (got > 0) at += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::string& program, const std::string& name) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string word = program;
  char* words[] = {word.data(), nullptr};
  pid_t process = -1;
  const int failed = posix_spawn(&process, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return Error{"cannot start " + program + ": " + std::strerror(failed)};
  }
  return WorkerProcess(ends[0], process, name);
}

WorkerProcess::~WorkerProcess() {
  if (socket_ >= 0) close(socket_);
  if (process_ <= 0) return;
  kill(process_, SIGKILL);  // it has no state that needs an orderly shutdown
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::optional<int> WorkerProcess::ended_by() {
  for (int i = 0; i < 200; ++i) {
    int status = 0;
    if (process_ <= 0 || waitpid(process_, &status, WNOHANG) == process_) {
      process_ = -1;
      return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    usleep(5000);  // it may still be writing its core dump or message
  }
  return std::nullopt;
}

Result<std::string> WorkerProcess::exchange(std::string_view body, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  if (body.size() > kMaxFrame) return Error{"more than " + name_ + " takes"};
  std::string frame(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<char>(body.size() >> (8 * i) & 0xff);
  if (auto sent = send_all(name_, socket_, frame, deadline); !sent) return sent.error();
  if (auto sent = send_all(name_, socket_, body, deadline); !sent) return sent.error();
  const auto head = receive(name_, socket_, 4, deadline);
  if (!head) return head.error();
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size |= std::uint32_t{static_cast<unsigned char>((*head)[i])} << (8 * i);
  if (size > kMaxFrame) return Error{name_ + " answers nonsense"};
  return receive(name_, socket_, size, deadline);
}

Result<Reply> WorkerProcess::ask(const Request& request, std::chrono::milliseconds limit) {
  const auto bytes = exchange(encode(request), limit);
  if (!bytes) return bytes.error();
  return decode_reply(*bytes);
}

std::string find_program(const char* variable, const char* name) {
  if (const char* program = std::getenv(variable); program != nullptr && *program != '\0') return program;
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  const auto beside = self.parent_path() / name;
  return std::filesystem::exists(beside, failed) ? beside.string() : std::string{};
}

}  // namespace wm::rewrite
