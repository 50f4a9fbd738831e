// Blocks on an SM: how they start, end, stop, and wait at barriers.
#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "sim/cycle/sm/sm.h"

namespace wm::sim {

void Sm::start(std::unique_ptr<BlockRun> run, std::uint64_t at) {
  if (resident_[run->kernel.slot]++ == 0) ++kernels_;
  free_warps_ -= run->kernel.grid->warps_per_block();
  next_ = std::min(next_, at);
  starts_ = std::min(starts_, at);
  starting_.push_back({std::move(run), at});
}

// Blocks whose time has come. On the SM's own time, since SMs run side by side.
void Sm::begin_blocks(std::uint64_t now) {
  starts_ = kPending;
  std::vector<Starting> starting = std::exchange(starting_, {});
  for (Starting& s : starting) {
    if (s.at <= now) {
      begin_block(std::move(s.run), s.at);
    } else {
      starts_ = std::min(starts_, s.at);
      starting_.push_back(std::move(s));
    }
  }
}

// Between quanta somebody looks at the blocks: those on their way begin at once.
void Sm::begin_all(std::uint64_t now) {
  for (Starting& s : starting_) s.at = std::min(s.at, now);
  begin_blocks(now);
}

void Sm::begin_block(std::unique_ptr<BlockRun> run, std::uint64_t at) {
  charge_until(at);
  if (at - epoch_ >= kEpoch) begin_epoch(at);
  if (!run->begun) run->begin({.sm = index_, .sms = config_.sm.count});
  std::unique_ptr<Resident> r;
  if (spare_.empty()) {
    r = std::make_unique<Resident>();
  } else {
    r = std::move(spare_.back());
    spare_.pop_back();
  }
  const std::uint32_t count = run->block.warps();
  r->run = std::move(run);
  r->run->block.port = &port_;
  r->warps.assign(count, 0);
  r->alive = 0;
  r->stuck = 0;
  r->loads = 0;
  r->stopping = false;
  const std::uint8_t kernel = r->run->kernel.slot;
  begin_tally(kernel, *r->run->kernel.program);
  for (std::uint32_t i = 0; i < count; ++i) {
    while (warps_[place_].state != State::empty) place_ = (place_ + 1) % warps_.size();
    const std::uint32_t slot = place_;
    r->warps[i] = static_cast<std::uint16_t>(slot);
    WarpSlot& w = warps_[slot];
    w.warp = &r->run->block.warp(i);
    w.ahead = &r->run->ahead[i];
    w.front = w.ahead->begin();
    w.back = w.ahead->end();
    w.ops = r->run->kernel.program->ops.data();
    w.registers = r->run->kernel.program->program->registers.data();
    w.resident = r.get();
    w.kernel = kernel;
    w.loads = 0;
    w.atomics = 0;
    w.copies.clear();
    w.copies_gone = 0;
    w.age = ++ages_;
    w.line = ~0U;
    w.scoreboard.assign(r->run->kernel.program->scoreboard_size(), 0);
    w.ready = w.scoreboard.data();
    w.state = State::done;
    Scheduler& s = scheduler_of(slot);
    if (s.all == 0) s.now = at;
    for (WarpMask& older : s.older) older &= ~bit_of(slot);
    s.older[slot / schedulers_count_] = s.all;
    s.all |= bit_of(slot);
    s.kernels[kernel] |= bit_of(slot);
    s.kernel[slot / schedulers_count_] = kernel;
    if (w.warp->done()) {  // of a resumed block
      s.all &= ~w.bit;
      continue;
    }
    ++r->alive;
    prepare(w, at, at + 1);
  }
  residents_.push_back(std::move(r));
}

// Frees a block's warps.
std::unique_ptr<BlockRun> Sm::detach(Resident& r) {
  for (const std::uint16_t slot : r.warps) {
    leave(slot);
    WarpSlot& w = warps_[slot];
    Scheduler& s = scheduler_of(slot);
    s.all &= ~bit_of(slot);
    s.kernels[w.kernel] &= ~bit_of(slot);
    w.ahead->go_to(w.front);
    w.state = State::empty;
    w.resident = nullptr;
    ++free_warps_;
  }
  if (--resident_[r.run->kernel.slot] == 0) --kernels_;
  std::unique_ptr<BlockRun> run = std::move(r.run);
  const auto it = std::find_if(residents_.begin(), residents_.end(), [&](const auto& p) { return p.get() == &r; });
  spare_.push_back(std::move(*it));
  residents_.erase(it);
  return run;
}

void Sm::hand_over(Resident& r, std::vector<Ended>& to, std::uint64_t at) {
  Ended ended{.run = detach(r), .at = at};
  ended.slot = ended.run->kernel.slot;
  ended.number = ended.run->number;
  to.push_back(std::move(ended));
}

void Sm::warp_ended(WarpSlot& w, std::uint64_t now) {
  Resident& r = *w.resident;
  Scheduler& s = schedulers_[w.scheduler];
  account(s, now);
  s.all &= ~w.bit;  // nobody waits for it any more
  w.state = State::done;
  --r.alive;
  if (r.alive != 0) return;
  charge_until(now);
  end_block(r, now);
}

// A load nobody waited for may still be on its way; the block's slots are free once it is back. Where another block of
// the kernel was offered it takes them after half of a way over the interconnect, in what the ended one has in memory.
void Sm::end_block(Resident& r, std::uint64_t now) {
  if (r.loads != 0) return;
  const std::uint8_t slot = r.run->kernel.slot;
  ++counters_[slot].blocks_done;
  last_[slot] = std::max(last_[slot], now);
  hand_over(r, ended_, now);
  const auto offer = std::find_if(offers_.begin(), offers_.end(), [&](const Offer& o) { return o.slot == slot; });
  if (offer == offers_.end()) return;
  Ended& ended = ended_.back();
  ended.followed = true;
  ended.follower = offer->number;
  ended.follows_at = now + follows_after_;
  offers_.erase(offer);
  ended.run->number = ended.follower;
  ended.run->started = ended.follows_at;
  ended.run->begun = false;
  start(std::move(ended.run), ended.follows_at);
}

// Cycles from the arrival of the last of `warps` warps until they go on.
std::uint64_t Sm::barrier_release(std::size_t warps) const {
  const gpu::SmConfig& sm = config_.sm;
  const std::uint32_t latency = sm.units[static_cast<std::size_t>(gpu::Unit::branch)].latency;
  return (sm.barrier_latency != 0 ? sm.barrier_latency : latency) + sm.barrier_per_warp * warps;
}

// Lets warps go on whose barrier completed; finds out when a block can never go on.
void Sm::wake_barrier(Resident& r, std::uint64_t now) {
  if (r.run == nullptr || r.stuck == 0) return;
  charge_until(now);
  const std::uint32_t before = r.stuck;
  if (r.stuck == r.alive) {
    const bool any = std::any_of(r.warps.begin(), r.warps.end(), [&](std::uint16_t slot) {
      return warps_[slot].state == State::barrier && warps_[slot].warp->ready();
    });
    if (!any) r.run->block.unblock();
    if (r.run->block.fault()) return raise(r);
  }
  const std::uint64_t release = barrier_release(r.warps.size());
  for (const std::uint16_t slot : r.warps) {
    if (r.stuck == 0) break;
    WarpSlot& w = warps_[slot];
    if (w.state != State::barrier || (!w.warp->ready() && !w.warp->done())) continue;
    leave(slot);
    --r.stuck;
    w.state = State::done;
    prepare(w, now, now + release);
    if (r.run == nullptr) return;
  }
  if (r.stuck != before && r.stuck == r.alive) wake_barrier(r, now);
}

void Sm::raise(Resident& r) {
  charge_until(next_);
  faulted_.push_back({r.run->kernel.slot, *r.run->block.fault()});
  for (const std::uint16_t slot : r.warps) {
    leave(slot);
    warps_[slot].state = State::done;
  }
  r.stopping = true;
  if (r.loads == 0) hand_over(r, stopped_, next_);
}

std::uint32_t Sm::stop(std::uint8_t slot, std::uint32_t count, std::uint64_t now) {
  begin_all(now);
  charge_until(now);
  std::uint32_t stopped = 0;
  for (std::size_t i = residents_.size(); i-- > 0 && stopped < count;) {
    Resident& r = *residents_[i];
    if (r.run->kernel.slot != slot || r.stopping || r.alive == 0) continue;  // what has ended waits for its loads
    ++stopped;
    r.stopping = true;
    for (const std::uint16_t warp : r.warps) {
      leave(warp);
      warps_[warp].state = State::done;
    }
    if (r.loads == 0) hand_over(r, stopped_, next_);
  }
  return stopped;
}

// Warps that were held back may issue at once.
void Sm::set_quota(std::uint8_t slot, std::int64_t instructions, std::uint64_t now) {
  begin_all(now);
  charge_until(now);
  quota_[slot] = instructions;
  quotas_ &= ~(1U << slot);
  if (instructions != std::numeric_limits<std::int64_t>::max()) quotas_ |= 1U << slot;
  quotas_spent_ &= ~(1U << slot);
  if (instructions <= 0) quotas_spent_ |= 1U << slot;
  if (instructions <= 0 || resident_[slot] == 0) return;
  next_ = std::min(next_, now);
  look_at(now);
}

// What was executed counts, whether it took an issue slot or not: rates and goals count the same.
void Sm::spend_quota(std::uint8_t slot, std::uint32_t lanes, std::uint64_t now) {
  std::int64_t& left = quota_[slot];
  const bool had = left > 0;
  left -= lanes;
  if (!had || left > 0) return;
  charge_until(now);
  quotas_spent_ |= 1U << slot;
  newly_spent_ |= 1U << slot;
}

std::uint32_t Sm::idle_warps(std::uint8_t slot) const {
  std::uint32_t warps = 0;
  for (std::uint32_t i = 0; i < schedulers_count_; ++i) {
    const Scheduler& s = schedulers_[i];
    WarpMask ready = s.ready;
    // The one that issued last is among them a cycle early.
    if (s.last < 64 && warps_[slot_of(i, s.last)].due >= s.now) ready &= ~(WarpMask{1} << s.last);
    warps += static_cast<std::uint32_t>(std::popcount(ready & s.kernels[slot]));
  }
  return warps;
}

}  // namespace wm::sim
