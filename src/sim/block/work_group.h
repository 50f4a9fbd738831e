// The blocks of one client on one SM, which progress together: their ends on a common clock of work.
//
// Many blocks start together, and often nothing asks for their order before they have all been replaced or ended. So
// blocks are added at the end, and sorted when the order is asked for.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
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
    std::uint32_t order = 0;  // order of the starts, for blocks that end together

    [[nodiscard]] bool before(const Entry& other) const {
      return end != other.end ? end < other.end : order < other.order;
    }
  };

  // Assigns the empty group to another client, at its kernel's unhindered rate.
  void reset(std::uint32_t client, const KernelModel& kernel, std::uint64_t now) {
    client_ = client;
    clock_ = 0;
    since_ = now;
    rate_ = kernel.unhindered_rate;
    pace_ = {.demand = kernel.demand, .unhindered = kernel.unhindered_rate};
    load_ = kOne;
    delayed_until_ = 0;
    const std::uint32_t capacity = std::bit_ceil(kernel.max_blocks_per_sm + 1);
    if (ring_.size() < capacity) ring_.resize(capacity);
    mask_ = static_cast<std::uint32_t>(ring_.size()) - 1;
    head_ = 0;
    size_ = 0;
    next_order_ = 0;
    sorted_ = true;
  }

  [[nodiscard]] std::uint32_t client() const { return client_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  // Work done since the group formed, as of the last catch_up.
  [[nodiscard]] std::uint64_t clock() const { return clock_; }
  // The blocks in no order, or after sort() by end, the earliest first; among equals the one started first.
  [[nodiscard]] const Entry& operator[](std::uint32_t i) const { return ring_[place(i)]; }
  [[nodiscard]] std::uint64_t first_end() const { return first_end_; }
  [[nodiscard]] std::uint64_t last_end() const { return last_end_; }

  void catch_up(std::uint64_t now) {
    clock_ += (now - since_) * rate_;
    since_ = now;
    if (clock_ >= kLatestClock) [[unlikely]]
      set_back();
  }
  // The clock must be at the current cycle. The block begins to work `delay` cycles later.
  void add(BlockWork work, std::uint64_t delay) {
    delayed_until_ = std::max(delayed_until_, since_ + delay);
    const Entry e{clock_ + delay * rate_ + work.left, work.left, work.block, next_order_++};
    sorted_ = size_ == 0 || (sorted_ && last_end_ <= e.end);
    note_ends(e.end);
    ring_[place(size_++)] = e;
  }
  // Adds `count` blocks; `next()` returns each and the cycles until it begins to work.
  template <typename Next>
  void add_all(std::uint32_t count, Next&& next) {
    std::uint64_t first = size_ == 0 ? ~std::uint64_t{0} : first_end_;
    std::uint64_t last = size_ == 0 ? 0 : last_end_;
    bool sorted = size_ == 0 || sorted_;
    Entry* const ring = ring_.data();
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto [work, delay] = next();
      const std::uint64_t end = clock_ + delay * rate_ + work.left;
      delayed_until_ = std::max(delayed_until_, since_ + delay);
      sorted &= last <= end;
      first = std::min(first, end);
      last = std::max(last, end);
      ring[place(size_ + i)] = {end, work.left, work.block, next_order_ + i};
    }
    first_end_ = first;
    last_end_ = last;
    sorted_ = sorted;
    size_ += count;
    next_order_ += count;
  }
  // The same, in its place of the order.
  void insert(BlockWork work, std::uint64_t delay) {
    sort();
    add(work, delay);
    if (!sorted_) move_to_place(size_ - 1);
    sorted_ = true;
  }
  void sort() {
    if (sorted_) return;
    sorted_ = true;
    // Blocks that a switch stopped come back with most work left first.
    if (ring_[place(size_ - 1)].before(ring_[head_]))
      for (std::uint32_t i = 0; i < size_ / 2; ++i) std::swap(ring_[place(i)], ring_[place(size_ - 1 - i)]);
    for (std::uint32_t i = 1; i < size_; ++i) move_to_place(i);
  }
  Entry pop_first() {
    sort();
    const Entry e = ring_[head_];
    head_ = place(1);
    --size_;
    first_end_ = ring_[head_].end;
    return e;
  }
  Entry pop_last() {
    sort();
    const Entry e = ring_[place(--size_)];
    if (size_ != 0) last_end_ = ring_[place(size_ - 1)].end;
    return e;
  }
  // Removes the blocks that end before cycle `now`, which is at most that of the last end. Returns their number and the
  // sum of `measure(work)` over them.
  struct Dropped {
    std::uint32_t blocks = 0;
    std::uint64_t sum = 0;
  };
  template <typename Measure>
  Dropped drop_ended_before(std::uint64_t now, Measure&& measure);
  // Replaces all blocks by as many others, in any order; `next(i)` returns the one in the place of `i`. Their `order`
  // is less than that given to the next block.
  template <typename Next>
  void replace(std::uint32_t next_order, Next&& next);
  [[nodiscard]] std::uint32_t next_order() const { return next_order_; }

  // The first cycle at which the clock is at `end` or later, at the present rate.
  [[nodiscard]] std::uint64_t cycle_of(std::uint64_t end) const {
    if (end <= clock_) return since_;
    const std::uint64_t left = end - clock_;
    return since_ + (rate_ == kOne ? (left + kOne - 1) >> kFraction : (left + rate_ - 1) / rate_);
  }
  // The cycle from which the block works, or the last update of the clock where it works already.
  [[nodiscard]] std::uint64_t begin_of(const Entry& e) const {
    return e.end < e.work ? since_ : cycle_of(e.end - e.work);
  }
  // Work the block has done since it was started.
  [[nodiscard]] std::uint64_t done(const Entry& e) const {
    const std::uint64_t left = e.end > clock_ ? e.end - clock_ : 0;
    return e.work - std::min(left, e.work);
  }

  // The demand of all its blocks on the SM's limiting resource.
  [[nodiscard]] std::uint64_t load() const { return pace_.demand * size_; }
  [[nodiscard]] std::uint64_t unhindered() const { return pace_.unhindered; }
  // Sets the rate for a total demand of `load` (at least 1, in 1/65536) on the SM.
  void set_load(std::uint64_t load, std::uint64_t now) {
    if (load == load_) return;
    load_ = load;
    catch_up(now);
    const std::uint64_t rate =
        load == kOne ? pace_.unhindered : std::max<std::uint64_t>(1, (pace_.unhindered << kFraction) / load);
    if (now < delayed_until_ && rate != rate_) keep_delays(rate);
    rate_ = rate;
  }

 private:
  struct Pace {
    std::uint64_t demand = 0;  // the demand of one block
    std::uint64_t unhindered = kOne;
  };
  // A block has at most 1e13 cycles of work (kernel_model.cc), so ends up to this clock and beyond it fit into 64 bits.
  static constexpr std::uint64_t kLatestClock = std::uint64_t{1} << 62;

  [[nodiscard]] std::uint32_t place(std::uint32_t i) const { return (head_ + i) & mask_; }

  // Counts the clock and all ends from a later moment: blocks that follow each other for days would exceed 64 bits.
  void set_back() {
    const std::uint64_t by = size_ == 0 ? clock_ : std::min(clock_, first_end_);
    for (std::uint32_t i = 0; i < size_; ++i) ring_[place(i)].end -= by;
    clock_ -= by;
    first_end_ -= by;
    last_end_ -= by;
  }

  // Moves the ends of blocks that have not begun to work: a delay has a length in cycles, whatever the rate becomes.
  void keep_delays(std::uint64_t rate) {
    const std::uint32_t all = size_;  // `note_ends` counts on from none
    for (size_ = 0; size_ < all; ++size_) {
      Entry& e = ring_[place(size_)];
      const std::uint64_t without_delay = clock_ + e.work;
      if (e.end > without_delay) e.end = without_delay + (e.end - without_delay) / rate_ * rate;
      note_ends(e.end);
    }
    sorted_ = size_ < 2;
  }
  void note_ends(std::uint64_t end) {
    first_end_ = size_ == 0 ? end : std::min(first_end_, end);
    last_end_ = size_ == 0 ? end : std::max(last_end_, end);
  }
  // Moves a block to its place among those before it, which are sorted.
  void move_to_place(std::uint32_t i) {
    const Entry e = ring_[place(i)];
    for (; i > 0 && e.before(ring_[place(i - 1)]); --i) ring_[place(i)] = ring_[place(i - 1)];
    ring_[place(i)] = e;
  }

  std::uint32_t client_ = 0;
  std::uint64_t clock_ = 0;
  std::uint64_t since_ = 0;  // cycle of the last update of the clock
  std::uint64_t rate_ = kOne;
  Pace pace_;
  std::uint64_t delayed_until_ = 0;  // cycle from which all blocks work
  std::uint64_t load_ = kOne;        // the SM's total demand that `rate_` was found for
  std::vector<Entry> ring_;
  std::uint32_t mask_ = 0;  // the ring's size less one
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t next_order_ = 0;
  bool sorted_ = true;
  std::uint64_t first_end_ = 0;  // the earliest end of all blocks
  std::uint64_t last_end_ = 0;   // the latest
};

