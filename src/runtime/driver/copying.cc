#include "runtime/driver/copying.h"

#include <cstring>

#include "runtime/protocol/futex.h"

namespace wm::runtime::driver {
namespace {

constexpr std::size_t kWorthIt = 256 << 10;
constexpr std::size_t kLine = 4096;

bool cores_to_spare() {
  static const bool enough = std::thread::hardware_concurrency() >= 4;
  return enough;
}

}  // namespace

Copying::~Copying() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (helper_.joinable()) helper_.join();
}

void Copying::copy(std::byte* to, const std::byte* from, std::size_t size) {
  const std::unique_lock mine(one_at_a_time_, std::try_to_lock);
  if (size < kWorthIt || !cores_to_spare() || !mine) {
    std::memcpy(to, from, size);
    return;
  }
  if (!helper_.joinable()) helper_ = std::thread([this] { help(); });
  const std::size_t half = size / 2 / kLine * kLine;
  to_ = to + half;
  from_ = from + half;
  size_ = size - half;
  asked_.store(true, std::memory_order_release);
  {
    const std::lock_guard lock(mutex_);
    if (asleep_) changed_.notify_one();
  }
  std::memcpy(to, from, half);
  const auto done = [this] { return !asked_.load(std::memory_order_acquire); };
  while (!spin_until(done)) std::this_thread::yield();
}

void Copying::help() {
  const auto asked = [this] { return asked_.load(std::memory_order_acquire); };
  for (;;) {
    if (!spin_until(asked)) {
      std::unique_lock lock(mutex_);
      asleep_ = true;
      changed_.wait(lock, [&] { return stop_ || asked(); });
      asleep_ = false;
      if (stop_) return;
    }
    std::memcpy(to_, from_, size_);
    asked_.store(false, std::memory_order_release);
  }
}

}  // namespace wm::runtime::driver
