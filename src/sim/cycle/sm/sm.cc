#include "sim/cycle/sm/sm.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace wm::sim {
namespace {

constexpr std::uint64_t kNeverCycle = ~std::uint64_t{0};
constexpr std::uint64_t kTallied = std::uint64_t{1} << 22;  // cycles: what one operation is executed in them fits 32 bits

TagSpec tags_of(std::uint32_t bytes, std::uint32_t line, std::uint32_t ways) {
  return {.sets = std::max(1U, bytes / line / ways), .ways = ways};
}

}  // namespace

Sm::Sm(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t index)
    : config_(config),
      index_(index),
      schedulers_count_(config.sm.schedulers),
      issue_width_(config.sm.issue_width),
      lsu_(config, timing, index),
      icache_(tags_of(config.icache.bytes, config.icache.line, config.icache.ways)),
      constant_cache_(tags_of(config.constant.bytes, config.constant.line, config.constant.ways)),
      schedulers_(config.sm.schedulers),
      warps_(config.sm.warps()),
      grain_(std::max(1U, timing.noc)),
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
}

std::uint32_t Sm::move_context(MessageKind kind, std::uint64_t bytes, std::uint64_t place, std::uint8_t slot) {
  const std::uint32_t load = lsu_.move(kind, bytes, place, slot);
  if (load_info_.size() <= load) load_info_.resize(load + 1);
  load_info_[load] = {};
  return load;
}

// When an SM next has something to do: a scheduler that is due, a reply that has come, a block that starts.
std::uint64_t Sm::earliest() const {
  std::uint64_t next = std::min(starts_, inbox_head_ < inbox_.size() ? inbox_[inbox_head_].time : kNeverCycle);
  for (const std::uint64_t due : due_) next = std::min(next, due);
  std::uint64_t lsu = kNeverCycle;
  for (const std::uint64_t due : lsu_due_) lsu = std::min(lsu, due);
  return lsu < next ? std::min(next, std::max(lsu, lsu_open())) : next;
}

void Sm::run(std::uint64_t begin, std::uint64_t until) {
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

// By the clock; but where the load/store unit takes several cycles for an access it falls free in step with the clock,
// always for the same scheduler, so that turns follow no short period there.
std::uint32_t Sm::first_at(std::uint64_t now) const {
  if (config_.l1.lookups_per_cycle == 1) return static_cast<std::uint32_t>(now % schedulers_count_);
  return static_cast<std::uint32_t>((now * 0x9e3779b97f4a7c15ULL >> 32) * schedulers_count_ >> 32);
}

void Sm::run_until(std::uint64_t begin, std::uint64_t until) {
  for (next_ = std::max(earliest(), begin); next_ < until; next_ = std::max(earliest(), next_ + 1)) {
    if (starts_ <= next_) begin_blocks(next_);
    if (inbox_head_ < inbox_.size() && inbox_[inbox_head_].time <= next_) deliver(next_);
    // They take turns at being first, so that none has the SM's common units to itself.
    std::uint32_t i = first_at(next_);
    for (std::uint32_t n = schedulers_count_; n != 0; --n, i = i + 1 < schedulers_count_ ? i + 1 : 0)
      if (due_[i] <= next_ || (lsu_due_[i] <= next_ && lsu_open() <= next_)) tick(i, next_);
  }
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
  if (lsu_.blocked()) {
    done_loads_.clear();
    lsu_.resume(now, counters_.data(), done_loads_);
    for (const std::uint32_t load : done_loads_) finish_load(load, now + config_.l1.latency);
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
  for (const std::uint32_t reg : r.run->kernel.program->writes(*info.op)) w.ready[reg] = at;
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
        prepare(waiting, next_, next_);
      }
    }
  }
  if (r.stopping) {
    if (r.loads == 0) hand_over(r, stopped_, at);
    return;
  }
  if (w.state == State::memory) {
    leave(info.warp);
    prepare(info.warp, next_, next_);
  } else if (r.alive == 0) {
    end_block(r, at);
  }
}

// Warps of kernels whose quota is spent.
WarpMask Sm::gated(const Scheduler& s) const {
  WarpMask mask = 0;
  for (std::uint32_t m = quotas_spent_; m != 0; m &= m - 1)
    mask |= s.kernels[static_cast<std::size_t>(std::countr_zero(m))];
  return mask;
}