template <typename Measure>
WorkGroup::Dropped WorkGroup::drop_ended_before(std::uint64_t now, Measure&& measure) {
  if (now <= since_) return {};
  const std::uint64_t ended = clock_ + (now - 1 - since_) * rate_;  // the clock a cycle earlier
  if (first_end_ > ended) return {};
  const std::uint32_t all = size_;
  std::uint32_t kept = 0;
  std::uint64_t first = last_end_;
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < all; ++i) {  // without branches: which blocks have ended is not predictable
    const Entry e = ring_[place(i)];
    const auto stays = static_cast<std::uint32_t>(e.end > ended);
    const std::uint64_t if_ended = std::uint64_t{stays} - 1;  // all ones where it has ended
    sum += measure(e.work) & if_ended;
    first = std::min(first, e.end | if_ended);
    ring_[place(kept)] = e;
    kept += stays;
  }
  size_ = kept;
  first_end_ = first;
  return {all - kept, sum};
}

template <typename Next>
void WorkGroup::replace(std::uint32_t next_order, Next&& next) {
  const std::uint32_t all = size_;
  for (size_ = 0; size_ < all; ++size_) {
    const Entry e = next(size_);
    note_ends(e.end);
    ring_[place(size_)] = e;
  }
  next_order_ = next_order;
  sorted_ = size_ < 2;
}

}  // namespace wm::sim
