#include "sim/cycle/memory/mshrs.h"

#include <bit>

namespace wm::sim {

Mshrs::Mshrs(const MshrSpec& spec) : spec_(spec), mask_(std::bit_ceil(spec.entries * 2) - 1), table_(mask_ + 1) {
  nodes_.reserve(std::size_t{spec.entries} * spec.waiters);
}

std::uint32_t Mshrs::take_node() {
  if (free_node_ == kNone) {
    nodes_.emplace_back();
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }
  const std::uint32_t node = free_node_;
  free_node_ = nodes_[node].next;
  return node;
}

Mshrs::Entry* Mshrs::find(LineAddress line) {
  for (std::uint32_t i = bucket(line); table_[i].pending != 0; i = (i + 1) & mask_)
    if (table_[i].line == line) return &table_[i];
  return nullptr;
}

Mshrs::Outcome Mshrs::accept(LineAddress line, Sectors wanted, Waiter waiter) {
  Entry* e = find(line);
  Sectors send = wanted;
  const bool opens = e == nullptr;
  if (!opens) {
    if (e->count == spec_.waiters) return {};
    send = static_cast<Sectors>(wanted & ~e->pending);
  } else {
    if (used_ == spec_.entries) return {};
    std::uint32_t i = bucket(line);
    while (table_[i].pending != 0) i = (i + 1) & mask_;
    e = &table_[i];
    *e = {.line = line};
    ++used_;
  }
  e->pending |= wanted;
  const std::uint32_t node = take_node();
  nodes_[node] = {waiter, kNone, wanted};
  (e->last == kNone ? e->first : nodes_[e->last].next) = node;
  e->last = node;
  ++e->count;
  return {true, send, opens};
}

// Closes the gap a removed entry leaves, so that probing needs no tombstones.
void Mshrs::release(Entry& entry) {
  std::uint32_t hole = static_cast<std::uint32_t>(&entry - table_.data());
  --used_;
  for (std::uint32_t i = (hole + 1) & mask_; table_[i].pending != 0; i = (i + 1) & mask_) {
    const std::uint32_t home = bucket(table_[i].line);
    if (((i - home) & mask_) >= ((i - hole) & mask_)) {
      table_[hole] = table_[i];
      hole = i;
    }
  }
  table_[hole] = {};
}

}  // namespace wm::sim
