#include "sim/cycle/memory/tags.h"

#include <algorithm>
#include <utility>

namespace wm::sim {

TagSpec tag_spec(std::uint32_t bytes, std::uint32_t line_bytes, std::uint32_t ways, std::string_view replacement) {
  return {.sets = std::max(1U, bytes / line_bytes / ways), .ways = ways, .replacement = std::string(replacement)};
}

Tags::Tags(const TagSpec& spec)
    : sets_(spec.sets),
      ways_(spec.ways),
      dirty_ways_(spec.dirty_ways == 0 ? spec.ways : spec.dirty_ways),
      rule_(make_replacement_rule(spec.replacement)),
      lines_(std::size_t{spec.sets} * spec.ways),
      marks_(lines_.size()) {}

// Upper bits are folded in so that strides of a power of two do not all land in one set.
std::uint32_t Tags::hash(LineAddress line) {
  const std::uint64_t h = line * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::uint32_t>(h ^ h >> 32);
}

CacheLine* Tags::find(LineAddress line) {
  const std::uint32_t h = hash(line);
  const std::size_t first = first_way(h);
  for (std::size_t i = first; i < first + ways_; ++i)
    if (marks_[i] == static_cast<std::uint16_t>(h) && lines_[i].line == line && lines_[i].valid != 0) return &lines_[i];
  return nullptr;
}

Sectors Tags::lookup(LineAddress line, Sectors wanted) {
  CacheLine* l = find(line);
  if (l == nullptr || (l->valid & wanted) == 0) return 0;
  use(*l);
  return l->valid & wanted;
}

Sectors Tags::peek(LineAddress line, Sectors wanted) const {
  const CacheLine* l = const_cast<Tags*>(this)->find(line);
  return l == nullptr ? Sectors{0} : static_cast<Sectors>(l->valid & wanted);
}

Tags::Evicted Tags::fill(LineAddress line, Sectors sectors, bool dirty) {
  CacheLine* l = find(line);
  Evicted evicted;
  if (l == nullptr) {
    const CacheSet set = set_at(line);
    const auto empty = std::find_if(set.begin(), set.end(), [](const CacheLine& c) { return c.valid == 0; });
    l = empty != set.end() ? &*empty : std::visit([&](auto& rule) { return &rule.victim(set); }, rule_);
    if (l->valid != 0) evicted = {l->line, l->dirty};
    *l = {.line = line};
    has_lines_ = true;
    marks_[static_cast<std::size_t>(l - &lines_[0])] = static_cast<std::uint16_t>(hash(line));
    std::visit([&](auto& rule) { rule.filled(*l); }, rule_);
  } else {
    use(*l);
  }
  l->valid |= sectors;
  if (dirty) l->dirty |= sectors;
  return evicted;
}

Sectors Tags::write(LineAddress line, Sectors sectors) {
  CacheLine* l = find(line);
  if (l == nullptr) return 0;
  use(*l);
  const Sectors present = l->valid & sectors;
  l->dirty |= present;
  return present;
}

void Tags::read_by(std::uint32_t half, LineAddress line, Sectors sectors) {
  if (CacheLine* l = find(line)) l->read_by[half] |= sectors;
}

bool Tags::recall(std::uint32_t half, LineAddress line, Sectors sectors) {
  CacheLine* l = find(line);
  if (l == nullptr) return false;
  Sectors& other = l->read_by[1 - half];
  const bool is_shared = (other & sectors) != 0;
  other = static_cast<Sectors>(other & ~sectors);
  return is_shared;
}

Tags::Evicted Tags::clean(LineAddress line) {
  if (dirty_ways_ >= ways_) return {};
  CacheLine* first = nullptr;
  std::uint32_t dirty = 0;
  for (CacheLine& l : set_at(line)) {
    if (l.valid == 0 || l.dirty == 0) continue;
    ++dirty;
    if (first == nullptr || std::visit([&](auto& rule) { return rule.goes_before(l, *first); }, rule_)) first = &l;
  }
  if (dirty <= dirty_ways_) return {};
  return {first->line, std::exchange(first->dirty, Sectors{0})};
}

void Tags::invalidate(LineAddress line) {
  if (CacheLine* l = find(line)) *l = {};
}

void Tags::forget(std::uint64_t client) {
  if (!has_lines_) return;
  has_lines_ = false;
  for (CacheLine& l : lines_.all()) {
    if (l.valid == 0) continue;
    if (l.line >> kClientShift == client) {
      l = {};
    } else {
      has_lines_ = true;
    }
  }
}

}  // namespace wm::sim