std::uint64_t Sm::unit_free(const Scheduler& s, std::size_t unit) const {
  const std::uint64_t at = (sm_units_ >> unit & 1) != 0 ? sm_free_[unit] : s.free[unit];
  if (unit != kLoadStore) return at;
  return lsu_.blocked() ? kNeverCycle : std::max(at, lsu_.free_at());
}

WarpMask Sm::eligible(const Scheduler& s, std::uint64_t now) const {
  if (s.ready == 0) return 0;
  WarpMask mask = 0;
  for (std::uint32_t m = s.units; m != 0; m &= m - 1) {
    const auto unit = static_cast<std::size_t>(std::countr_zero(m));
    if ((s.ready & s.wants[unit]) != 0 && unit_free(s, unit) <= now) mask |= s.wants[unit];
  }
  mask &= s.ready;
  return quotas_spent_ == 0 ? mask : mask & ~gated(s);
}

// When the load/store unit takes another instruction, as far as all schedulers are concerned.
std::uint64_t Sm::lsu_open() const {
  if (lsu_.blocked()) return kNeverCycle;
  return (sm_units_ >> kLoadStore & 1) != 0 ? std::max(sm_free_[kLoadStore], lsu_.free_at()) : lsu_.free_at();
}

// When a warp has its operands and its unit is free; warps that wake before that need not be looked at.
void Sm::set_due(Scheduler& s, std::uint32_t number, std::uint64_t now) {
  std::uint64_t due = kNeverCycle;
  std::uint64_t lsu = kNeverCycle;
  const WarpMask open = quotas_spent_ == 0 ? s.ready : s.ready & ~gated(s);
  for (std::uint32_t m = s.units; m != 0; m &= m - 1) {
    const auto unit = static_cast<std::size_t>(std::countr_zero(m));
    const std::uint64_t at = (open & s.wants[unit]) != 0 ? now + 1 : s.wheel.first(unit);
    const std::uint64_t free = (sm_units_ >> unit & 1) != 0 ? sm_free_[unit] : s.free[unit];
    if (unit == kLoadStore)
      lsu = std::max({at, free, s.port});
    else
      due = std::min(due, std::max(at, free));
  }
  due_[number] = std::max(due, s.port);
  lsu_due_[number] = lsu;
}

// One cycle of a scheduler.
void Sm::tick(std::uint32_t number, std::uint64_t now) {
  Scheduler& s = schedulers_[number];
  account(s, now);
  if (s.wheel.first() == now) wake_first(s);
  if (s.port <= now) {
    WarpMask candidates = eligible(s, now);
    for (std::uint32_t issued = 0; candidates != 0;) {
      const std::uint32_t index = pick(s, candidates);
      s.last = index;
      issue(s, slot_of(number, index), now);
      s.now = now + 1;
      if (++issued == issue_width_ || s.port > now + 1) break;
      // A second instruction comes from the same warp, if it is ready for one.
      candidates = eligible(s, now) & (WarpMask{1} << index);
    }
  }
  set_due(s, number, now);
}

// Warps whose time has come; those that the wheel's reach woke too early sleep on.
void Sm::wake_first(Scheduler& s) {
  const std::uint64_t now = s.wheel.first();
  WarpMask woken = s.wheel.take();
  for (WarpMask m = woken & s.far; m != 0; m &= m - 1) {
    const auto index = static_cast<std::uint32_t>(std::countr_zero(m));
    WarpSlot& w = warps_[slot_of(static_cast<std::uint32_t>(&s - schedulers_.data()), index)];
    if (w.due <= now) continue;
    woken &= ~w.bit;
    sleep(s, w, now);
  }
  s.ready |= woken;
}

// Until `w.due`.
void Sm::sleep(Scheduler& s, WarpSlot& w, std::uint64_t now) {
  const auto unit = static_cast<std::size_t>(w.unit);
  const std::uint64_t wakes = s.wheel.sleep(w.bit, unit, w.due, now);
  s.far = wakes == w.due ? s.far & ~w.bit : s.far | w.bit;
  due_from(w.scheduler, unit, wakes);
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
