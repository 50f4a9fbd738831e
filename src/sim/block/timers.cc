#include "sim/block/timers.h"

#include <algorithm>

namespace wm::sim {

void Timers::wake_at(Cycles when, std::uint64_t tag) {
  alarms_.push_back({when, numbers_++, tag});
  std::push_heap(alarms_.begin(), alarms_.end(), later);
}

std::optional<std::uint64_t> Timers::take_due(Cycles now) {
  if (alarms_.empty() || alarms_.front().when > now) return std::nullopt;
  std::pop_heap(alarms_.begin(), alarms_.end(), later);
  const std::uint64_t tag = alarms_.back().tag;
  alarms_.pop_back();
  return tag;
}

void Timers::set_epoch(Cycles length, Cycles now) {
  length_ = length;
  began_ = now;
  due_ = length.count == 0 ? kNever : now + length;
  ++settings_;
}

void Timers::next_epoch(Cycles now) {
  began_ = now;
  due_ = now + length_;
}

Cycles Timers::next() const {
  const Cycles alarm = alarms_.empty() ? kNever : alarms_.front().when;
  return std::min(alarm, due_);
}

}  // namespace wm::sim
