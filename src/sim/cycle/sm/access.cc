// What a warp's accesses to memory cost, and atomics on their way.
#include <algorithm>
#include <bit>

#include "sim/cycle/sm/sm.h"

namespace wm::sim {

std::uint64_t Sm::memory_access(WarpSlot& w, const TimedOp& op, const exec::Step& step, std::uint64_t now) {
  SmCounters& c = counters_[w.kernel];
  const exec::Access& a = *step.access;
  if (op.kind == TimedKind::constant) {
    const LineAddress line = (std::uint64_t{w.kernel} << 48) |
                             a.address[static_cast<std::size_t>(std::countr_zero(a.lanes))] / config_.constant.line;
    if (constant_cache_.lookup(line, 1) != 0) return now + config_.constant.latency;
    constant_cache_.fill(line, 1, false);
    return now + config_.constant.miss_latency;
  }
  if (a.space == ptx::Space::shared) {
    const std::uint32_t cycles = shared_cycles(a, config_.shared.banks);
    c.shared_lanes += static_cast<std::uint64_t>(std::popcount(a.lanes)) * std::max(1, a.bytes / 4);
    c.shared_conflict_cycles += cycles - 1;
    return lsu_.shared(cycles, now).ready;
  }
  const MessageKind kind = op.kind == TimedKind::load    ? MessageKind::read
                           : op.kind == TimedKind::store ? MessageKind::write
                                                         : MessageKind::atomic;
  std::uint64_t space = w.resident->run->kernel.client << 56;
  if (a.space == ptx::Space::local) {
    // A thread's words lie 32 apart, so that lanes at the same offset share lines.
    exec::Access spread = a;
    const std::uint64_t base = (std::uint64_t{1} << 46) + (w.age << 20);
    for (std::size_t lane = 0; lane < exec::kLanes; ++lane)
      spread.address[lane] = base + a.address[lane] / 4 * kLineBytes + lane * 4 + a.address[lane] % 4;
    spread.bytes = std::min<std::uint8_t>(a.bytes, 4);
    coalesce(spread, space, coalesced_);
  } else {
    coalesce(a, space, coalesced_);
  }
  exec::PendingAtomic* atomic = kind == MessageKind::atomic ? port_.take_atomic() : nullptr;
  const bool copy = op.copies == CopyRole::copy;
  const std::uint32_t bank_cycles =
      config_.l1.lookups_per_cycle > 1 && coalesced_.count > 1 ? shared_cycles(a, config_.shared.banks) : 1;
  const Lsu::Issued issued = lsu_.access({.kind = kind,
                                          .kernel = w.kernel,
                                          .returns = op.writes != 0 || atomic != nullptr || copy,
                                          .read_only = op.read_only,
                                          .bank_cycles = bank_cycles,
                                          .atomic = atomic},
                                         coalesced_, now, c);
  const std::uint32_t group = copy ? issue_copy(w, issued) : 0;
  if (issued.load == kNoLoad) return issued.ready;
  if (load_info_.size() <= issued.load) load_info_.resize(issued.load + 1);
  load_info_[issued.load] = {static_cast<std::uint16_t>(number_of(w)), &op, atomic, group};
  ++w.resident->loads;
  ++w.loads;
  if (atomic != nullptr) {
    ++atomics_;
    if (atomic->destination != nullptr) ++w.atomics;
    track_atomic(*atomic, 1);
  }
  return kPending;
}

void Sm::track_atomic(const exec::PendingAtomic& atomic, int by) {
  for (exec::Mask m = atomic.lanes; m != 0; m &= m - 1) {
    const std::uint64_t line = atomic.address[static_cast<std::size_t>(std::countr_zero(m))] / kLineBytes;
    auto& lanes = atomic_lines_[line * 0x9e3779b97f4a7c15ULL >> 56];
    lanes = static_cast<std::uint16_t>(lanes + by);
  }
}

bool Sm::behind_atomic(WarpSlot& w) {
  if (!w.warp->peek(peeked_) || peeked_.space == ptx::Space::shared || peeked_.space == ptx::Space::local) return false;
  for (exec::Mask m = peeked_.lanes; m != 0; m &= m - 1) {
    const std::uint64_t line = peeked_.address[static_cast<std::size_t>(std::countr_zero(m))] / kLineBytes;
    if (atomic_lines_[line * 0x9e3779b97f4a7c15ULL >> 56] != 0) return true;
  }
  return false;
}

}  // namespace wm::sim
