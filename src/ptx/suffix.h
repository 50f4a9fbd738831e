// The dotted parts of an instruction's name that are not types: rounding, comparison, space, scope, cache, shape.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace wm::ptx {

enum class Suffix : std::uint8_t {
#define WM_SUFFIX(enumerator, text) enumerator,
#include "ptx/suffix.def"
#undef WM_SUFFIX
};

inline constexpr int kSuffixCount =
    std::initializer_list<int>{
#define WM_SUFFIX(...) 0,
#include "ptx/suffix.def"
#undef WM_SUFFIX
    }
        .size();

// Without the leading dot: "rn", "L1::no_allocate".
[[nodiscard]] std::string_view name(Suffix suffix);
[[nodiscard]] std::optional<Suffix> suffix_named(std::string_view name);

}  // namespace wm::ptx
