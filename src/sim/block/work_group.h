// The blocks of one client on one SM, which progress together: their ends on a common clock of work.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "sim/block/kernel_model.h"

namespace wm::sim {

// A block and its remaining work: its full duration at first, the rest of it after a switch.
struct BlockWork {
  std::uint32_t block = 0;
  std::uint64_t left = 0;  // cycles at rate 1, in 1/65536
};

class WorkGroup {
 public:
  struct Entry {
    std::uint64_t end = 0;   // end in the group's clock
    std::uint64_t work = 0;  // its work when it was started
    std::uint32_t block = 0;
  };

  // Assigns the empty group to another client, at its kernel's unhindered rate.
  void reset(std::uint32_t client, const KernelModel& kernel, std::uint64_t now) {
    client_ = client;
    clock_ = 0;
    since_ = now;
    rate_ = kernel.unhindered_rate;
    demand_ = kernel.demand;
    unhindered_ = kernel.unhindered_rate;
    const std::uint32_t capacity = std::bit_ceil(kernel.max_blocks_per_sm + 1);
    if (ring_.size() < capacity) ring_.resize(capacity);
    head_ = 0;
    size_ = 0;
  }

  [[nodiscard]] std::uint32_t client() const { return client_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Work done since the group formed, as of the last catch_up.
  [[nodiscard]] std::uint64_t clock() const { return clock_; }
  // By end, the earliest first; among equals the one started first.
  [[nodiscard]] const Entry& operator[](std::uint32_t i) const { return ring_[place(i)]; }
  [[nodiscard]] const Entry& first() const { return ring_[head_]; }
  [[nodiscard]] const Entry& last() const { return ring_[place(size_ - 1)]; }

  void catch_up(std::uint64_t now) {
    clock_ += (now - since_) * rate_;
    since_ = now;
  }
  // The clock must be at the current cycle. The block begins to work `delay` cycles later.
  void insert(BlockWork work, std::uint64_t delay) {
    const Entry e{clock_ + delay * rate_ + work.left, work.left, work.block};
    std::uint32_t i = size_++;
    for (; i > 0 && ring_[place(i - 1)].end > e.end; --i) ring_[place(i)] = ring_[place(i - 1)];
    ring_[place(i)] = e;
  }
  Entry pop_first() {
    const Entry e = ring_[head_];
    head_ = place(1);
    --size_;
    return e;
  }
  Entry pop_last() { return ring_[place(--size_)]; }

  // The first cycle at which the clock is at `end` or later, at the present rate.
  [[nodiscard]] std::uint64_t cycle_of(std::uint64_t end) const {
    if (end <= clock_) return since_;
    const std::uint64_t left = end - clock_;
    return since_ + (rate_ == kOne ? (left + kOne - 1) >> kFraction : (left + rate_ - 1) / rate_);
  }
  // Work the block has done since it was started.
  [[nodiscard]] std::uint64_t done(const Entry& e) const {
    const std::uint64_t left = e.end > clock_ ? e.end - clock_ : 0;
    return e.work - std::min(left, e.work);
  }

  // The demand of all its blocks on the SM's limiting resource.
  [[nodiscard]] std::uint64_t load() const { return demand_ * size_; }
  [[nodiscard]] std::uint64_t unhindered() const { return unhindered_; }
  // Sets the rate for a total demand of `load` (at least 1, in 1/65536) on the SM.
  void set_load(std::uint64_t load, std::uint64_t now) {
    const std::uint64_t rate = std::max<std::uint64_t>(1, (unhindered_ << kFraction) / load);
    if (rate == rate_) return;
    catch_up(now);
    rate_ = rate;
  }

 private:
  [[nodiscard]] std::uint32_t place(std::uint32_t i) const {
    return (head_ + i) & (static_cast<std::uint32_t>(ring_.size()) - 1);
  }

  std::uint32_t client_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t since_ = 0;  // cycle of the last update of the clock
  std::uint64_t rate_ = kOne;
  std::uint64_t demand_ = 0;  // work of a block
  std::uint64_t unhindered_ = kOne;
  std::vector<Entry> ring_;
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace wm::sim
