#include "sim/cycle/sm/sm.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace wm::sim {
namespace {

constexpr std::uint64_t kNeverCycle = ~std::uint64_t{0};
constexpr std::uint64_t kTallied = std::uint64_t{1}
                                   << 22;  // cycles: what one operation is executed in them fits 32 bits

TagSpec tags_of(std::uint32_t bytes, std::uint32_t line, std::uint32_t ways) {
  return {.sets = std::max(1U, bytes / line / ways), .ways = ways};
}

}  // namespace

Sm::Sm(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t index)
    : config_(config),
      index_(index),
      schedulers_count_(config.sm.schedulers),
      issue_width_(config.sm.issue_width),
      greedy_(config.sm.policy == gpu::WarpScheduler::gto && config.sm.issue_width == 1),
      lsu_(config, timing, index),
      icache_(tags_of(config.icache.bytes, config.icache.line, config.icache.ways)),
      constant_cache_(tags_of(config.constant.bytes, config.constant.line, config.constant.ways)),
      warps_(config.sm.warps()),
      grain_(std::max(1U, timing.noc)),
      follows_after_(std::max(1U, grain_ / 2)),
      free_warps_(config.sm.warps()) {
  for (std::uint32_t i = 0; i < warps_.size(); ++i) {
    warps_[i].scheduler = static_cast<std::uint8_t>(i % schedulers_count_);
    warps_[i].bit = WarpMask{1} << (i / schedulers_count_);
    schedulers_[i % schedulers_count_].wants[0] |= warps_[i].bit;
    schedulers_[i % schedulers_count_].units = 1;
  }
  due_.fill(kNeverCycle);
  lsu_due_.fill(kNeverCycle);
  for (std::size_t u = 0; u < gpu::kUnits; ++u)
    if (config.sm.units[u].per_sm) sm_units_ |= 1U << u;
  quota_.fill(std::numeric_limits<std::int64_t>::max());
}

// In order of arrival. Replies of earlier quanta may still be on their way; what was delivered is dropped here.
void Sm::sort_inbox() {
  unsorted_ = false;
  inbox_.erase(inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(inbox_head_));
  inbox_head_ = 0;
  std::sort(inbox_.begin(), inbox_.end(), [](const Message& a, const Message& b) {
    if (a.time != b.time) return a.time < b.time;
    return a.line != b.line ? a.line < b.line : a.token < b.token;
  });
  arrives_ = inbox_.empty() ? kNeverCycle : inbox_.front().time;
}

std::uint32_t Sm::move_context(MessageKind kind, std::uint64_t bytes, std::uint64_t place, std::uint8_t slot) {
  const std::uint32_t load = lsu_.move(kind, bytes, place, slot);
  if (load_info_.size() <= load) load_info_.resize(load + 1);
  load_info_[load] = {};
  return load;
}

void Sm::begin_epoch(std::uint64_t now) {
  const std::uint64_t by = now - epoch_;
  for (WarpSlot& w : warps_)
    for (std::uint32_t& ready : w.scoreboard)
      if (ready != kUnknown) ready = ready > by ? static_cast<std::uint32_t>(ready - by) : 0;
  epoch_ = now;
}

void Sm::run(std::uint64_t begin, std::uint64_t until) {
  if (begin - epoch_ >= kEpoch) begin_epoch(begin);
  if (unsorted_) sort_inbox();
  for (std::uint8_t slot = 0; slot < kMaxKernels; ++slot)
    if (begin - tallies_[slot].counted >= kTallied) {
      count_tally(slot);
      tallies_[slot].counted = begin;
    }
  while (lsu_.moving() && begin < until) {
    const std::uint64_t end = std::min(begin + grain_, until);
    lsu_.pump(begin, end - begin, counters_.data());
    run_until(begin, end);
    begin = end;
  }
  if (begin < until) run_until(begin, until);
}

// Every scheduler looks at what it can do at `now`.
void Sm::look_at(std::uint64_t now) {
  for (std::uint64_t& due : due_) due = std::min(due, now);
  for (std::uint64_t& due : lsu_due_) due = std::min(due, now);
}

// Replies that have come by now, and the loads they complete.
void Sm::deliver(std::uint64_t now) {
  charge_until(now);
  while (inbox_head_ < inbox_.size() && inbox_[inbox_head_].time <= now) {
    done_loads_.clear();
    const Message& reply = inbox_[inbox_head_++];
    const std::uint64_t at = lsu_.replied(reply, done_loads_, counters_.data());
    last_[reply.kernel] = std::max(at, now);
    for (const std::uint32_t load : done_loads_) finish_load(load, std::max(at, now));
  }
  arrives_ = inbox_head_ < inbox_.size() ? inbox_[inbox_head_].time : kNeverCycle;
  if (lsu_.blocked()) {
    done_loads_.clear();
    lsu_.resume(now, counters_.data(), done_loads_);
    for (const std::uint32_t load : done_loads_) finish_load(load, now + config_.l1.latency);
    look_at_lsu();
  }
}

void Sm::finish_load(std::uint32_t load, std::uint64_t at) {
  const LoadInfo info = load_info_[load];
  lsu_.release(load);
  if (info.op == nullptr) {
    moved_.push_back(load);
    return;
  }
  WarpSlot& w = warps_[info.warp];
  Resident& r = *w.resident;
  --r.loads;
  --w.loads;
  for (const std::uint32_t reg : r.run->kernel.program->writes(*info.op)) w.ready[reg] = short_time(at);
  if (info.op->copies == CopyRole::copy) finish_copy(w, info.group, at);
  if (info.atomic != nullptr) {
    info.atomic->complete();
    if (info.atomic->destination != nullptr) --w.atomics;
    track_atomic(*info.atomic, -1);
    port_.recycle(info.atomic);
    if (--atomics_ == 0 || !behind_.empty()) {
      for (const std::uint16_t waiting : std::exchange(behind_, {})) {
        if (warps_[waiting].state != State::memory) continue;
        leave(waiting);
        prepare(warps_[waiting], next_, next_);
      }
    }
  }
  if (r.stopping) {
    if (r.loads == 0) hand_over(r, stopped_, at);
    return;
  }
  if (w.state == State::memory) {
    leave(info.warp);
    prepare(w, next_, next_);
  } else if (r.alive == 0) {
    end_block(r, at);
  }
}

// Takes a warp out of whatever list it is in.
void Sm::leave(std::uint32_t warp) {
  WarpSlot& w = warps_[warp];
  Scheduler& s = scheduler_of(warp);
  const WarpMask bit = bit_of(warp);
  switch (w.state) {
    case State::waiting:
      s.ready &= ~bit;
      s.wheel.forget(bit);
      break;
    case State::memory:
      s.memory &= ~bit;
      break;
    case State::barrier:
      s.barrier &= ~bit;
      break;
    default:
      break;
  }
}

}  // namespace wm::sim
