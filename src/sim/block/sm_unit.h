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
// context moves. Only blocks that have worked since they were started have a context to save: the SM's setup or the
// restore of one that has not is abandoned, and memory still holds what was saved of it before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sim/block/kernel_model.h"
#include "sim/block/work_group.h"

namespace wm::sim {

inline constexpr std::uint64_t kNoEvent = ~std::uint64_t{0};

class SmUnit {
 public:
  // A block that was stopped and whose context, if it has one, is being saved.
  struct Leaving {
    std::uint32_t client = 0;
    BlockWork work;
    std::uint64_t at = 0;  // when it has left
    bool asked = false;    // requested by preempt(), which ends with the event Preempted
  };

  // `bytes_per_cycle` is the SM's share of memory bandwidth in 1/65536.
  explicit SmUnit(std::uint64_t bytes_per_cycle) : bytes_per_cycle_(bytes_per_cycle) {}

  // The cycle of the next block that ends or has left.
  [[nodiscard]] std::uint64_t next_event() {
    if (std::exchange(next_is_stale_, false)) find_next();
    return next_;
  }

  // Starts `count` blocks; `next()` returns the work of each and the cycle from which it works, `now` or later.
  struct Started {
    BlockWork work;
    std::uint64_t from = 0;
  };
  template <typename Next>
  void start(std::uint32_t client, const KernelModel& kernel, std::uint32_t count, std::uint64_t now, Next&& next);
  // One block that works from cycle `from` on.
  void start(std::uint32_t client, const KernelModel& kernel, BlockWork work, std::uint64_t now, std::uint64_t from) {
    start(client, kernel, 1, now, [&] { return Started{work, from}; });
  }
  // Reserves the context port for a block's restore that may begin at `from`; returns when it is done.
  std::uint64_t restore(std::uint64_t bytes, std::uint64_t from);
  // Stops up to `count` blocks of the client, those with most work left first. The contexts of those that have worked
  // leave from `from` on, the others leave at `from`. `progressed` is called with the work that each has done since it
  // was started.
  struct Stopped {
    std::uint32_t blocks = 0;
    std::uint32_t saved = 0;  // how many of them have a context to save
  };
  template <typename Progressed>
  Stopped stop(std::uint32_t client, std::uint32_t count, std::uint64_t context_bytes, std::uint64_t now,
               std::uint64_t from, bool asked, Progressed&& progressed);
  // Removes blocks whose work ends by `now` and hands `on_end(client, block, work)` each, the work as it was started.
  template <typename OnEnd>
  void collect_ended(std::uint64_t now, OnEnd&& on_end);
  // Hands `visit(client, count)` the number of each client's blocks whose work ends by `now`, if there are any.
  template <typename Visit>
  void visit_ended(std::uint64_t now, Visit&& visit);
  // Removes blocks whose contexts have been saved by `now` and hands them to `on_left(span of Leaving)`, those of one
  // client that leave for the same reason together.
  template <typename OnLeft>
  void collect_left(std::uint64_t now, OnLeft&& on_left);
  // Hands `visit(client, work done)` the progress of every block at work since it was started.
  template <typename Visit>
  void progress(std::uint64_t now, Visit&& visit);

  // One client has all blocks here, at its mean rate, and none is leaving: the functions below may be used.
  [[nodiscard]] bool uniform() const { return groups_.size() == 1 && !contended_ && leaving_.empty(); }
  [[nodiscard]] std::uint32_t only_client() const { return groups_.front().client(); }
  [[nodiscard]] WorkGroup& only_group() { return groups_.front(); }
  // To be called after changes to the group.
  void only_group_changed() {
    next_ = groups_.front().cycle_of(groups_.front().first_end());
    next_is_stale_ = false;
  }
  // The cycle in which the last of its blocks ends.
  [[nodiscard]] std::uint64_t last_end() const { return groups_.front().cycle_of(groups_.front().last_end()); }
  // Removes blocks that end before `now`, which is at most last_end(). Returns their number and the sum of
  // `measure(work)` over them.
  template <typename Measure>
  WorkGroup::Dropped drop_ended_before(std::uint64_t now, Measure&& measure);
  // Replaces every block that ends at `now`, if they are at most `available`, by the block that `next()` returns;
  // `on_end(work)` is called for each. Returns their number; 0: more than `available` have ended, and nothing was done.
  template <typename OnEnd, typename Next>
  std::uint32_t replace_ended(std::uint64_t now, std::uint32_t available, OnEnd&& on_end, Next&& next);

 private:
  WorkGroup& group_of(std::uint32_t client, const KernelModel& kernel, std::uint64_t now);
  void drop_empty_groups();
  void set_rates(std::uint64_t now);
  void find_next();
  void abandon_restores(std::uint64_t from);
  [[nodiscard]] std::uint64_t transfer_cycles(std::uint64_t bytes) const {
    return ((bytes << kFraction) + bytes_per_cycle_ - 1) / bytes_per_cycle_;
  }
  // The last transfer of one block's context; the next is often as large.
  struct Restore {
    std::uint64_t bytes = 0;
    std::uint64_t cycles = 0;
  };

