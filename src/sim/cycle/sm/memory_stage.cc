#include "sim/cycle/sm/memory_stage.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace wm::sim {
namespace {

MessageKind kind_of(const TimedOp& op) {
  if (op.kind == TimedKind::load) return MessageKind::read;
  return op.kind == TimedKind::store ? MessageKind::write : MessageKind::atomic;
}

}  // namespace

MemoryStage::MemoryStage(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint16_t sm)
    : config_(config),
      sm_(sm),
      lsu_(config, timing, sm),
      constant_cache_(
          tag_spec(config.constant.bytes, config.constant.line, config.constant.ways, config.constant.replacement)) {}

std::uint64_t MemoryStage::access(WarpSlot& w, std::uint32_t number, const TimedOp& op, const exec::Step& step,
                                  std::uint64_t now, SmCounters& counters) {
  const exec::Access& a = *step.access;
  if (op.kind == TimedKind::constant) return read_constant(w, a, now);
  if (a.space == ptx::Space::shared) {
    const bool turns = op.kind == TimedKind::atomic && config_.shared.atomic_turns && !op.adds_up;
    const std::uint32_t cycles = turns ? shared_turns(a, config_.shared.banks) * op.shared.weight
                                       : shared_cycles(a, shared_banks(config_.shared));
    counters.shared_lanes += std::uint64_t{exec::count_lanes(a.lanes)} * std::max(1, a.bytes / 4);
    counters.shared_conflict_cycles += cycles - 1;
    if (op.shared.turn_slots != 0) counters.issued += std::uint64_t{op.shared.turn_slots} * lanes_on_one_word(a);
    return lsu_.shared(cycles, now).ready;
  }
  return access_global(w, number, op, step, now, counters);
}

std::uint64_t MemoryStage::read_constant(const WarpSlot& w, const exec::Access& a, std::uint64_t now) {
  const LineAddress line = (std::uint64_t{w.kernel} << 48) |
                           a.address[static_cast<std::size_t>(std::countr_zero(a.lanes))] / config_.constant.line;
  if (constant_cache_.lookup(line, 1) != 0) return now + config_.constant.latency;
  constant_cache_.fill(line, 1, false);
  return now + config_.constant.miss_latency;
}

// Local memory belongs to a slot: the next warp in it has the same addresses, warps in other slots and on other SMs
// have others. Elements of a thread lie 32 elements apart, so that lanes at the same offset share lines.
void MemoryStage::coalesce_local(const WarpSlot& w, std::uint32_t number, const exec::Access& a, std::uint64_t space) {
  const std::uint64_t slot = std::uint64_t{sm_} * config_.sm.warps() + number;
  const std::uint64_t base = (std::uint64_t{1} << 46) + (std::uint64_t{w.kernel} << 40) +
                             slot * w.resident->run->kernel.grid->program->local_bytes * exec::kLanes;
  const std::uint64_t element = std::max<std::uint64_t>(a.bytes, 4);
  exec::Access spread = a;
  for (std::size_t lane = 0; lane < exec::kLanes; ++lane)
    spread.address[lane] =
        base + a.address[lane] / element * element * exec::kLanes + lane * element + a.address[lane] % element;
  coalesce(spread, space, coalesced_);
}

std::uint64_t MemoryStage::access_global(WarpSlot& w, std::uint32_t number, const TimedOp& op, const exec::Step& step,
                                         std::uint64_t now, SmCounters& counters) {
  const exec::Access& a = *step.access;
  const std::uint64_t space = w.resident->run->kernel.client << kClientShift;
  if (a.space == ptx::Space::local)
    coalesce_local(w, number, a, space);
  else
    coalesce(a, space, coalesced_);
  const MessageKind kind = kind_of(op);
  exec::PendingAtomic* atomic = kind == MessageKind::atomic ? port_.take_atomic() : nullptr;
  const bool copy = op.copies == CopyRole::copy;
  const std::uint32_t bank_cycles =
      config_.l1.lookups_per_cycle > 1 && coalesced_.count > 1 ? shared_cycles(a, shared_banks(config_.shared)) : 1;
  const Lsu::Issued issued = lsu_.access({.kind = kind,
                                          .kernel = w.kernel,
                                          .returns = op.writes != 0 || atomic != nullptr || copy,
                                          .read_only = op.read_only,
                                          .bank_cycles = bank_cycles,
                                          .lane_words = std::max<std::uint32_t>(1, a.bytes / 4),
                                          .combined = atomic != nullptr && op.adds_up,
                                          .atomic = atomic},
                                         coalesced_, now, counters);
  const bool in_flight = issued.load != kNoLoad;
  const std::uint32_t group = copy ? w.copies.add(in_flight ? std::nullopt : std::optional(issued.ready)) : 0;
  if (!in_flight) return issued.ready;
  remember(issued.load, {static_cast<std::uint16_t>(number), &op, atomic, group,
                         static_cast<std::uint32_t>(std::popcount(step.active))});
  ++w.resident->loads;
  ++w.loads;
  if (atomic != nullptr) {
    if (atomic->destination != nullptr) ++w.atomics;
    atomics_.add(*atomic);
  }
  return Scoreboard::kPending;
}

void MemoryStage::remember(std::uint32_t load, const Load& info) {
  if (loads_.size() <= load) loads_.resize(load + 1);
  loads_[load] = info;
}

MemoryStage::Load MemoryStage::finish(std::uint32_t load) {
  lsu_.release(load);
  return loads_[load];
}

std::uint32_t MemoryStage::move_context(MessageKind kind, std::uint64_t bytes, LineAddress place, std::uint8_t kernel) {
  const std::uint32_t load = lsu_.move(kind, bytes, place, kernel);
  remember(load, {});
  return load;
}

}  // namespace wm::sim
