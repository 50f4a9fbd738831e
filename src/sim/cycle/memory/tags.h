// The tag array of a sectored, set-associative cache: which sectors of which lines are present, and which
// line is evicted (replacement/).
//
// It knows nothing of time, requests or data (values live in the executor's memory). Lines are allocated when their
// data arrives, so a miss reserves nothing. Line addresses carry their client: two address spaces never share a line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/zeroed_array.h"
#include "components/replacement_rules.h"
#include "sim/cycle/memory/cache_line.h"

namespace wm::sim {

struct TagSpec {
  std::uint32_t sets = 1;
  std::uint32_t ways = 1;
  std::uint32_t dirty_ways = 0;     // lines of a set that may be dirty; 0: all
  std::string replacement = "lru";  // the name of a file in replacement/
};

// A cache of `bytes` bytes.
TagSpec tag_spec(std::uint32_t bytes, std::uint32_t line_bytes, std::uint32_t ways, std::string_view replacement);

class Tags {
 public:
  struct Evicted {
    LineAddress line = 0;
    Sectors dirty = 0;  // to be written back; 0: nothing to do
  };

  explicit Tags(const TagSpec& spec);

  // The sectors of `wanted` that are present; counts as a use of the line where any is.
  Sectors lookup(LineAddress line, Sectors wanted);
  // The same without touching the replacement order.
  [[nodiscard]] Sectors peek(LineAddress line, Sectors wanted) const;

  // Makes `sectors` present (and dirty where asked), evicting a line of the set if need be.
  Evicted fill(LineAddress line, Sectors sectors, bool dirty);

  // Marks present sectors dirty; returns those that were present.
  Sectors write(LineAddress line, Sectors sectors);

  // Records that SMs of a half of the GPU (0, 1) have read present sectors.
  void read_by(std::uint32_t half, LineAddress line, Sectors sectors);
  // Whether the other half has read any of the sectors; they count as read by `half` only from then on.
  bool recall(std::uint32_t half, LineAddress line, Sectors sectors);

  // If more lines of the set are dirty than `dirty_ways` allows, the one that would be evicted first becomes clean and
  // stays.
  Evicted clean(LineAddress line);

  void invalidate(LineAddress line);
  // Invalidates every line of the client (a kernel boundary in an L1 that is not coherent).
  void forget(std::uint64_t client);

 private:
  // The upper half chooses the set of a line, the lower one is its mark.
  static std::uint32_t hash(LineAddress line);
  [[nodiscard]] std::size_t first_way(std::uint32_t hash) const {
    return static_cast<std::size_t>((std::uint64_t{hash} * sets_) >> 32) * ways_;
  }
  [[nodiscard]] CacheSet set_at(LineAddress line) { return {&lines_[first_way(hash(line))], ways_}; }
  CacheLine* find(LineAddress line);
  void use(CacheLine& line) {
    std::visit([&](auto& rule) { rule.used(line); }, rule_);
  }

  std::uint32_t sets_;
  std::uint32_t ways_;
  std::uint32_t dirty_ways_;
  AnyReplacementRule rule_;
  ZeroedArray<CacheLine> lines_;  // caches of a large GPU have half a million: most launches use a small part
  // The mark of each line that was filled. A search compares marks first: those of a set share a cache line of the
  // host.
  ZeroedArray<std::uint16_t> marks_;
  bool has_lines_ = false;  // a line may be present
};

}  // namespace wm::sim
