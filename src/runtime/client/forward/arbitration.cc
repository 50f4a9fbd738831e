#include "runtime/client/forward/arbitration.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>

#include "runtime/client/forward/channel_groups.h"
#include "runtime/client/forward/daemon_page.h"
#include "runtime/client/forward/gate_follower.h"
#include "runtime/client/forward/green_contexts.h"
#include "runtime/client/forward/rewritten_kernels.h"
#include "runtime/client/forward/worker_words.h"
#include "runtime/protocol/descriptor.h"
#include "runtime/protocol/socket.h"

namespace wm::forward {

namespace {

using runtime::Descriptor;

constexpr int kWelcomeMilliseconds = 10'000;
// Between two looks at the channel groups.
constexpr int kLookMilliseconds = 200;
// Between two looks at workers, and at those that have to leave SMs.
constexpr int kWorkersMilliseconds = 20, kLeavingMilliseconds = 1;

struct Connection {
  Descriptor socket;
  struct stat file {};  // the socket's
  std::atomic<bool> groups_changed{false}, has_context{false};
  bool is_denied = false;  // the daemon does not let this program use the GPU
  std::once_flag once;

  // Whether the descriptor is still this connection: a program may close descriptors that it does not know, and their
  // numbers are used again.
  [[nodiscard]] bool is_open() const {
    struct stat now {};
    return ::fstat(socket.get(), &now) == 0 && now.st_dev == file.st_dev && now.st_ino == file.st_ino;
  }
};

Connection* connection = new Connection;

// A forked process has no thread for the connection, and the daemon must notice the end of the parent.
void forget_after_fork() {
  become_unmanaged();
  ChannelGroups::forget_after_fork();
  GateFollower::forget_after_fork();
  RewrittenKernels::forget_after_fork();
  if (connection->socket.open() && connection->is_open()) ::close(connection->socket.get());
  connection = new Connection;
}

runtime::Hello hello() {
  runtime::Hello hello;
  hello.role = runtime::Role::arbitrated;
  if (const char* priority = std::getenv("WARPMUX_PRIORITY")) hello.priority = std::atoi(priority);
  if (const char* share = std::getenv("WARPMUX_SHARE"))
    hello.share = static_cast<std::uint32_t>(std::atof(share) * 1000);
  const char* name = std::getenv("WARPMUX_NAME");
  std::snprintf(hello.name, sizeof hello.name, "%s", name != nullptr ? name : program_invocation_short_name);
  return hello;
}

runtime::ProgramGoal goal() {
  runtime::ProgramGoal goal;
  const char* text = std::getenv("WARPMUX_CUDA_GOAL");
  unsigned kind = 0;
  if (text != nullptr && std::sscanf(text, "%u %lf", &kind, &goal.value) == 2 && kind <= 3)
    goal.kind = static_cast<runtime::ProgramGoal::Kind>(kind);
  return goal;
}

// Maps the memory that a packet brought, for as long as the process lives.
template <typename T>
T* mapped(const Descriptor& file, std::size_t bytes) {
  auto mapping = runtime::Mapping::of(file, bytes);
  if (!mapping) return nullptr;
  return reinterpret_cast<T*>((new runtime::Mapping(std::move(*mapping)))->bytes().data());
}

// The daemon's next answer. Empty: it sends none that is understood.
std::optional<runtime::Packet> receive_answer(const Descriptor& socket, runtime::ProgramWelcome& welcome,
                                              int milliseconds = kWelcomeMilliseconds) {
  auto packet = runtime::receive_packet(socket, milliseconds);
  if (!packet || packet->bytes.size() != sizeof welcome) return std::nullopt;
  std::memcpy(&welcome, packet->bytes.data(), sizeof welcome);
  welcome.reason[sizeof welcome.reason - 1] = 0;
  if (welcome.magic != runtime::kMagic) return std::nullopt;
  return packet;
}

// Empty: connected.
std::string connect(const char* path) {
  auto socket = runtime::connect_to(path);
  if (!socket) return "no daemon answers there";
  if (!runtime::send_packet(*socket, runtime::bytes_of(hello())) ||
      !runtime::send_packet(*socket, runtime::bytes_of(goal())))
    return "it does not listen";
  runtime::ProgramWelcome welcome;
  auto first = receive_answer(*socket, welcome);
  while (first && welcome.answer == runtime::ProgramAnswer::wait) {
    std::fprintf(stderr, "wm: this program waits: %s\n", welcome.reason);
    first = receive_answer(*socket, welcome, -1);
    if (!first) return "the daemon has ended";
  }
  if (!first) return "it is no daemon for CUDA programs (wm serve --cuda)";
  if (welcome.answer == runtime::ProgramAnswer::denied) connection->is_denied = true;
  if (welcome.answer != runtime::ProgramAnswer::accepted) return welcome.reason;
  const auto second = runtime::receive_packet(*socket, kWelcomeMilliseconds);
  if (!second || !first->file.open() || !second->file.open()) return "its answer is incomplete";
  auto* page = mapped<runtime::ControlPage>(first->file, runtime::kControlPageBytes);
  auto* board = mapped<runtime::Board>(second->file, runtime::kBoardBytes);
  if (page == nullptr || board == nullptr || page->version != runtime::kVersion) return "its memory cannot be mapped";
  connection->socket = std::move(*socket);
  if (::fstat(connection->socket.get(), &connection->file) != 0) return "its connection cannot be used";
  become_managed(*page, *board);
  return {};
}

void prepare_sms(const runtime::ControlPage& page) {
  const std::uint32_t sms_of_group = page.words.sms_of_group.load(std::memory_order_relaxed);
  if (sms_of_group == 0) return;
  GreenContexts::get().prepare(page.words.sm_groups.load(std::memory_order_relaxed), sms_of_group);
}

// The SMs of the program's workers: all while the daemon does not limit them. Whether some are still to be left.
bool follow_workers(runtime::ControlPage& page) {
  const bool is_restricted = (page.words.modes.load(std::memory_order_acquire) & runtime::kWorkers) != 0;
  const std::uint32_t allowed = is_restricted ? page.words.own_sms.load(std::memory_order_relaxed) : kAllSms;
  page.workers.added_launches.fetch_add(WorkerWords::get().allow(allowed), std::memory_order_relaxed);
  const auto seen = WorkerWords::get().look();
  page.workers.added_launches.fetch_add(seen ? seen->added : 0, std::memory_order_relaxed);
  page.workers.is_running.store(seen && seen->is_running ? 1 : 0, std::memory_order_relaxed);
  page.workers.sms.store(seen ? runtime::WorkerSms{allowed, seen->leaving}.word() : 0, std::memory_order_relaxed);
  return seen && seen->leaving != 0;
}

// Reads what the daemon sends (a byte: its words have changed) until the connection ends.
void serve_connection(Connection& served) {
  bool is_pending = false, is_leaving = false, is_making = false;
  for (;;) {
    pollfd watched{served.socket.get(), POLLIN | POLLRDHUP, 0};
    const bool has_workers = page().words.workers.load(std::memory_order_relaxed) != 0;
    const int look = has_workers ? kWorkersMilliseconds : kLookMilliseconds;
    const int ready = ::poll(&watched, 1, is_making ? 0 : (is_leaving ? kLeavingMilliseconds : look));
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0 || !served.is_open()) break;
    if (ready > 0) {
      const auto packet = runtime::receive_packet(served.socket, 0);
      if (!packet || packet->bytes.empty()) break;
    }
    if (served.has_context.load()) prepare_sms(page());
    if (has_workers) is_leaving = follow_workers(page());
    const bool has_gates = page().words.gates.load(std::memory_order_relaxed) != 0;
    if (has_gates && ready > 0) GateFollower::wake();
    // Compiling takes long: what the daemon decides meanwhile is followed after every kernel.
    is_making = (has_workers || has_gates) && RewrittenKernels::get().prepare_next();
    if (ready > 0 || served.groups_changed.exchange(false) || is_pending)
      is_pending = ChannelGroups::get().apply(page());
  }
  become_unmanaged();
  (void)WorkerWords::get().allow(kAllSms);
  (void)ChannelGroups::get().apply(page());
  std::fputs("wm: the daemon is gone; this program's CUDA launches are not managed any more\n", stderr);
}

// Empty: the thread runs.
std::string start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::string why;
  try {
    std::thread([served = connection] { serve_connection(*served); }).detach();
  } catch (const std::system_error& error) {
    why = error.what();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return why;
}

}  // namespace

