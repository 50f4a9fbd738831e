// Moving elements between memory and register rows: 32 lanes at once where all is checked, or one lane.
//
// An element narrower than its register is extended, with its sign or with zeros. Lane i's element lies at
// host + address[i] + i * lane_stride, where `host` is the memory of the host less the address it stands for: a number,
// since it points nowhere itself.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/lanes.h"
#include "exec/program.h"

namespace wm::exec {

// A destination slot of none drops the element (`_`).
void load_row(const Memory& memory, std::uintptr_t host, std::uint64_t lane_stride, const std::uint64_t* address,
              const Frame& frame, Slot to);
void load_lane(const Memory& memory, const std::byte* from, const Frame& frame, Slot to, int lane);

void store_row(const Memory& memory, std::uintptr_t host, std::uint64_t lane_stride, const std::uint64_t* address,
               const Frame& frame, Slot from);
void store_lane(const Memory& memory, std::byte* to, const Frame& frame, Slot from, int lane);

}  // namespace wm::exec
