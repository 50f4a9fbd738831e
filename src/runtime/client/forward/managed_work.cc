#include "runtime/client/forward/managed_work.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>

#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

// The time of the launch that ended the device's idleness; 0: the program has no work.
std::atomic<std::uint64_t> busy_since{0};

constexpr std::chrono::microseconds kQuotaLook{50};

std::uint64_t now() { return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

void wait_for_others(runtime::ControlPage& page) {
  const std::uint32_t own = page.words.board_bit.load(std::memory_order_relaxed);
  const auto others_busy = [&] { return (board().busy.load(std::memory_order_acquire) & ~own) != 0; };
  if (!others_busy()) return;
  const std::uint64_t start = now();
  const std::uint64_t limit = page.words.wait_microseconds.load(std::memory_order_relaxed) * std::uint64_t{1000};
  std::uint64_t passed = 0;
  while (others_busy() && passed < limit) {
    std::this_thread::yield();
    passed = now() - start;
  }
  page.counters.waits.fetch_add(1, std::memory_order_relaxed);
  page.counters.waited_nanoseconds.fetch_add(passed, std::memory_order_relaxed);
}

// Waits until the daemon ends the pause, or the time that it has set has passed.
void wait_for_pause(runtime::ControlPage& page) {
  const std::uint64_t start = now();
  const std::uint64_t limit = page.words.wait_microseconds.load(std::memory_order_relaxed) * std::uint64_t{1000};
  while ((page.words.modes.load(std::memory_order_acquire) & runtime::kPause) != 0 && now() - start < limit)
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  page.counters.waits.fetch_add(1, std::memory_order_relaxed);
  page.counters.waited_nanoseconds.fetch_add(now() - start, std::memory_order_relaxed);
}

// Waits until the daemon allows another launch, or the time that it has set has passed. The launch is counted already.
void wait_for_quota(runtime::ControlPage& page, std::uint64_t launches) {
  runtime::ProgramCounters& c = page.counters;
  c.held_launches.fetch_add(launches, std::memory_order_relaxed);
  const auto is_held = [&] {
    const std::uint64_t counted = c.launches.load(std::memory_order_relaxed);
    return (page.words.modes.load(std::memory_order_acquire) & runtime::kQuota) != 0 &&
           counted - c.held_launches.load() >= page.words.launch_limit.load(std::memory_order_relaxed);
  };
  if (is_held()) {
    const std::uint64_t start = now();
    const std::uint64_t limit = page.words.wait_microseconds.load(std::memory_order_relaxed) * std::uint64_t{1000};
    while (is_held() && now() - start < limit) std::this_thread::sleep_for(kQuotaLook);
    c.waits.fetch_add(1, std::memory_order_relaxed);
    c.waited_nanoseconds.fetch_add(now() - start, std::memory_order_relaxed);
  }
  c.held_launches.fetch_sub(launches, std::memory_order_relaxed);
}

}  // namespace

void before_launch(runtime::ControlPage& page, std::uint32_t modes, std::uint64_t threads, std::uint64_t launches) {
  if ((modes & runtime::kPause) != 0) wait_for_pause(page);
  if ((modes & runtime::kQuota) != 0) wait_for_quota(page, launches);
  if ((modes & runtime::kWaitForOthers) != 0) wait_for_others(page);
  if ((modes & runtime::kTellOthers) != 0) {
    const std::uint32_t bit = page.words.board_bit.load(std::memory_order_relaxed);
    if ((board().busy.load(std::memory_order_relaxed) & bit) == 0)
      board().busy.fetch_or(bit, std::memory_order_seq_cst);
    if (board().sleepers.load(std::memory_order_seq_cst) != 0) runtime::wake_all(board().busy);
  }
  if ((modes & runtime::kMeasure) == 0) return;
  const auto launched = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, ~std::uint32_t{0}));
  runtime::Word& peak = page.counters.peak_threads;
  if (launched > peak.load(std::memory_order_relaxed)) peak.store(launched, std::memory_order_relaxed);
  const std::uint64_t time = now();
  page.counters.launched_at.store(time, std::memory_order_relaxed);
  if (busy_since.load(std::memory_order_relaxed) == 0) {
    std::uint64_t idle = 0;
    busy_since.compare_exchange_strong(idle, time, std::memory_order_relaxed);
  }
}

LimitedLaunch limited(runtime::ControlPage& page, const BlockLimits::Launch& launch, CUstream stream) {
  const BlockLimit limit{page.words.blocks_per_sm.load(std::memory_order_relaxed),
                         page.words.occupancy_percent.load(std::memory_order_relaxed)};
  LimitedLaunch planned{launch.shared_bytes};
  if (!is_capturing(stream)) planned = BlockLimits::get().plan(launch, limit);
  auto& count = planned.is_limited ? page.counters.limited_launches : page.counters.unlimited_launches;
  count.fetch_add(1, std::memory_order_relaxed);
  return planned;
}

bool is_capturing(CUstream stream) {
  if (stream == nullptr || stream == CU_STREAM_LEGACY) return false;  // these cannot be captured
  int status = 0;
  const auto call = real().cuStreamIsCapturing;
  return call == nullptr || call(stream, &status) != CUDA_SUCCESS || status != 0;
}

GreenContexts::Set place(runtime::ControlPage& page, CUstream stream) {
  if (is_capturing(stream) || !GreenContexts::get().is_current()) return {};
  return GreenContexts::get().find(page.words.sm_groups.load(std::memory_order_relaxed));
}

void count_placed(runtime::ControlPage& page, GreenContexts::Set set, bool is_placed) {
  (is_placed ? page.counters.placed_launches : page.counters.unplaced_launches).fetch_add(1, std::memory_order_relaxed);
  if (is_placed) page.counters.placed_groups.store(set.groups, std::memory_order_relaxed);
}

void note_failure(runtime::ControlPage& page, CUresult result) {
  // Faults of memory, links, kernels and MPS, by their numbers in the driver's interface. Other errors leave the
  // context usable.
  constexpr int kFaults[] = {214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719, 805, 806, 807, 808, 809};
  std::uint32_t none = 0;
  if (std::find(std::begin(kFaults), std::end(kFaults), static_cast<int>(result)) != std::end(kFaults))
    page.counters.fault.compare_exchange_strong(none, static_cast<std::uint32_t>(result));
}

void after_synchronization(runtime::ControlPage& page) {
  const std::uint32_t bit = page.words.board_bit.load(std::memory_order_relaxed);
  if (bit != 0 && (board().busy.load(std::memory_order_relaxed) & bit) != 0)
    board().busy.fetch_and(~bit, std::memory_order_release);
  if (busy_since.load(std::memory_order_relaxed) == 0) return;
  const std::uint64_t start = busy_since.exchange(0, std::memory_order_relaxed);
  if (start == 0) return;
  const std::uint64_t passed = now() - start;
  page.counters.requests.fetch_add(1, std::memory_order_relaxed);
  page.counters.request_nanoseconds.fetch_add(passed, std::memory_order_relaxed);
  page.counters.request_times[runtime::time_bucket(passed)].fetch_add(1, std::memory_order_relaxed);
}

}  // namespace wm::forward