void connect_to_arbiter() {
  std::call_once(connection->once, [] {
    const char* path = std::getenv("WARPMUX_ARBITER");
    if (path == nullptr || *path == 0) return;
    static const bool registered = ::pthread_atfork(nullptr, nullptr, &forget_after_fork) == 0;
    std::string why = registered ? connect(path) : "fork cannot be observed";
    if (why.empty()) why = start_thread();
    if (why.empty()) return;
    become_unmanaged();
    const char* effect =
        connection->is_denied ? "this program may not use the GPU" : "this program's CUDA launches are not managed";
    std::fprintf(stderr, "wm: %s: %s; %s\n", path, why.c_str(), effect);
  });
}

bool is_denied() { return connection->is_denied; }

void ask_for_priority(int priority) {
  page().counters.asked_priority.store(static_cast<std::uint32_t>(priority) + 1, std::memory_order_relaxed);
}

bool ask_for_goal(int kind, double value) {
  const runtime::ProgramGoal goal{static_cast<runtime::ProgramGoal::Kind>(kind), 0, value};
  if (kind < 0 || !goal.is_valid()) return false;
  runtime::ProgramCounters& counters = page().counters;
  counters.asked_goal_value.store(value, std::memory_order_relaxed);
  counters.asked_goal.store(static_cast<std::uint32_t>(kind) + 1, std::memory_order_release);
  return true;
}

void prepare_sms_soon() { connection->has_context.store(true); }

void channel_groups_changed() { connection->groups_changed.store(true); }

}  // namespace wm::forward
