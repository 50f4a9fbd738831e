#include "sim/cycle/memory/tags.h"

#include <algorithm>
#include <utility>

namespace wm::sim {

Tags::Tags(const TagSpec& spec)
    : sets_(spec.sets),
      ways_(spec.ways),
      dirty_ways_(spec.dirty_ways == 0 ? spec.ways : spec.dirty_ways),
      lines_(std::size_t{spec.sets} * spec.ways) {}

// Upper bits are folded in so that strides of a power of two do not all land in one set.
std::uint32_t Tags::set_of(LineAddress line) const {
  std::uint64_t h = line * 0x9e3779b97f4a7c15ULL;
  h ^= h >> 32;
  return static_cast<std::uint32_t>(((h & 0xffffffffU) * sets_) >> 32);
}

Tags::Line* Tags::find(LineAddress line) {
  Line* set = &lines_[std::size_t{set_of(line)} * ways_];
  for (std::uint32_t w = 0; w < ways_; ++w)
    if (set[w].line == line && set[w].valid != 0) return &set[w];
  return nullptr;
}

Sectors Tags::lookup(LineAddress line, Sectors wanted) {
  Line* l = find(line);
  if (l == nullptr || (l->valid & wanted) == 0) return 0;
  l->used = ++clock_;
  return l->valid & wanted;
}

Sectors Tags::peek(LineAddress line, Sectors wanted) const {
  const Line* l = const_cast<Tags*>(this)->find(line);
  return l == nullptr ? Sectors{0} : static_cast<Sectors>(l->valid & wanted);
}

Tags::Evicted Tags::fill(LineAddress line, Sectors sectors, bool dirty) {
  Line* l = find(line);
  Evicted evicted;
  if (l == nullptr) {
    Line* set = &lines_[std::size_t{set_of(line)} * ways_];
    l = std::min_element(set, set + ways_, [](const Line& a, const Line& b) {
      return (a.valid == 0 ? 0 : a.used) < (b.valid == 0 ? 0 : b.used);
    });
    if (l->valid != 0) evicted = {l->line, l->dirty};
    *l = {.line = line};
  }
  l->used = ++clock_;
  l->valid |= sectors;
  if (dirty) l->dirty |= sectors;
  return evicted;
}

Sectors Tags::write(LineAddress line, Sectors sectors) {
  Line* l = find(line);
  if (l == nullptr) return 0;
  l->used = ++clock_;
  const Sectors present = l->valid & sectors;
  l->dirty |= present;
  return present;
}

Tags::Evicted Tags::clean(LineAddress line) {
  if (dirty_ways_ >= ways_) return {};
  Line* set = &lines_[std::size_t{set_of(line)} * ways_];
  Line* oldest = nullptr;
  std::uint32_t dirty = 0;
  for (Line* l = set; l != set + ways_; ++l) {
    if (l->valid == 0 || l->dirty == 0) continue;
    ++dirty;
    if (oldest == nullptr || l->used < oldest->used) oldest = l;
  }
  if (dirty <= dirty_ways_) return {};
  return {oldest->line, std::exchange(oldest->dirty, Sectors{0})};
}

void Tags::invalidate(LineAddress line) {
  if (Line* l = find(line)) *l = {};
}

void Tags::forget(std::uint64_t client) {
  for (Line& l : lines_)
    if (l.valid != 0 && l.line >> kClientShift == client) l = {};
}

}  // namespace wm::sim
