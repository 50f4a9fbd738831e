#include "runtime/client/forward/arbitration.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <thread>

#include "runtime/client/forward/channel_groups.h"
#include "runtime/protocol/descriptor.h"
#include "runtime/protocol/socket.h"

namespace wm::forward {

namespace {

using runtime::Descriptor;

constexpr int kWelcomeMilliseconds = 10'000;
// Between two attempts to set the time slice of a channel group.
constexpr int kRetryMilliseconds = 100;

runtime::ControlPage unmanaged_page;
runtime::Board unmanaged_board;

struct Connection {
  Descriptor socket, groups_changed;
  std::once_flag once;
};

Connection* connection = new Connection;

void become_unmanaged() {
  detail::page.store(&unmanaged_page, std::memory_order_relaxed);
  detail::board.store(&unmanaged_board, std::memory_order_relaxed);
}

// A forked process has no thread for the connection, and the daemon must notice the end of the parent.
void forget_after_fork() {
  become_unmanaged();
  ChannelGroups::forget_after_fork();
  (void)Descriptor(std::move(connection->socket));
  (void)Descriptor(std::move(connection->groups_changed));
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
  if (text != nullptr && std::sscanf(text, "%u %lf", &kind, &goal.value) == 2 && kind <= 2)
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

// Empty: connected.
std::string connect(const char* path) {
  auto socket = runtime::connect_to(path);
  if (!socket) return "no daemon answers there";
  if (!runtime::send_packet(*socket, runtime::bytes_of(hello())) ||
      !runtime::send_packet(*socket, runtime::bytes_of(goal())))
    return "it does not listen";
  auto first = runtime::receive_packet(*socket, kWelcomeMilliseconds);
  runtime::ProgramWelcome welcome;
  if (!first || first->bytes.size() != sizeof welcome) return "it is no daemon for CUDA programs (wm serve --cuda)";
  std::memcpy(&welcome, first->bytes.data(), sizeof welcome);
  welcome.reason[sizeof welcome.reason - 1] = 0;
  if (welcome.magic != runtime::kMagic || welcome.accepted == 0) return welcome.reason;
  const auto second = runtime::receive_packet(*socket, kWelcomeMilliseconds);
  if (!second || !first->file.open() || !second->file.open()) return "its answer is incomplete";
  auto* page = mapped<runtime::ControlPage>(first->file, runtime::kControlPageBytes);
  auto* board = mapped<runtime::Board>(second->file, runtime::kBoardBytes);
  if (page == nullptr || board == nullptr || page->version != runtime::kVersion) return "its memory cannot be mapped";
  connection->socket = std::move(*socket);
  connection->groups_changed = Descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  detail::board.store(board, std::memory_order_release);
  detail::page.store(page, std::memory_order_release);
  return {};
}

// Reads what the daemon sends (a byte: its words have changed) until the connection ends.
void serve_connection(const Connection& served) {
  int timeout = -1;
  for (;;) {
    pollfd watched[] = {{served.socket.get(), POLLIN | POLLRDHUP, 0}, {served.groups_changed.get(), POLLIN, 0}};
    const int ready = ::poll(watched, 2, timeout);
    if (ready < 0 && errno == EINTR) continue;
    if (ready < 0) return;
    eventfd_t count = 0;
    if (watched[1].revents != 0) (void)::eventfd_read(served.groups_changed.get(), &count);
    if (watched[0].revents != 0) {
      const auto packet = runtime::receive_packet(served.socket, 0);
      if (packet && packet->bytes.empty()) break;
    }
    timeout = ChannelGroups::get().apply(page()) ? kRetryMilliseconds : -1;
  }
  become_unmanaged();
  (void)ChannelGroups::get().apply(page());
  std::fputs("wm: the daemon is gone; this program's CUDA launches are not managed any more\n", stderr);
}

void start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([served = connection] { serve_connection(*served); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

namespace detail {
std::atomic<runtime::ControlPage*> page{&unmanaged_page};
std::atomic<runtime::Board*> board{&unmanaged_board};
}  // namespace detail

void connect_to_arbiter() {
  std::call_once(connection->once, [] {
    const char* path = std::getenv("WARPMUX_ARBITER");
    if (path == nullptr || *path == 0) return;
    static const bool registered = ::pthread_atfork(nullptr, nullptr, &forget_after_fork) == 0;
    if (const std::string why = connect(path); !why.empty() || !registered) {
      std::fprintf(stderr, "wm: %s: %s; this program's CUDA launches are not managed\n", path, why.c_str());
      return;
    }
    start_thread();
  });
}

bool is_managed() { return &page() != &unmanaged_page; }

void ask_for_priority(int priority) {
  page().counters.asked_priority.store(static_cast<std::uint32_t>(priority) + 1, std::memory_order_relaxed);
}

void channel_groups_changed() {
  if (connection->groups_changed.open()) (void)::eventfd_write(connection->groups_changed.get(), 1);
}

}  // namespace wm::forward
