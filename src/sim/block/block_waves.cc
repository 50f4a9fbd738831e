#include "sim/block/block_waves.h"

#include <algorithm>
#include <bit>

namespace wm::sim {
namespace {

constexpr unsigned kSlotBits = 20;
constexpr std::uint64_t kSlotMask = (std::uint64_t{1} << kSlotBits) - 1;
// A window's cycles stand above the slot in a sorted end, and its last cycle is one beyond them.
constexpr std::uint64_t kLongestWindow = (std::uint64_t{1} << (64 - kSlotBits)) - 1;

constexpr std::uint64_t ceil_cycle(std::uint64_t end) { return (end + kOne - 1) >> kFraction; }
constexpr std::uint64_t cycle_of(std::uint64_t end) { return end >> kSlotBits; }

}  // namespace

std::uint32_t BlockWaves::place_of(std::uint64_t end) const { return slots_[end & kSlotMask].place; }

BlockWaves::Client& BlockWaves::find_client(KernelTable& kernels, std::uint32_t client) {
  for (std::size_t i = 0; i < used_; ++i)
    if (clients_[i].client == client) return clients_[i];
  if (used_ == clients_.size()) clients_.emplace_back();
  Client& c = clients_[used_++];
  const KernelModel& model = kernels.model(client);
  c.client = client;
  c.blocks = 0;
  c.shortest = model.shape.shortest(model.block_time);
  c.first = kNoEvent;
  c.sms.clear();
  return c;
}

// The clients with SMs that only replace blocks. Returns the first event elsewhere, at most `stop`.
std::uint64_t BlockWaves::find_clients(KernelTable& kernels, SmTable& sms, std::uint64_t stop) {
  used_ = 0;
  visited_.clear();
  for (std::uint32_t s = 0; s < sms.count(); ++s) {
    SmTable::Entry& entry = sms[s];
    if (!entry.replacing) {
      stop = std::min(stop, sms.event(s));
      continue;
    }
    Client& c = find_client(kernels, entry.unit.only_client());
    c.blocks += entry.unit.only_group().size();
    c.first = std::min(c.first, entry.unit.next_event());
    c.sms.push_back(s);
    visited_.push_back(s);
  }
  return stop;
}

// A cycle before which the client has a block for every one that ends: with k times as many blocks to start as are on
// its SMs, k windows have to pass.
std::uint64_t BlockWaves::first_unreplaced(const policy::Kernel& kernel, const Client& c, SmTable& sms,
                                           std::uint64_t stop) {
  if (c.first >= stop) return stop;
  const std::uint64_t windows = kernel.waiting / c.blocks;
  if (windows > (stop - c.first) / c.shortest) return stop;
  if (windows != 0) return c.first + windows * c.shortest;
  load(c, sms);
  const std::uint64_t end_of_window = std::min(stop, c.first + c.shortest);
  sort_ends(c.first - begin_, end_of_window - begin_);
  return kernel.waiting < ends_.size() ? c.first + cycle_of(ends_[kernel.waiting]) : end_of_window;
}

// Whether so many blocks end before `stop` that sorting them costs less than an event for each: a quarter of them.
// Blocks that are too many or too long for a sorted end have events.
bool BlockWaves::worthwhile(std::uint64_t now, std::uint64_t stop) const {
  double all = 0;
  double ending = 0;
  for (std::size_t i = 0; i < used_; ++i) {
    const Client& c = clients_[i];
    if (c.blocks > kSlotMask || c.shortest > kLongestWindow) return false;
    all += c.blocks;
    ending += c.blocks * std::min(1.0, static_cast<double>(stop - now) / static_cast<double>(c.shortest));
  }
  return used_ != 0 && ending * 4 >= all;
}

std::optional<std::uint64_t> BlockWaves::advance(KernelTable& kernels, SmTable& sms, std::uint64_t stop) {
  const std::uint64_t now = sms.next_event();
  if (now < blocked_until_) return std::nullopt;
  // Ends count from `now` in 1/65536 cycles, so a call covers no more than the longest window.
  stop = find_clients(kernels, sms, std::min(stop, now + kLongestWindow));
  if (stop <= now || !worthwhile(now, stop)) {
    blocked_until_ = stop;
    return std::nullopt;
  }
  begin_ = now;
  if (used_ > 1)
    for (std::size_t i = 0; i < used_; ++i)
      stop = first_unreplaced(*kernels.view(clients_[i].client), clients_[i], sms, stop);
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < used_; ++i) last = std::max(last, replace(kernels, clients_[i], sms, stop));
  return last == 0 ? std::nullopt : std::optional(last);
}

void BlockWaves::load(const Client& c, SmTable& sms) {
  next_order_ = 0;
  slots_.resize(c.blocks);
  Slot* slot = slots_.data();
  for (std::uint32_t i = 0; i < c.sms.size(); ++i) {
    WorkGroup& group = sms[c.sms[i]].unit.only_group();
    group.catch_up(begin_);
    next_order_ = std::max(next_order_, group.next_order());
    const std::uint64_t clock = group.clock();
    for (std::uint32_t b = 0, blocks = group.size(); b < blocks; ++b) {
      const WorkGroup::Entry& e = group[b];
      *slot++ = {e.end > clock ? e.end - clock : 0, e.work, e.block, e.order, i};
    }
  }
}

