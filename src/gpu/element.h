// The types a kernel's scalars and buffer elements can have, as people name them, and their bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wm::gpu {

enum class Element : std::uint8_t { u8, s8, u16, s16, u32, s32, u64, s64, f32, f64, f16, bf16 };

inline constexpr std::array<std::string_view, 12> kElementNames{"u8",  "s8",  "u16", "s16", "u32", "s32",
                                                                "u64", "s64", "f32", "f64", "f16", "bf16"};

std::optional<Element> parse_element(std::string_view name);
std::string_view name(Element element);
std::size_t size(Element element);
bool is_float(Element element);

// The little-endian bytes of a number written as text, appended to `out`. A number that does not fit the type is an
// error:
// "'300' is no u8 (0 to 255)".
Result<void> append(Element element, std::string_view text, std::vector<std::byte>& out);

// One element as text, floats with the digits that read back to the same bits.
std::string format(Element element, std::span<const std::byte> bytes);

}  // namespace wm::gpu
