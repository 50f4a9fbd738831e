// Moving elements between memory and register rows: 32 lanes at once where all is checked, or one lane.
//
// An element narrower than its register is extended, with its sign or with zeros.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "exec/lanes.h"
#include "exec/program.h"

namespace wm::exec {

// Lane i's element lies at host + address[i] + i * lane_stride, where `host` is the memory of the host less the address
// it stands for: a number, since it points nowhere itself.
struct LaneAddressing {
  std::uintptr_t host = 0;
  std::uint64_t lane_stride = 0;
  bool consecutive = false;  // lane i's element directly follows lane i-1's, and all lanes execute where it is a store
};

// Whether each lane's element of `step` bytes (a power of two) directly follows the last one's. The first and last lane
// are tested first, which decides most negative cases.
[[nodiscard]] bool in_a_row(const std::array<std::uint64_t, kLanes>& address, std::uint64_t step);

// A destination row of none drops the element (`_`).
void load_row(const Memory& memory, const LaneAddressing& place, const std::uint64_t* address, const Frame& frame,
              RegisterRow to);
// The same element for every lane.
void load_broadcast(const Memory& memory, const std::byte* from, const Frame& frame, RegisterRow to);
void load_lane(const Memory& memory, const std::byte* from, const Frame& frame, RegisterRow to, int lane);

void store_row(const Memory& memory, const LaneAddressing& place, const std::uint64_t* address, const Frame& frame,
               RegisterRow from);
void store_lane(const Memory& memory, std::byte* to, const Frame& frame, RegisterRow from, int lane);

// The same in one access of the host, for words that another thread of the host may use at the same moment: what that
// thread wrote before it stored the element is seen after the load. Elements of 16 bytes are moved in parts.
void load_lane_at_once(const Memory& memory, const std::byte* from, const Frame& frame, RegisterRow to, int lane);
void store_lane_at_once(const Memory& memory, std::byte* to, const Frame& frame, RegisterRow from, int lane);

}  // namespace wm::exec
