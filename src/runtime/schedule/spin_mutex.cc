#include "runtime/schedule/spin_mutex.h"

namespace wm::runtime {
namespace {

constexpr int kSpins = 4;           // times the usual time: a section may make calls of the driver
constexpr int kLongestSleep = 100;  // milliseconds, before a thread that is held back looks again

}  // namespace

void SpinMutex::lock() {
  lock_unless([] { return false; });
}

bool SpinMutex::lock_unless(const std::function<bool()>& obsolete) {
  bool locked = false;
  const auto settled = [&] { return (locked = first_ == 0 && mutex_.try_lock()) || obsolete(); };
  while (!spin_until(settled, kSpins * spin_time())) {
    if (first_ == 0) return mutex_.lock(), true;
    ++held_back_;
    if (const std::uint32_t first = first_; first != 0) sleep_on(first_, first, kLongestSleep);
    --held_back_;
  }
  return locked;
}

void SpinMutex::lock_first() {
  ++first_;
  if (!spin_until([this] { return mutex_.try_lock(); }, kSpins * spin_time())) mutex_.lock();
  if (--first_ == 0 && held_back_ != 0) wake_all(first_);
}

}  // namespace wm::runtime