// Sorts the ends in cycles `from` to `to` after begin_, by cycle, then by slot: into about as many buckets as there are
// ends, then by insertion.
void BlockWaves::sort_ends(std::uint64_t from, std::uint64_t to) {
  unsorted_.resize(slots_.size());
  std::size_t count = 0;
  std::uint64_t last = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const std::uint64_t cycle = ceil_cycle(slots_[i].end);
    const bool in_window = cycle < to;
    unsorted_[count] = (cycle - from) << kSlotBits | i;
    count += in_window ? 1 : 0;
    last = std::max(last, in_window ? cycle - from : 0);
  }
  unsorted_.resize(count);
  const int excess = std::bit_width(last + 1) - std::bit_width(unsorted_.size());
  const unsigned shift = kSlotBits + static_cast<unsigned>(std::max(0, excess));
  buckets_.assign((((last + 1) << kSlotBits) >> shift) + 2, 0);
  for (const std::uint64_t end : unsorted_) ++buckets_[(end >> shift) + 1];
  for (std::size_t i = 1; i < buckets_.size(); ++i) buckets_[i] += buckets_[i - 1];
  ends_.resize(unsorted_.size());
  for (const std::uint64_t end : unsorted_) ends_[buckets_[end >> shift]++] = end;
  for (std::size_t i = 1; i < ends_.size(); ++i) {
    const std::uint64_t end = ends_[i];
    std::size_t at = i;
    for (; at > 0 && ends_[at - 1] > end; --at) ends_[at] = ends_[at - 1];
    ends_[at] = end;
  }
}

// Orders ends of the same cycle so that each SM gets one block in turn.
void BlockWaves::take_turns() {
  for (std::size_t begin = 0, end = 0; begin < ends_.size(); begin = end) {
    turns_.clear();
    for (; end < ends_.size() && cycle_of(ends_[end]) == cycle_of(ends_[begin]); ++end) {
      const bool same_sm = end != begin && place_of(ends_[end]) == place_of(ends_[end - 1]);
      turns_.emplace_back(same_sm ? turns_.back().first + 1 : 0, ends_[end]);
    }
    if (turns_.size() < 3) continue;
    std::sort(turns_.begin(), turns_.end());
    for (std::size_t i = 0; i < turns_.size(); ++i) ends_[begin + i] = turns_[i].second;
  }
}

// The number of ends of the window that can be replaced, all of a cycle or none.
std::size_t BlockWaves::replaceable(std::uint32_t waiting) const {
  std::size_t count = std::min<std::size_t>(ends_.size(), waiting);
  while (count != 0 && count < ends_.size() && cycle_of(ends_[count - 1]) == cycle_of(ends_[count])) --count;
  return count;
}

// Returns the cycle of the last block that was replaced; 0: none was.
std::uint64_t BlockWaves::replace(KernelTable& kernels, const Client& c, SmTable& sms, std::uint64_t stop) {
  if (c.first >= stop) return 0;
  load(c, sms);
  retired_.assign(c.sms.size(), 0);
  KernelTable::Replacement blocks = kernels.begin_replacing(c.client);
  std::uint32_t waiting = kernels.view(c.client)->waiting;
  std::uint64_t last = 0;
  for (std::uint64_t from = c.first - begin_, to = 0; waiting != 0 && from < stop - begin_; from = to) {
    to = std::min(from + c.shortest, stop - begin_);
    sort_ends(from, to);
    if (!fill_sms_) take_turns();
    const std::size_t count = replaceable(waiting);
    for (std::size_t i = 0; i < count; ++i) {
      Slot& slot = slots_[ends_[i] & kSlotMask];
      retired_[slot.place] += blocks.retire(slot.work);
      const BlockWork next = blocks.take();
      slot.end = ((from + cycle_of(ends_[i])) << kFraction) + next.left;
      slot.work = next.left;
      slot.block = next.block;
      slot.order = next_order_++;
    }
    waiting -= static_cast<std::uint32_t>(count);
    if (count != 0) last = begin_ + from + cycle_of(ends_[count - 1]);
    if (count < ends_.size()) break;
  }
  kernels.end_replacing(c.client, blocks);
  if (last != 0) store(c, sms);
  return last;
}

void BlockWaves::store(const Client& c, SmTable& sms) {
  std::size_t next = 0;
  for (std::uint32_t i = 0; i < c.sms.size(); ++i) {
    SmTable::Entry& entry = sms[c.sms[i]];
    entry.retired[c.client] += retired_[i];
    WorkGroup& group = entry.unit.only_group();
    group.replace(next_order_, [&](std::uint32_t) {
      const Slot& slot = slots_[next++];
      return WorkGroup::Entry{group.clock() + slot.end, slot.work, slot.block, slot.order};
    });
    entry.unit.only_group_changed();
  }
}

}  // namespace wm::sim
