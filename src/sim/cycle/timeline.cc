#include "sim/cycle/timeline.h"

#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "sim/cycle/machine.h"

namespace wm::sim {
namespace {

// The counts between two readings. A struct of counters consists of 64-bit numbers only.
template <class Counters>
Counters between(const Counters& before, const Counters& after) {
  static_assert(std::has_unique_object_representations_v<Counters>);
  using Words = std::array<std::uint64_t, sizeof(Counters) / sizeof(std::uint64_t)>;
  static_assert(sizeof(Words) == sizeof(Counters));
  auto words = std::bit_cast<Words>(after);
  const auto base = std::bit_cast<Words>(before);
  for (std::size_t i = 0; i < words.size(); ++i) words[i] -= base[i];
  return std::bit_cast<Counters>(words);
}

bool same(const SeenBlock& a, const SeenBlock& b) {
  return a.client == b.client && a.launch == b.launch && a.number == b.number;
}

// The kernel's current state, and its counters since the run began.
KernelInterval reading(const CycleMachine& machine, std::uint32_t client) {
  const ClientTotals totals = machine.totals(client);
  KernelInterval now{.sm = totals.sm, .memory = totals.memory, .resident = 0, .quota = {}};
  for (const policy::Sm& sm : machine.sms()) {
    const policy::ResidentKernel& on_sm = machine.residents(sm.id)[client];
    now.resident += on_sm.resident;
    if (on_sm.quota != policy::kNoQuota) now.quota = now.quota.value_or(0) + std::max<std::int64_t>(on_sm.quota, 0);
  }
  return now;
}

}  // namespace

void Timeline::began(const SeenBlock& block, std::uint64_t at, bool resumed) {
  if (open_.size() <= block.sm) {
    open_.resize(block.sm + 1);
    rows_.resize(block.sm + 1);
  }
  std::vector<bool>& taken = rows_[block.sm];
  const auto free = std::find(taken.begin(), taken.end(), false);
  const auto row = static_cast<std::uint32_t>(free - taken.begin());
  taken.resize(std::max<std::size_t>(taken.size(), row + 1));
  taken[row] = true;
  open_[block.sm].push_back(
      {.block = block, .row = row, .begin = at, .end = at, .resumed = resumed, .how = Left::running});
}

void Timeline::left(const SeenBlock& block, std::uint64_t at, Left how) {
  std::vector<BlockSpan>& open = open_[block.sm];
  const auto it = std::find_if(open.begin(), open.end(), [&](const BlockSpan& s) { return same(s.block, block); });
  if (it == open.end()) return;
  it->end = std::max(at, it->begin);
  it->how = how;
  rows_[block.sm][it->row] = false;
  blocks_.push_back(*it);
  open.erase(it);
}

void Timeline::quantum(const CycleMachine& machine) {
  watch_sms(machine);
  if (machine.now().count >= began_ + length_) close_interval(machine);
}

void Timeline::watch_sms(const CycleMachine& machine) {
  const std::uint64_t now = machine.now().count;
  for (const policy::Sm& sm : machine.sms()) {
    if (current_.size() <= sm.index) {
      current_.push_back(sms_.size());
    } else {
      SmSpan& last = sms_[current_[sm.index]];
      if (last.state == sm.state && last.owner == sm.owner) continue;
      last.end = now;
      current_[sm.index] = sms_.size();
    }
    sms_.push_back({.sm = sm.index, .state = sm.state, .owner = sm.owner, .begin = now, .end = now});
  }
}

void Timeline::close_interval(const CycleMachine& machine) {
  const std::uint64_t now = machine.now().count;
  const std::uint64_t gated = machine.gated_cycles();
  Interval interval{.begin = began_, .cycles = now - began_, .gated = gated - gated_, .kernels = {}};
  base_.resize(machine.clients());
  for (std::uint32_t i = 0; i < machine.clients(); ++i) {
    const KernelInterval read = reading(machine, i);
    interval.kernels.push_back({.sm = between(base_[i].sm, read.sm),
                                .memory = between(base_[i].memory, read.memory),
                                .resident = read.resident,
                                .quota = read.quota});
    base_[i] = read;
  }
  intervals_.push_back(std::move(interval));
  began_ = now;
  gated_ = gated;
}

void Timeline::finish(const CycleMachine& machine) {
  end_ = machine.now().count;
  watch_sms(machine);
  for (const std::size_t i : current_) sms_[i].end = end_;
  if (end_ > began_) close_interval(machine);
  close_blocks();
}

void Timeline::finish(std::uint64_t end, std::vector<Interval> intervals) {
  end_ = end;
  has_counters_ = false;
  intervals_ = std::move(intervals);
  close_blocks();
}

void Timeline::close_blocks() {
  for (std::vector<BlockSpan>& open : open_)
    for (BlockSpan& span : open) {
      span.end = std::max(end_, span.begin);
      blocks_.push_back(span);
    }
  open_.clear();
  rows_.clear();
}

}  // namespace wm::sim
