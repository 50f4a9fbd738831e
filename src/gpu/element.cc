#include "gpu/element.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>

#include "base/number.h"
#include "gpu/small_float.h"

namespace wm::gpu {
namespace {

// Calls `visit` with a value of the element's C++ type.
template <typename Visit>
auto with_type(Element element, Visit&& visit) {
  switch (element) {
    case Element::u8:
      return visit(std::uint8_t{});
    case Element::s8:
      return visit(std::int8_t{});
    case Element::u16:
      return visit(std::uint16_t{});
    case Element::s16:
      return visit(std::int16_t{});
    case Element::u32:
      return visit(std::uint32_t{});
    case Element::s32:
      return visit(std::int32_t{});
    case Element::u64:
      return visit(std::uint64_t{});
    case Element::s64:
      return visit(std::int64_t{});
    case Element::f32:
      return visit(float{});
    case Element::f64:
      return visit(double{});
    case Element::f16:
      return visit(Half{});
    case Element::bf16:
      return visit(Bfloat{});
  }
  return visit(std::uint8_t{});
}

// f16 and bf16, which C++ has no types for.
template <typename T>
constexpr bool kSmall = std::is_same_v<T, Half> || std::is_same_v<T, Bfloat>;

template <typename T>
T from_double(double number) {
  if constexpr (std::is_same_v<T, Half>)
    return to_half(number);
  else if constexpr (std::is_same_v<T, Bfloat>)
    return to_bfloat(number);
  else
    return static_cast<T>(number);
}
template <typename T>
auto printable(T value) {
  if constexpr (kSmall<T>)
    return to_double(value);
  else
    return value;
}

template <typename T>
std::optional<T> parse(std::string_view text) {
  if constexpr (std::is_floating_point_v<T> || kSmall<T>) {
    const auto number = parse_double(text);
    if (!number) return std::nullopt;
    const T value = from_double<T>(*number);
    // 1e40 is no float; inf written as such is.
    if (std::isinf(printable(value)) && !std::isinf(*number)) return std::nullopt;
    return value;
  } else {
    return parse_integer<T>(text);
  }
}

template <typename T>
double largest() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::max();
  else
    return std::is_same_v<T, Half> ? 65504 : 3.3895313892515355e38;  // the largest bfloat16
}

template <typename T>
std::string range() {
  if constexpr (std::is_floating_point_v<T> || kSmall<T>)
    return fmt::format("a number of at most {:.5g}", largest<T>());
  else
    return fmt::format("{} to {}", +std::numeric_limits<T>::min(), +std::numeric_limits<T>::max());
}

}  // namespace

std::optional<Element> parse_element(std::string_view name) {
  const auto* found = std::find(kElementNames.begin(), kElementNames.end(), name);
  if (found == kElementNames.end()) return std::nullopt;
  return static_cast<Element>(found - kElementNames.begin());
}

std::string_view name(Element element) { return kElementNames[static_cast<std::size_t>(element)]; }

std::size_t size(Element element) {
  return with_type(element, [](auto zero) { return sizeof(zero); });
}

bool is_float(Element element) { return element >= Element::f32; }

Result<void> append(Element element, std::string_view text, std::vector<std::byte>& out) {
  return with_type(element, [&](auto zero) -> Result<void> {
    using T = decltype(zero);
    const auto value = parse<T>(text);
    if (!value) return Error{fmt::format("'{}' is no {} ({})", text, name(element), range<T>())};
    out.resize(out.size() + sizeof(T));
    std::memcpy(out.data() + out.size() - sizeof(T), &*value, sizeof(T));
    return {};
  });
}

std::string format(Element element, std::span<const std::byte> bytes) {
  return with_type(element, [&](auto value) {
    std::memcpy(&value, bytes.data(), sizeof(value));
    return fmt::format("{}", printable(value));
  });
}

}  // namespace wm::gpu
