#include "rewrite/worker_process.h"

#include <cerrno>
#include <csignal>
#include <cstring>
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
Result<void> wait_for(int socket, short events, Clock::time_point deadline) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Error{"the rewriter takes too long"};
    pollfd waiting{socket, events, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::min<long long>(left, 60000)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return system_error("waiting for the rewriter");
  }
}

Result<void> send_all(int socket, std::string_view bytes, Clock::time_point deadline) {
  while (!bytes.empty()) {
    if (auto ready = wait_for(socket, POLLOUT, deadline); !ready) return ready;
    // MSG_NOSIGNAL: a worker that died is an error of ours, not a signal to the application.
    const ssize_t sent = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno != EINTR && errno != EAGAIN) return Error{"the rewriter has died"};
    if (sent > 0) bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<std::string> receive(int socket, std::size_t size, Clock::time_point deadline) {
  std::string bytes(size, '\0');
  for (std::size_t at = 0; at < size;) {
    if (auto ready = wait_for(socket, POLLIN, deadline); !ready) return ready.error();
    const ssize_t got = recv(socket, bytes.data() + at, size - at, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) return Error{"the rewriter has died"};
    if (got > 0) at += static_cast<std::size_t>(got);
  }
  return bytes;
}

}  // namespace

Result<WorkerProcess> WorkerProcess::start(const std::string& program) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return system_error("socketpair");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::string name = program;
  char* words[] = {name.data(), nullptr};
  pid_t process = -1;
  const int failed = posix_spawn(&process, program.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return Error{"cannot start " + program + ": " + std::strerror(failed)};
  }
  return WorkerProcess(ends[0], process);
}

WorkerProcess::~WorkerProcess() {
  if (socket_ >= 0) close(socket_);
  if (process_ <= 0) return;
  kill(process_, SIGKILL);  // it holds nothing worth an orderly end
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<Reply> WorkerProcess::ask(const Request& request, std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  const std::string body = encode(request);
  if (body.size() > kMaxFrame) return Error{"the program is too large to rewrite"};
  std::string frame(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) frame[i] = static_cast<char>(body.size() >> (8 * i) & 0xff);
  if (auto sent = send_all(socket_, frame + body, deadline); !sent) return sent.error();
  const auto head = receive(socket_, 4, deadline);
  if (!head) return head.error();
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < 4; ++i) size |= std::uint32_t{static_cast<unsigned char>((*head)[i])} << (8 * i);
  if (size > kMaxFrame) return Error{"the rewriter answers nonsense"};
  const auto bytes = receive(socket_, size, deadline);
  if (!bytes) return bytes.error();
  return decode_reply(*bytes);
}

}  // namespace wm::rewrite
