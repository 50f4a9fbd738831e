#include "exec/memory_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "exec/lane/rows.h"

namespace wm::exec {

namespace {

// A 128-bit value that is moved as a unit.
struct Wide {
  std::uint64_t low = 0;
  std::uint64_t high = 0;
};

template <typename E>
E read(const std::byte* at) {
  E value;
  std::memcpy(&value, at, sizeof(E));
  return value;
}

// NOLINTNEXTLINE(performance-no-int-to-ptr): the addresses of lanes are computed as numbers
std::byte* pointer(std::uintptr_t at) { return reinterpret_cast<std::byte*>(at); }

template <typename R, typename E>
R extended(E value) {
  // NOLINTNEXTLINE(bugprone-signed-char-misuse): the sign of 8-bit types is meant to spread
  return static_cast<R>(value);
}

std::byte* at(const LaneAddressing& place, const std::uint64_t* address, int lane) {
  return pointer(place.host + address[lane] + static_cast<std::uint64_t>(lane) * place.lane_stride);
}

// E: the element in memory; R: the register's lane. E's signedness says how it is extended.
template <typename E, typename R>
void gather(const LaneAddressing& place, const std::uint64_t* address, R* out) {
  if constexpr (sizeof(E) == sizeof(R)) {
    if (place.consecutive) {
      std::memcpy(out, pointer(place.host + address[0]), sizeof(E) * kLanes);
      return;
    }
  }
  if (place.lane_stride == 0) {
    const std::uintptr_t host = place.host;
    R taken[kLanes];  // apart from the addresses, so that the compiler may read several at once
#pragma GCC unroll 8
    for (int i = 0; i < kLanes; ++i) taken[i] = extended<R>(read<E>(pointer(host + address[i])));
    std::memcpy(out, taken, sizeof taken);
    return;
  }
  for (int i = 0; i < kLanes; ++i) out[i] = extended<R>(read<E>(at(place, address, i)));
}

template <typename E, typename R>
void load_as(const LaneAddressing& place, const std::uint64_t* address, const Frame& frame, RegisterRow to) {
  R* row = frame.destination<R>(to);
  if (frame.active == kAllLanes) return gather<E, R>(place, address, row);
  R result[kLanes];
  gather<E, R>(place, address, result);
  blend(row, result, frame.active);
}

template <typename E, typename R>
void scatter(const LaneAddressing& place, const std::uint64_t* address, const R* row, Mask active) {
  if constexpr (sizeof(E) == sizeof(R)) {
    if (place.consecutive) {
      std::memcpy(pointer(place.host + address[0]), row, sizeof(E) * kLanes);
      return;
    }
  }
  if (active == kAllLanes) {
    for (int i = 0; i < kLanes; ++i) {
      const E value = static_cast<E>(row[i]);
      std::memcpy(at(place, address, i), &value, sizeof(E));
    }
    return;
  }
  for (Mask m = active; m != 0; m &= m - 1) {
    const int i = std::countr_zero(m);
    const E value = static_cast<E>(row[i]);
    std::memcpy(at(place, address, i), &value, sizeof(E));
  }
}

// Calls `body` with an element and a register value of the types of `memory`.
template <typename Body>
void by_width(const Memory& memory, Body&& body) {
  const auto with_row = [&](auto element) {
    using E = decltype(element);
    switch (memory.row_bytes) {
      case 1:
        if constexpr (sizeof(E) <= 1) body(element, std::uint8_t{});
        return;
      case 2:
        if constexpr (sizeof(E) <= 2) body(element, std::uint16_t{});
        return;
      case 4:
        if constexpr (sizeof(E) <= 4) body(element, std::uint32_t{});
        return;
      case 8:
        if constexpr (sizeof(E) <= 8) body(element, std::uint64_t{});
        return;
      default:
        return;
    }
  };
  switch (memory.bytes) {
    case 1:
      return memory.sign_extend ? with_row(std::int8_t{}) : with_row(std::uint8_t{});
    case 2:
      return memory.sign_extend ? with_row(std::int16_t{}) : with_row(std::uint16_t{});
    case 4:
      return memory.sign_extend ? with_row(std::int32_t{}) : with_row(std::uint32_t{});
    case 8:
      return with_row(std::uint64_t{});
    default:
      return;
  }
}

}  // namespace

bool in_a_row(const std::array<std::uint64_t, kLanes>& address, std::uint64_t step) {
  const std::uint64_t first = address[0];
  if (address[kLanes - 1] - first != step * (kLanes - 1)) return false;
  const int shift = std::countr_zero(step);
  std::uint64_t gap = 0;
  for (int i = 0; i < kLanes; ++i) gap |= address[i] - first - (static_cast<std::uint64_t>(i) << shift);
  return gap == 0;
}

void load_row(const Memory& memory, const LaneAddressing& place, const std::uint64_t* address, const Frame& frame,
              RegisterRow to) {
  if (to.none()) return;
  if (memory.bytes == 4 && memory.row_bytes == 4)  // the usual one first
    return load_as<std::uint32_t, std::uint32_t>(place, address, frame, to);
  if (memory.bytes == 16) {
    for (Mask m = frame.active; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      frame.destination<Wide>(to)[i] = read<Wide>(at(place, address, i));
    }
    return;
  }
  by_width(memory,
           [&](auto element, auto row) { load_as<decltype(element), decltype(row)>(place, address, frame, to); });
}

void load_broadcast(const Memory& memory, const std::byte* from, const Frame& frame, RegisterRow to) {
  if (to.none()) return;
  if (memory.bytes == 16) {
    for (Mask m = frame.active; m != 0; m &= m - 1) load_lane(memory, from, frame, to, std::countr_zero(m));
    return;
  }
  by_width(memory, [&](auto element, auto row) {
    using R = decltype(row);
    const R value = extended<R>(read<decltype(element)>(from));
    R* out = frame.destination<R>(to);
    if (frame.active == kAllLanes) {
      std::fill(out, out + kLanes, value);
      return;
    }
    R same[kLanes];
    std::fill(same, same + kLanes, value);
    blend(out, same, frame.active);
  });
}

void load_lane(const Memory& memory, const std::byte* from, const Frame& frame, RegisterRow to, int lane) {
  if (to.none()) return;
  if (memory.bytes == 16) {
    frame.destination<Wide>(to)[lane] = read<Wide>(from);
    return;
  }
  by_width(memory, [&](auto element, auto row) {
    frame.destination<decltype(row)>(to)[lane] = extended<decltype(row)>(read<decltype(element)>(from));
  });
}

void store_row(const Memory& memory, const LaneAddressing& place, const std::uint64_t* address, const Frame& frame,
               RegisterRow from) {
  if (memory.bytes == 4 && memory.row_bytes == 4)
    return scatter<std::uint32_t, std::uint32_t>(place, address, frame.source<std::uint32_t>(from), frame.active);
  if (memory.bytes == 16) {
    for (Mask m = frame.active; m != 0; m &= m - 1) {
      const int i = std::countr_zero(m);
      std::memcpy(at(place, address, i), frame.source<Wide>(from) + i, 16);
    }
    return;
  }
  by_width(memory, [&](auto element, auto row) {
    scatter<decltype(element), decltype(row)>(place, address, frame.source<decltype(row)>(from), frame.active);
  });
}

void store_lane(const Memory& memory, std::byte* to, const Frame& frame, RegisterRow from, int lane) {
  if (memory.bytes == 16) {
    std::memcpy(to, frame.source<Wide>(from) + lane, 16);
    return;
  }
  by_width(memory, [&](auto element, auto row) {
    const auto value = static_cast<decltype(element)>(frame.source<decltype(row)>(from)[lane]);
    std::memcpy(to, &value, sizeof value);
  });
}

void load_lane_at_once(const Memory& memory, const std::byte* from, const Frame& frame, RegisterRow to, int lane) {
  if (memory.bytes == 16) return load_lane(memory, from, frame, to, lane);
  if (to.none()) return;
  by_width(memory, [&](auto element, auto row) {
    using E = decltype(element);
    const E value = __atomic_load_n(reinterpret_cast<const E*>(from), __ATOMIC_ACQUIRE);
    frame.destination<decltype(row)>(to)[lane] = extended<decltype(row)>(value);
  });
}

void store_lane_at_once(const Memory& memory, std::byte* to, const Frame& frame, RegisterRow from, int lane) {
  if (memory.bytes == 16) return store_lane(memory, to, frame, from, lane);
  by_width(memory, [&](auto element, auto row) {
    using E = decltype(element);
    const auto value = static_cast<E>(frame.source<decltype(row)>(from)[lane]);
    __atomic_store_n(reinterpret_cast<E*>(to), value, __ATOMIC_RELEASE);
  });
}

}  // namespace wm::exec
