#include "ptx/type.h"

#include <array>

namespace wm::ptx {
namespace {

// In the order of enum Type.
constexpr std::array<std::uint8_t, kTypeCount> kBits = {
    0,  1,                        // none, pred
    8,  16, 32, 64, 128,          // b
    8,  16, 32, 64,               // u
    8,  16, 32, 64,               // s
    16, 32, 16, 32, 32,  32, 64,  // f16 .. f64
    32, 32,                       // u16x2, s16x2
    8,  8,  16, 16,               // e4m3 .. e5m2x2
    4,  4,  1,                    // u4, s4, b1: elements of matrices only
    64, 64, 64,                   // texref, samplerref, surfref: the number of a texture
};

}  // namespace

int bits(Type type) { return kBits[static_cast<std::size_t>(type)]; }

bool is_float(Type type) {
  return (type >= Type::f16 && type <= Type::f64) || (type >= Type::e4m3 && type <= Type::e5m2x2);
}
bool is_signed(Type type) { return (type >= Type::s8 && type <= Type::s64) || type == Type::s16x2; }
bool is_unsigned(Type type) { return (type >= Type::u8 && type <= Type::u64) || type == Type::u16x2; }
bool is_untyped(Type type) { return type >= Type::b8 && type <= Type::b128; }

}  // namespace wm::ptx
