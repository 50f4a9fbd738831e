// When the gates of this program's kernels are closed: while another program has latency-sensitive work, but not for
// longer than a millisecond at a time, and not for more than a part of the time in all. A program that never says that
// its work has ended, or always has work, does not stop this one.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wm::forward {

class GateSchedule {
 public:
  static constexpr std::uint64_t kLongest = 1'000'000;  // nanoseconds
  // Gates that could be closed for a shorter time than a request takes stay open.
  static constexpr std::uint64_t kShortest = 100'000;

  // Whether gates are to be closed at the time `now` in nanoseconds. `part`: of the time that they may be, 0 to 1.
  [[nodiscard]] bool closes(std::uint64_t now, bool others_have_work, double part) {
    pass(now, part);
    const std::uint64_t closed_for = now - closed_since_;
    if (!others_have_work) {
      state_ = State::open;
    } else if (state_ == State::closed && (closed_for >= kLongest || budget_ <= 0)) {
      state_ = State::used_up;
    } else if (state_ == State::open && budget_ >= static_cast<double>(kShortest)) {
      state_ = State::closed;
      closed_since_ = now;
    }
    return state_ == State::closed;
  }

 private:
  enum class State { open, closed, used_up };  // used_up: open until the others' work ends
  static constexpr double kMaxBudget = 5'000'000;

  void pass(std::uint64_t now, double part) {
    const auto passed = static_cast<double>(last_ == 0 ? 0 : now - last_);
    last_ = now;
    budget_ = std::min(budget_ + part * passed, kMaxBudget);
    if (state_ == State::closed) budget_ -= passed;
  }

  State state_ = State::open;
  std::uint64_t last_ = 0, closed_since_ = 0;
  double budget_ = static_cast<double>(kLongest);  // nanoseconds for which gates may still be closed
};

}  // namespace wm::forward
