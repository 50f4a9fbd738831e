#include "sim/cycle/sm/block_slots.h"

#include <algorithm>
#include <utility>

namespace wm::sim {

BlockSlots::BlockSlots(IssueStage& issue, exec::Block::SmNumbers sm_numbers, std::uint32_t follows_after,
                       std::uint32_t interval)
    : issue_(issue), sm_numbers_(sm_numbers), follows_after_(follows_after), interval_(interval) {}

void BlockSlots::start(std::unique_ptr<BlockRun> run, std::uint64_t at) {
  if (resident_[run->kernel.kernel_index]++ == 0) issue_.set_kernels(++kernels_);
  issue_.warps().reserve(run->kernel.grid->warps_per_block());
  issue_.wake_by(at);
  starts_ = std::min(starts_, at);
  issue_.set_block_start(starts_);
  starting_.push_back({std::move(run), at});
}

// Blocks begin within a quantum, because that part is simulated by several threads.
void BlockSlots::begin_due(std::uint64_t now) {
  starts_ = IssueStage::kNever;
  std::vector<Starting> starting = std::exchange(starting_, {});
  for (Starting& s : starting) {
    if (s.at <= now) {
      begin(std::move(s.run), s.at);
    } else {
      starts_ = std::min(starts_, s.at);
      starting_.push_back(std::move(s));
    }
  }
  issue_.set_block_start(starts_);
}

void BlockSlots::begin_all(std::uint64_t now) {
  for (Starting& s : starting_) s.at = std::min(s.at, now);
  begin_due(now);
}

std::unique_ptr<ResidentBlock> BlockSlots::new_resident() {
  if (spare_.empty()) return std::make_unique<ResidentBlock>();
  std::unique_ptr<ResidentBlock> r = std::move(spare_.back());
  spare_.pop_back();
  return r;
}

void BlockSlots::begin(std::unique_ptr<BlockRun> run, std::uint64_t at) {
  issue_.charge_until(at);
  issue_.scoreboard().follow(at);
  if (!run->begun) run->begin(sm_numbers_);
  std::unique_ptr<ResidentBlock> r = new_resident();
  const std::uint32_t count = run->block.warps();
  r->run = std::move(run);
  r->run->block.port = &issue_.memory().port();
  r->warps.assign(count, 0);
  r->alive = 0;
  r->at_barrier = 0;
  r->loads = 0;
  r->completed_barriers.reset();
  r->stopping = false;
  r->releasing = true;
  issue_.counters().set_program(r->run->kernel.kernel_index, *r->run->kernel.program);
  for (std::uint32_t i = 0; i < count; ++i) {
    WarpSlot& w = issue_.warps().claim(*r, i);
    issue_.add(w, at);
    if (w.warp->done()) {  // a warp of a block that was switched out
      issue_.end(w, at);
      continue;
    }
    ++r->alive;
    issue_.prepare(w, at, at + 1);
  }
  r->releasing = false;
  residents_.push_back(std::move(r));
  check_barrier(*residents_.back(), at);
}

std::unique_ptr<BlockRun> BlockSlots::detach(ResidentBlock& r) {
  for (const std::uint16_t number : r.warps) issue_.remove(issue_.warps()[number]);
  if (--resident_[r.run->kernel.kernel_index] == 0) issue_.set_kernels(--kernels_);
  std::unique_ptr<BlockRun> run = std::move(r.run);
  const auto it = std::find_if(residents_.begin(), residents_.end(), [&](const auto& p) { return p.get() == &r; });
  spare_.push_back(std::move(*it));
  residents_.erase(it);
  return run;
}

void BlockSlots::hand_over(ResidentBlock& r, std::vector<FinishedBlock>& to, std::uint64_t at) {
  FinishedBlock finished{.run = detach(r), .at = at};
  finished.kernel_index = finished.run->kernel.kernel_index;
  finished.number = finished.run->number;
  to.push_back(std::move(finished));
}

void BlockSlots::warp_exited(WarpSlot& w, std::uint64_t now) {
  ResidentBlock& r = *w.resident;
  issue_.end(w, now);
  --r.alive;
  if (r.alive != 0) return;
  issue_.charge_until(now);
  finish(r, now);
}

// A load that no warp waited for may still be in flight; the block's slots are free once it is back. If another
// block of the kernel was offered, that one takes the slots after half of a way over the interconnect, and reuses the
// block's memory.
void BlockSlots::finish(ResidentBlock& r, std::uint64_t now) {
  if (r.loads != 0) return;
  const std::uint8_t kernel = r.run->kernel.kernel_index;
  ++issue_.counters()[kernel].blocks_done;
  last_[kernel] = std::max(last_[kernel], now);
  hand_over(r, finished_, now);
  const auto offer =
      std::find_if(offers_.begin(), offers_.end(), [&](const OfferedBlock& o) { return o.kernel_index == kernel; });
  if (offer == offers_.end()) return;
  const std::uint64_t number = offer->number;
  offers_.erase(offer);
  update_follower();
  follow(finished_.back(), number);
}

void BlockSlots::follow(FinishedBlock& block, std::uint64_t number) {
  block.followed = true;
  block.follower = number;
  block.follows_at = block.at + follows_after_;
  if (interval_ > 0) {
    block.follows_at = std::max(block.follows_at, next_follow_);
    next_follow_ = block.follows_at + interval_;
  }
  block.run->number = number;
  block.run->started = block.follows_at;
  block.run->begun = false;
  start(std::move(block.run), block.follows_at);
}

void BlockSlots::check_barrier(ResidentBlock& r, std::uint64_t now) {
  if (r.run == nullptr || r.at_barrier == 0 || r.releasing || r.stopping) return;
  do {
    // Warps that wait go on only if a barrier has completed since the last call, or if all of them wait.
    const std::uint64_t completed = r.run->block.completed_barriers();
    if (r.at_barrier != r.alive && r.completed_barriers == completed) return;
    r.completed_barriers = completed;
    issue_.charge_until(now);
    if (r.at_barrier == r.alive) {
      const bool any = std::any_of(r.warps.begin(), r.warps.end(), [&](std::uint16_t number) {
        const WarpSlot& w = issue_.warps()[number];
        return w.state == WarpState::barrier && w.warp->ready();
      });
      if (!any) r.run->block.unblock();
      if (r.run->block.fault()) return fault(r);
    }
  } while (release(r, now) && r.run != nullptr && r.at_barrier != 0 && r.at_barrier == r.alive);
}

bool BlockSlots::release(ResidentBlock& r, std::uint64_t now) {
  const std::uint64_t from = now + issue_.barrier_release(r.warps.size());
  bool any = false;
  r.releasing = true;
  for (const std::uint16_t number : r.warps) {
    if (r.at_barrier == 0) break;
    WarpSlot& w = issue_.warps()[number];
    if (w.state != WarpState::barrier || (!w.warp->ready() && !w.warp->done())) continue;
    any = true;
    issue_.leave(w);
    --r.at_barrier;
    w.state = WarpState::done;
    issue_.prepare(w, now, from);
    if (r.run == nullptr) break;
  }
  r.releasing = false;
  return any;
}

// The block issues no more; it is off the SM once its loads have come back.
void BlockSlots::halt(ResidentBlock& r) {
  for (const std::uint16_t number : r.warps) {
    issue_.leave(issue_.warps()[number]);
    issue_.warps()[number].state = WarpState::done;
  }
  r.stopping = true;
  if (r.loads == 0) hand_over(r, stopped_, issue_.now());
}

void BlockSlots::fault(ResidentBlock& r) {
  issue_.charge_until(issue_.now());
  faulted_.push_back({r.run->kernel.kernel_index, *r.run->block.fault()});
  halt(r);
}

std::uint32_t BlockSlots::stop(std::uint8_t kernel, std::uint32_t count, std::uint64_t now) {
  begin_all(now);
  issue_.charge_until(now);
  std::uint32_t stopped = 0;
  for (std::size_t i = residents_.size(); i-- > 0 && stopped < count;) {
    ResidentBlock& r = *residents_[i];
    // A block whose warps have all exited only waits for its loads.
    if (r.run->kernel.kernel_index != kernel || r.stopping || r.alive == 0) continue;
    ++stopped;
    halt(r);
  }
  return stopped;
}

void BlockSlots::load_finished(ResidentBlock& r, std::uint64_t at) {
  if (r.stopping) {
    if (r.loads == 0) hand_over(r, stopped_, at);
  } else if (r.alive == 0) {
    finish(r, at);
  }
}

}  // namespace wm::sim
