#include "runtime/client/opencl/process/parallel_copy.h"

#include <cstring>

#include "runtime/protocol/futex.h"

namespace wm::runtime::client {
namespace {

constexpr std::size_t kMinParallelBytes = 256 << 10;
constexpr std::size_t kAlignment = 4096;

bool enough_cores() {
  static const bool enough = std::thread::hardware_concurrency() >= 4;
  return enough;
}

}  // namespace

ParallelCopy::~ParallelCopy() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (helper_.joinable()) helper_.join();
}

void ParallelCopy::copy(std::byte* to, const std::byte* from, std::size_t size) {
  const std::unique_lock lock_caller(caller_mutex_, std::try_to_lock);
  if (size < kMinParallelBytes || !enough_cores() || !lock_caller) {
    std::memcpy(to, from, size);
    return;
  }
  if (!helper_.joinable()) helper_ = std::thread([this] { run_helper(); });
  const std::size_t half = size / 2 / kAlignment * kAlignment;
  to_ = to + half;
  from_ = from + half;
  size_ = size - half;
  requested_.store(true, std::memory_order_release);
  {
    const std::lock_guard lock(mutex_);
    if (helper_sleeps_) changed_.notify_one();
  }
  std::memcpy(to, from, half);
  const auto done = [this] { return !requested_.load(std::memory_order_acquire); };
  while (!spin_until(done)) std::this_thread::yield();
}

void ParallelCopy::run_helper() {
  const auto requested = [this] { return requested_.load(std::memory_order_acquire); };
  for (;;) {
    if (!spin_until(requested)) {
      std::unique_lock lock(mutex_);
      helper_sleeps_ = true;
      changed_.wait(lock, [&] { return stop_ || requested(); });
      helper_sleeps_ = false;
      if (stop_) return;
    }
    std::memcpy(to_, from_, size_);
    requested_.store(false, std::memory_order_release);
  }
}

}  // namespace wm::runtime::client
