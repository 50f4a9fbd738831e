// The special registers, which the hardware fills: thread and block indices, the SM, clocks.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "ptx/type.h"

namespace wm::ptx {

enum class Special : std::uint8_t {
#define WM_SPECIAL(enumerator, text, type) enumerator,
#include "ptx/special.def"
#undef WM_SPECIAL
};

inline constexpr int kSpecialCount =
    std::initializer_list<int>{
#define WM_SPECIAL(...) 0,
#include "ptx/special.def"
#undef WM_SPECIAL
    }
        .size();

// With the percent sign: "%tid.x".
[[nodiscard]] std::string_view name(Special special);
[[nodiscard]] std::optional<Special> special_named(std::string_view name);
// The type that a `mov` from the special register reads: u32 or u64, pred for %is_explicit_cluster, b32 for %envregN.
[[nodiscard]] Type type_of(Special special);

}  // namespace wm::ptx
