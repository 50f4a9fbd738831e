// dp4a, dp2a: sums of products of bytes, added to a word.
#include "exec/lane/form.h"

namespace wm::exec {

namespace {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

template <bool Signed>
WM_LANE std::int32_t byte_of(std::uint32_t word, int index) {
  const std::uint32_t byte = (word >> (8 * index)) & 0xffU;
  return Signed ? static_cast<std::int8_t>(byte) : static_cast<std::int32_t>(byte);
}
template <bool Signed>
WM_LANE std::int32_t short_of(std::uint32_t word, int index) {
  const std::uint32_t value = (word >> (16 * index)) & 0xffffU;
  return Signed ? static_cast<std::int16_t>(value) : static_cast<std::int32_t>(value);
}

template <bool A, bool B>
WM_LANE std::uint32_t dot4(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int i = 0; i < 4; ++i) c += static_cast<std::uint32_t>(byte_of<A>(a, i) * byte_of<B>(b, i));
  return c;
}
template <bool A, bool B, bool High>
WM_LANE std::uint32_t dot2(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int i = 0; i < 2; ++i) c += static_cast<std::uint32_t>(short_of<A>(a, i) * byte_of<B>(b, i + (High ? 2 : 0)));
  return c;
}

bool is_word(Type type) { return type == Type::s32 || type == Type::u32; }

}  // namespace

LaneOp dot_product(Form& form) {
  if (!is_word(form.type(0)) || !is_word(form.type(1))) return nullptr;
  const bool two = form.opcode() == Opcode::dp2a;
  const bool high = two && form.take(Suffix::hi);
  if (two && !high && !form.take(Suffix::lo)) return nullptr;
  return by_flag(form.type(0) == Type::s32, [&](auto a) {
    return by_flag(form.type(1) == Type::s32, [&](auto b) -> LaneOp {
      if (!two) return lanes<dot4<decltype(a)::value, b()>>;
      return high ? lanes<dot2<decltype(a)::value, b(), true>> : lanes<dot2<decltype(a)::value, b(), false>>;
    });
  });
}

}  // namespace wm::exec