  std::uint64_t bytes_per_cycle_;
  std::uint64_t next_ = kNoEvent;
  bool next_is_stale_ = false;   // several changes in a cycle need one search
  std::uint64_t port_free_ = 0;  // when the last context on its way has arrived
  Restore restore_;
  std::vector<WorkGroup> groups_;
  std::vector<WorkGroup> spare_;  // empty groups, kept to reuse their memory
  std::vector<Leaving> leaving_;  // in the order in which they leave
  bool contended_ = false;        // rates may differ from 1
};

template <typename Next>
void SmUnit::start(std::uint32_t client, const KernelModel& kernel, std::uint32_t count, std::uint64_t now,
                   Next&& next) {
  WorkGroup& g = group_of(client, kernel, now);
  g.catch_up(now);
  if (!contended_) {
    const auto next_delayed = [&] {
      const Started block = next();
      return std::pair(block.work, block.from - now);
    };
    if (count == 1) {
      const auto [work, delay] = next_delayed();
      g.insert(work, delay);
    } else {
      g.add_all(count, next_delayed);
    }
    next_ = std::min(leaving_.empty() ? kNoEvent : leaving_.front().at, g.cycle_of(g.first_end()));
    next_is_stale_ = false;
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    const Started block = next();
    if (count == 1)
      g.insert(block.work, block.from - now);
    else
      g.add(block.work, block.from - now);
    set_rates(now);  // the rate decides when the next block ends that begins to work later
  }
  next_is_stale_ = true;
}

template <typename Measure>
WorkGroup::Dropped SmUnit::drop_ended_before(std::uint64_t now, Measure&& measure) {
  WorkGroup& g = groups_.front();
  const WorkGroup::Dropped dropped = g.drop_ended_before(now, measure);
  next_ = g.cycle_of(g.first_end());
  next_is_stale_ = false;
  return dropped;
}

template <typename OnEnd>
void SmUnit::collect_ended(std::uint64_t now, OnEnd&& on_end) {
  bool emptied = false;
  for (WorkGroup& g : groups_) {
    g.catch_up(now);
    while (!g.empty() && g.first_end() <= g.clock()) {
      const WorkGroup::Entry e = g.pop_first();
      on_end(g.client(), e.block, e.work);
    }
    emptied |= g.empty();
  }
  if (emptied) drop_empty_groups();
  set_rates(now);
  next_is_stale_ = true;
}

template <typename Visit>
void SmUnit::visit_ended(std::uint64_t now, Visit&& visit) {
  for (WorkGroup& g : groups_) {
    g.catch_up(now);
    if (g.first_end() > g.clock()) continue;
    g.sort();
    std::uint32_t count = 0;
    while (count < g.size() && g[count].end <= g.clock()) ++count;
    if (count != 0) visit(g.client(), count);
  }
}

template <typename OnLeft>
void SmUnit::collect_left(std::uint64_t now, OnLeft&& on_left) {
  std::size_t gone = 0;
  while (gone < leaving_.size() && leaving_[gone].at <= now) {
    const std::size_t begin = gone;
    const auto together = [&](const Leaving& l) {
      return l.at <= now && l.client == leaving_[begin].client && l.asked == leaving_[begin].asked;
    };
    while (gone < leaving_.size() && together(leaving_[gone])) ++gone;
    on_left(std::span<const Leaving>(leaving_).subspan(begin, gone - begin));
  }
  leaving_.erase(leaving_.begin(), leaving_.begin() + static_cast<std::ptrdiff_t>(gone));
  next_is_stale_ = true;
}

template <typename Progressed>
SmUnit::Stopped SmUnit::stop(std::uint32_t client, std::uint32_t count, std::uint64_t context_bytes, std::uint64_t now,
                             std::uint64_t from, bool asked, Progressed&& progressed) {
  Stopped stopped;
  for (WorkGroup& g : groups_) {
    if (g.client() != client) continue;
    g.catch_up(now);
    stopped.blocks = std::min(count, g.size());
    const std::size_t first = leaving_.size();
    for (std::uint32_t i = 0; i < stopped.blocks; ++i) {
      const WorkGroup::Entry e = g.pop_last();
      const std::uint64_t done = g.done(e);
      progressed(done);
      stopped.saved += done != 0 ? 1 : 0;
      leaving_.push_back({client, {e.block, e.work - done}, done != 0 ? kNoEvent : from, asked});
    }
    abandon_restores(from);
    if (stopped.saved != 0) port_free_ = std::max(port_free_, from) + transfer_cycles(context_bytes * stopped.saved);
    for (std::size_t i = first; i < leaving_.size(); ++i)
      if (leaving_[i].at == kNoEvent) leaving_[i].at = port_free_;
    break;
  }
  const auto earlier = [](const Leaving& a, const Leaving& b) { return a.at < b.at; };
  if (!std::is_sorted(leaving_.begin(), leaving_.end(), earlier))
    std::stable_sort(leaving_.begin(), leaving_.end(), earlier);
  drop_empty_groups();
  set_rates(now);
  next_is_stale_ = true;
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
  g.sort();
  std::uint32_t count = 1;
  while (count < g.size() && g[count].end <= g.clock()) ++count;
  if (count > available) return 0;
  for (std::uint32_t i = 0; i < count; ++i) on_end(g.pop_first().work);
  for (std::uint32_t i = 0; i < count; ++i) g.insert(next(), 0);
  next_ = g.cycle_of(g.first_end());
  next_is_stale_ = false;
  return count;
}

}  // namespace wm::sim
