#include "runtime/schedule/spin_mutex.h"

namespace wm::runtime {
namespace {

constexpr int kSpins = 4;           // times the usual time: a section may make calls of the driver
constexpr int kLongestSleep = 100;  // milliseconds, before a thread that is held back looks again

}  // namespace

void SpinMutex::lock() {
  const auto taken = [this] { return first_ == 0 && mutex_.try_lock(); };
  while (!spin_until(taken, kSpins * spin_time())) {
    if (first_ == 0) return mutex_.lock();
    ++held_back_;
    if (const std::uint32_t first = first_; first != 0) sleep_on(first_, first, kLongestSleep);
    --held_back_;
  }
}

void SpinMutex::lock_first() {
  ++first_;
  if (!spin_until([this] { return mutex_.try_lock(); }, kSpins * spin_time())) mutex_.lock();
  if (--first_ == 0 && held_back_ != 0) wake_all(first_);
}

}  // namespace wm::runtime
