// Whether a QoS kernel should have another block, or return one, by what the blocks that it took did for it.
//
// Section 3.6 of the QoS paper (ISCA 2017) gives a kernel that is behind its goal another block in every epoch. A
// kernel that is limited by its L1 or by the load/store unit becomes no faster, or slower, and its neighbours lose
// their blocks for nothing. So two additional blocks in a row that did not raise its rate return, and it takes no more
// for a while, which doubles with each repetition. A kernel keeps blocks that it took for two epochs, in which their
// effect shows, before it may return some.
#pragma once

#include <algorithm>
#include <cstdint>

namespace wm::policy {

class BlockGrowth {
 public:
  static constexpr std::uint32_t kUseless = 2;    // steps without effect in a row that end the growth
  static constexpr std::uint32_t kFirstWait = 2;  // epochs
  static constexpr std::uint32_t kMaxWait = 64;

  // An epoch ended, in which the kernel had this rate while it was not held back.
  void end_epoch(double rate) {
    rate_ = rate;
    wait_ -= wait_ > 0 ? 1 : 0;
    if (state_ == State::returning && returns_ == 0) state_ = State::resting;
    if (state_ == State::resting && wait_ == 0) state_ = State::open;
    if (taken_ == 0) return;
    const bool helped = rate > before_;
    useless_ = helped ? 0 : useless_ + 1;
    useless_blocks_ = helped ? 0 : useless_blocks_ + taken_;
    taken_ = 0;
    if (useless_ < kUseless) return;
    state_ = State::returning;
    returns_ = useless_blocks_;
    useless_ = useless_blocks_ = 0;
    rest_ = std::min(2 * rest_, kMaxWait);
    wait_ = rest_;
  }

  [[nodiscard]] bool may_grow() const { return state_ == State::open; }
  // Its last blocks had no effect: they return whether it is ahead of its goal or not.
  [[nodiscard]] bool must_return() const { return state_ == State::returning && returns_ > 0; }
  [[nodiscard]] bool may_return() const { return must_return() || (state_ == State::open && wait_ == 0); }

  // Whether it would have met its goal in this epoch with a block less. Rates of single epochs vary: a kernel that
  // returned a block after one good epoch would take it again in the next.
  void had_margin(bool had) { margins_ = had ? margins_ + 1 : 0; }
  [[nodiscard]] bool has_steady_margin() const { return margins_ >= kFirstWait; }

  // It took a block on an SM, or returned one.
  void grow() {
    if (taken_++ > 0) return;
    before_ = rate_;
    wait_ = kFirstWait;
  }
  void give_back() {
    gave_ = true;
    returns_ -= returns_ > 0 ? 1 : 0;
  }
  // After all SMs were considered for this epoch.
  void finish() {
    if (!gave_ && state_ == State::returning) returns_ = 0;  // there is nothing left that could return
    gave_ = false;
  }

 private:
  enum class State : std::uint8_t { open, returning, resting };

  State state_ = State::open;
  double rate_ = 0;                   // the rate in the last epoch
  double before_ = 0;                 // before it took its last blocks
  std::uint32_t taken_ = 0;           // blocks in this epoch
  std::uint32_t margins_ = 0;         // epochs in a row with a margin
  std::uint32_t useless_ = 0;         // epochs in a row whose blocks had no effect
  std::uint32_t useless_blocks_ = 0;  // blocks that it took in them
  std::uint32_t returns_ = 0;         // blocks that must return
  std::uint32_t rest_ = kFirstWait;   // epochs of the last rest
  std::uint32_t wait_ = 0;            // epochs until it may return blocks, or grow again
  bool gave_ = false;                 // a block in this epoch
};

}  // namespace wm::policy
