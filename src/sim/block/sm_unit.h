// One SM of the block machine: its blocks, their ends, and the contexts being saved or restored.
//
// The blocks of one client on an SM form a group that shares a clock of work: they all progress at the group's rate, so
// a change of rate moves one number and not every block's end. A block ends when the group's clock reaches its end.
//
// Contention. A block that is not hindered works at its kernel's `unhindered_rate` and takes `demand` of the resource
// that limits the SM. Where the demands add up to U > 1, every block on the SM works at its rate over U. A kernel whose
// saturation is 1 thus takes its mean duration on an SM of its own however many of its blocks are there (the
// trace-driven model of ISCA 2014), and kernels that share an SM slow each other only if their total demand
// exceeds it.
//
// Contexts move at the SM's share of memory bandwidth, one batch after the other. Blocks do not work while their
// context moves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/block/kernel_model.h"
#include "sim/block/work_group.h"

namespace wm::sim {

inline constexpr std::uint64_t kNoEvent = ~std::uint64_t{0};

class SmUnit {
 public:
  // A block whose context is being saved.
  struct Leaving {
    std::uint32_t client = 0;
    BlockWork work;
    std::uint64_t at = 0;  // when it has left
    bool asked = false;    // requested by preempt(), which ends with the event Preempted
  };

  // `bytes_per_cycle` is the SM's share of memory bandwidth in 1/65536.
  explicit SmUnit(std::uint64_t bytes_per_cycle) : bytes_per_cycle_(bytes_per_cycle) {}

  // The cycle of the next block that ends or has left.
  [[nodiscard]] std::uint64_t next_event() const { return next_; }

  // The block works from cycle `from` on, which is `now` or later.
  void start(std::uint32_t client, const KernelModel& kernel, BlockWork work, std::uint64_t now, std::uint64_t from);
  // Reserves the context port for a block's restore that may begin at `from`; returns when it is done.
  std::uint64_t restore(std::uint64_t bytes, std::uint64_t from);
  // Stops up to `count` blocks of the client, those with most work left first; their contexts leave from `from` on.
  // `progressed` is called with the work that each has done since it was started. Returns the number stopped.
  template <typename Progressed>
  std::uint32_t stop(std::uint32_t client, std::uint32_t count, std::uint64_t context_bytes, std::uint64_t now,
                     std::uint64_t from, bool asked, Progressed&& progressed);
  // Removes blocks whose work ends by `now` and hands `on_end(client, block, work)` each, the work as it was started.
  template <typename OnEnd>
  void collect_ended(std::uint64_t now, OnEnd&& on_end);
  // Hands `visit(client, count)` the number of each client's blocks whose work ends by `now`, if there are any.
  template <typename Visit>
  void visit_ended(std::uint64_t now, Visit&& visit);
  // The same as collect_ended for contexts that have been saved by `now`: `on_left(const Leaving&)`.
  template <typename OnLeft>
  void collect_left(std::uint64_t now, OnLeft&& on_left);
  // Hands `visit(client, work done)` the progress of every block at work since it was started.
  template <typename Visit>
  void progress(std::uint64_t now, Visit&& visit);

  // One client has all blocks here, at its mean rate, and none is leaving: `replace_ended` may be used.
  [[nodiscard]] bool uniform() const { return groups_.size() == 1 && !contended_ && leaving_.empty(); }
  // Replaces every block that ends at `now`, if they are at most `available`, by the block that `next()` returns;
  // `on_end(work)` is called for each. Returns their number; 0: more than `available` have ended, and nothing was done.
  template <typename OnEnd, typename Next>
  std::uint32_t replace_ended(std::uint64_t now, std::uint32_t available, OnEnd&& on_end, Next&& next);

 private:
  WorkGroup& group_of(std::uint32_t client, const KernelModel& kernel, std::uint64_t now);
  void drop_empty_groups();
  void set_rates(std::uint64_t now);
  void find_next();
  [[nodiscard]] std::uint64_t transfer_cycles(std::uint64_t bytes) const {
    return ((bytes << kFraction) + bytes_per_cycle_ - 1) / bytes_per_cycle_;
  }

  std::uint64_t bytes_per_cycle_;
  std::uint64_t next_ = kNoEvent;
  std::uint64_t port_free_ = 0;  // when the last context on its way has arrived
  std::vector<WorkGroup> groups_;
  std::vector<WorkGroup> spare_;  // empty groups, kept to reuse their memory
  std::vector<Leaving> leaving_;  // in the order in which they leave
  bool contended_ = false;        // rates may differ from 1
};

template <typename OnEnd>
void SmUnit::collect_ended(std::uint64_t now, OnEnd&& on_end) {
  bool emptied = false;
  for (WorkGroup& g : groups_) {
    g.catch_up(now);
    while (!g.empty() && g.first().end <= g.clock()) {
      const WorkGroup::Entry e = g.pop_first();
      on_end(g.client(), e.block, e.work);
    }
    emptied |= g.empty();
  }
  if (emptied) drop_empty_groups();
  set_rates(now);
  find_next();
}

template <typename Visit>
void SmUnit::visit_ended(std::uint64_t now, Visit&& visit) {
  for (WorkGroup& g : groups_) {
    g.catch_up(now);
    std::uint32_t count = 0;
    while (count < g.size() && g[count].end <= g.clock()) ++count;
    if (count != 0) visit(g.client(), count);
  }
}

template <typename OnLeft>
void SmUnit::collect_left(std::uint64_t now, OnLeft&& on_left) {
  std::size_t gone = 0;
  while (gone < leaving_.size() && leaving_[gone].at <= now) on_left(leaving_[gone++]);
  leaving_.erase(leaving_.begin(), leaving_.begin() + static_cast<std::ptrdiff_t>(gone));
  find_next();
}

template <typename Progressed>
std::uint32_t SmUnit::stop(std::uint32_t client, std::uint32_t count, std::uint64_t context_bytes, std::uint64_t now,
                           std::uint64_t from, bool asked, Progressed&& progressed) {
  std::uint32_t stopped = 0;
  for (WorkGroup& g : groups_) {
    if (g.client() != client) continue;
    g.catch_up(now);
    stopped = std::min(count, g.size());
    port_free_ = std::max(port_free_, from) + transfer_cycles(context_bytes * stopped);
    for (std::uint32_t i = 0; i < stopped; ++i) {
      const WorkGroup::Entry e = g.pop_last();
      const std::uint64_t done = g.done(e);
      progressed(done);
      leaving_.push_back({client, {e.block, e.work - done}, port_free_, asked});
    }
    break;
  }
  drop_empty_groups();
  set_rates(now);
  find_next();
  return stopped;
}

template <typename Visit>
void SmUnit::progress(std::uint64_t now, Visit&& visit) {
  for (WorkGroup& g : groups_) {
    g.catch_up(now);
    for (std::uint32_t i = 0; i < g.size(); ++i) visit(g.client(), g.done(g[i]));
  }
}

template <typename OnEnd, typename Next>
std::uint32_t SmUnit::replace_ended(std::uint64_t now, std::uint32_t available, OnEnd&& on_end, Next&& next) {
  WorkGroup& g = groups_.front();
  g.catch_up(now);
  std::uint32_t count = 1;
  while (count < g.size() && g[count].end <= g.clock()) ++count;
  if (count > available) return 0;
  for (std::uint32_t i = 0; i < count; ++i) on_end(g.pop_first().work);
  for (std::uint32_t i = 0; i < count; ++i) g.insert(next(), 0);
  next_ = g.cycle_of(g.first().end);
  return count;
}

}  // namespace wm::sim
