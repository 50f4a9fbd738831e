// The tag array of a sectored, set-associative cache: which sectors of which lines are present, and who is evicted.
//
// It knows nothing of time, requests or data (values live in the executor's memory). Lines are allocated when their
// data arrives, so a miss reserves nothing. Line addresses carry their client: two address spaces never share a line.
#pragma once

#include <cstdint>
#include <vector>

namespace wm::sim {

// A line's address in units of lines, with the client in the top byte.
using LineAddress = std::uint64_t;
inline constexpr std::uint32_t kClientShift = 56;
using Sectors = std::uint8_t;  // bit i: sector i of the line

struct TagSpec {
  std::uint32_t sets = 1;
  std::uint32_t ways = 1;
  std::uint32_t dirty_ways = 0;  // lines of a set that may be dirty; 0: all
};

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

  // Makes `sectors` present (and dirty where asked), evicting the least recently used line of the set if need be.
  Evicted fill(LineAddress line, Sectors sectors, bool dirty);

  // Marks present sectors dirty; returns those that were present.
  Sectors write(LineAddress line, Sectors sectors);

  // Where more lines of the set than may be are dirty, the one used longest ago becomes clean and stays.
  Evicted clean(LineAddress line);

  void invalidate(LineAddress line);
  // Forgets every line of the client (a kernel boundary in an L1 that is not coherent).
  void forget(std::uint64_t client);

 private:
  struct Line {
    LineAddress line = ~LineAddress{0};
    std::uint32_t used = 0;
    Sectors valid = 0;
    Sectors dirty = 0;
  };
  [[nodiscard]] std::uint32_t set_of(LineAddress line) const;
  Line* find(LineAddress line);

  std::uint32_t sets_;
  std::uint32_t ways_;
  std::uint32_t dirty_ways_;
  std::uint32_t clock_ = 0;
  std::vector<Line> lines_;
};

}  // namespace wm::sim
