#include "sim/cycle/sm/sm.h"

#include <algorithm>

namespace wm::sim {

Sm::Sm(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t index)
    : grain_(std::max(1U, timing.noc)),
      l1_latency_(config.l1.latency),
      issue_(config, timing, index, *this),
      blocks_(issue_, {.sm = index, .sms = config.sm.count}, std::max(1U, grain_ / 2), config.block_interval) {}

void Sm::set_quota(std::uint8_t kernel, std::int64_t instructions, std::uint64_t now) {
  blocks_.begin_all(now);
  issue_.set_quota(kernel, instructions, now, blocks_.resident(kernel) != 0);
}

void Sm::run(std::uint64_t begin, std::uint64_t until) {
  issue_.scoreboard().follow(begin);
  replies_.sort();
  issue_.set_reply_arrival(replies_.next_arrival());
  issue_.counters().prevent_overflow(begin);
  while (lsu().moving() && begin < until) {
    const std::uint64_t end = std::min(begin + grain_, until);
    lsu().pump(begin, end - begin, issue_.counters().data());
    issue_.run(begin, end);
    begin = end;
  }
  if (begin < until) issue_.run(begin, until);
}

void Sm::on_arrival(std::uint64_t now) {
  if (blocks_.next_start() <= now) blocks_.begin_due(now);
  if (replies_.next_arrival() <= now) deliver(now);
}

// Replies that have come by now, and the loads they complete.
void Sm::deliver(std::uint64_t now) {
  issue_.charge_until(now);
  while (replies_.next_arrival() <= now) {
    done_loads_.clear();
    const Message& reply = replies_.take();
    const std::uint64_t at = std::max(lsu().replied(reply, done_loads_, issue_.counters().data()), now);
    blocks_.set_last_message(reply.kernel, at);
    for (const std::uint32_t load : done_loads_) finish_load(load, at);
  }
  issue_.set_reply_arrival(replies_.next_arrival());
  if (!lsu().blocked()) return;
  done_loads_.clear();
  lsu().resume(now, issue_.counters().data(), done_loads_);
  for (const std::uint32_t load : done_loads_) finish_load(load, now + l1_latency_);
  issue_.refresh_lsu();
}

void Sm::finish_load(std::uint32_t load, std::uint64_t at) {
  const MemoryStage::Load info = issue_.memory().finish(load);
  if (info.op == nullptr) {
    moved_.push_back(load);
    return;
  }
  WarpSlot& w = issue_.warps()[info.warp];
  ResidentBlock& r = *w.resident;
  --r.loads;
  --w.loads;
  issue_.complete(w.kernel, info.lanes, at);
  w.set_written(*info.op, issue_.scoreboard().time(at));
  if (info.op->copies == CopyRole::copy) w.copies.finish(info.copy_group, at);
  if (info.atomic != nullptr) finish_atomic(w, *info.atomic);
  if (!r.stopping && w.state == WarpState::memory) return retry(w);
  blocks_.load_finished(r, at);
}

void Sm::finish_atomic(WarpSlot& w, exec::PendingAtomic& atomic) {
  MemoryStage& memory = issue_.memory();
  atomic.complete();
  if (atomic.destination != nullptr) --w.atomics;
  memory.atomics().remove(atomic);
  memory.port().recycle(&atomic);
  for (const std::uint16_t waiting : memory.atomics().take_waiting())
    if (issue_.warps()[waiting].state == WarpState::memory) retry(issue_.warps()[waiting]);
}

void Sm::retry(WarpSlot& w) {
  issue_.leave(w);
  issue_.prepare(w, issue_.now(), issue_.now());
}

}  // namespace wm::sim
