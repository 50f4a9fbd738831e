// The names of opcodes, suffixes, types and special registers, and the way back from a name.
#include <algorithm>
#include <array>
#include <string_view>

#include "ptx/opcode.h"
#include "ptx/special.h"
#include "ptx/suffix.h"
#include "ptx/type.h"

namespace wm::ptx {
namespace {

constexpr std::array<std::string_view, kOpcodeCount> kOpcodeNames = {
#define WM_OPCODE(enumerator, text) text,
#include "ptx/opcode.def"
#undef WM_OPCODE
};

constexpr std::array<std::string_view, kSuffixCount> kSuffixNames = {
#define WM_SUFFIX(enumerator, text) text,
#include "ptx/suffix.def"
#undef WM_SUFFIX
};

constexpr std::array<std::string_view, kSpecialCount> kSpecialNames = {
#define WM_SPECIAL(enumerator, text, type) text,
#include "ptx/special.def"
#undef WM_SPECIAL
};

constexpr std::array<Type, kSpecialCount> kSpecialTypes = {
#define WM_SPECIAL(enumerator, text, type) Type::type,
#include "ptx/special.def"
#undef WM_SPECIAL
};

// In the order of enum Type.
constexpr std::array<std::string_view, kTypeCount> kTypeNames = {
    "none", "pred", "b8",     "b16",    "b32",   "b64",  "b128",   "u8",     "u16",        "u32",     "u64",   "s8",
    "s16",  "s32",  "s64",    "f16",    "f16x2", "bf16", "bf16x2", "tf32",   "f32",        "f64",     "u16x2", "s16x2",
    "e4m3", "e5m2", "e4m3x2", "e5m2x2", "u4",    "s4",   "b1",     "texref", "samplerref", "surfref",
};

// Indices of `names` in the order of their text, so that a name is found by bisection.
template <std::size_t N>
constexpr std::array<std::uint8_t, N> sorted(const std::array<std::string_view, N>& names) {
  std::array<std::uint8_t, N> order{};
  for (std::size_t i = 0; i < N; ++i) order[i] = static_cast<std::uint8_t>(i);
  std::sort(order.begin(), order.end(), [&](std::uint8_t a, std::uint8_t b) { return names[a] < names[b]; });
  return order;
}

constexpr auto kOpcodeOrder = sorted(kOpcodeNames);
constexpr auto kSuffixOrder = sorted(kSuffixNames);
constexpr auto kSpecialOrder = sorted(kSpecialNames);
constexpr auto kTypeOrder = sorted(kTypeNames);

template <typename Enum, std::size_t N>
std::optional<Enum> find(std::string_view text, const std::array<std::string_view, N>& names,
                         const std::array<std::uint8_t, N>& order) {
  const auto* at = std::lower_bound(order.begin(), order.end(), text,
                                    [&](std::uint8_t i, std::string_view key) { return names[i] < key; });
  if (at == order.end() || names[*at] != text) return std::nullopt;
  return static_cast<Enum>(*at);
}

}  // namespace

std::string_view name(Opcode opcode) { return kOpcodeNames[static_cast<std::size_t>(opcode)]; }
std::string_view name(Suffix suffix) { return kSuffixNames[static_cast<std::size_t>(suffix)]; }
std::string_view name(Special special) { return kSpecialNames[static_cast<std::size_t>(special)]; }
std::string_view name(Type type) { return kTypeNames[static_cast<std::size_t>(type)]; }

Type type_of(Special special) { return kSpecialTypes[static_cast<std::size_t>(special)]; }

std::optional<Opcode> opcode_named(std::string_view text) { return find<Opcode>(text, kOpcodeNames, kOpcodeOrder); }
std::optional<Suffix> suffix_named(std::string_view text) { return find<Suffix>(text, kSuffixNames, kSuffixOrder); }
std::optional<Special> special_named(std::string_view text) {
  return find<Special>(text, kSpecialNames, kSpecialOrder);
}
std::optional<Type> type_named(std::string_view text) {
  const auto type = find<Type>(text, kTypeNames, kTypeOrder);
  return type == Type::none ? std::nullopt : type;
}

}  // namespace wm::ptx
