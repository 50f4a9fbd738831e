#include "runtime/client/forward/gate_follower.h"

#include <chrono>
#include <csignal>
#include <pthread.h>
#include <system_error>
#include <thread>

#include "runtime/client/forward/daemon_page.h"
#include "runtime/client/forward/gate_schedule.h"
#include "runtime/client/forward/gate_words.h"
#include "runtime/client/forward/green_contexts.h"

namespace wm::forward {

namespace {

constexpr int kIdleMilliseconds = 200;
constexpr std::uint64_t kAwakeNanoseconds = 2'000'000;  // after the board has changed
constexpr int kAsleepMilliseconds = 10;
constexpr int kLooksBetweenYields = 16;

std::uint64_t now() { return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

runtime::Word wakes{0};
std::atomic<bool> is_started{false};

class Follower {
 public:
  void run() {
    const AllowedInCaptures allowed;
    for (;;) {
      const std::uint32_t seen = wakes.load();
      if ((page().words.modes.load(std::memory_order_relaxed) & runtime::kGate) != 0 && !GateWords::get().empty()) {
        follow();
      } else {
        set(false);
        runtime::sleep_on(wakes, seen, kIdleMilliseconds);
      }
    }
  }

 private:
  void follow() {
    runtime::ControlPage& page = forward::page();
    const std::uint32_t own = page.words.board_bit.load(std::memory_order_relaxed);
    const std::uint32_t busy = board().busy.load(std::memory_order_acquire);
    const double part = page.words.gate_percent.load(std::memory_order_relaxed) / 100.0;
    const std::uint64_t time = now();
    if (busy != seen_busy_) changed_at_ = time;
    seen_busy_ = busy;
    set(schedule_.closes(time, (busy & ~own) != 0, part));
    if (!is_closed_ && time - changed_at_ > kAwakeNanoseconds) return sleep(busy, own);
    for (int i = 0; i < kLooksBetweenYields && board().busy.load(std::memory_order_relaxed) == busy; ++i)
      std::atomic_signal_fence(std::memory_order_seq_cst);
    std::this_thread::yield();
  }

  // A program without a bit is not woken.
  static void sleep(std::uint32_t busy, std::uint32_t own) {
    runtime::Board& board = forward::board();
    board.sleepers.fetch_or(own, std::memory_order_seq_cst);
    runtime::sleep_on(board.busy, busy, kAsleepMilliseconds);
    board.sleepers.fetch_and(~own, std::memory_order_relaxed);
  }

  void set(bool closed) {
    if (closed == is_closed_) return;
    GateWords::get().write(closed);
    is_closed_ = closed;
    runtime::GateCounters& counters = page().gates;
    if (closed) {
      closed_at_ = now();
      counters.closings.fetch_add(1, std::memory_order_relaxed);
    } else {
      counters.closed_nanoseconds.fetch_add(now() - closed_at_, std::memory_order_relaxed);
    }
  }

  GateSchedule schedule_;
  std::uint32_t seen_busy_ = 0;
  std::uint64_t changed_at_ = 0, closed_at_ = 0;
  bool is_closed_ = false;
};

// The program's signals are not for this thread.
void start_thread() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread([] { Follower().run(); }).detach();
  } catch (const std::system_error&) {
    is_started.store(false);  // gates stay open
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void GateFollower::wake() {
  if (!is_started.exchange(true)) return start_thread();
  wakes.fetch_add(1);
  runtime::wake_all(wakes);
}

void GateFollower::forget_after_fork() { is_started.store(false); }

}  // namespace wm::forward
