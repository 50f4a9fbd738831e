// Integer arithmetic in 128 bits: wide enough for every sum and every product, so that wrapping is a cut at the end.
#include <algorithm>

#include "exec/lane/reference.h"

namespace wm::exec::test {

namespace {

__extension__ using Uint = unsigned __int128;

// Modulo 2^128, where both signs agree.
Int product(Int a, Int b) { return static_cast<Int>(static_cast<Uint>(a) * static_cast<Uint>(b)); }

// The upper half of a product of `width` bits each: the cut must know the sign of a 128-bit product.
Int upper(const std::string& type, Int a, Int b, int width) {
  const Uint product_value = static_cast<Uint>(product(a, b));
  return is_signed(type) ? static_cast<Int>(product_value) >> width : static_cast<Int>(product_value >> width);
}

Int clamp(const std::string& type, Int value) { return std::clamp(value, lowest(type), highest(type)); }

Int low24(const std::string& type, Int a) {
  const Int low = a & 0xffffff;
  return is_signed(type) && low >= 0x800000 ? low - 0x1000000 : low;
}

Int multiplied(const Name& name, Int a, Int b) {
  const std::string& type = name.type();
  if (name.opcode == "mul24" || name.opcode == "mad24") {
    const Int product_value = low24(type, a) * low24(type, b);
    const Int part = name.has("hi") ? product_value >> 16 : product_value;
    return value_of(type, wrapped(part, 32));
  }
  if (!name.has("hi")) return product(a, b);
  return upper(type, a, b, width_of(type));
}

std::optional<Int> quotient(const Name& name, Int a, Int b) {
  if (name.opcode == "div") return b == 0 ? -1 : a / b;
  return b == 0 ? -1 : a % b;
}

std::optional<Int> simple(const Name& name, const std::vector<Int>& v) {
  const std::string& op = name.opcode;
  if (op == "add") return v[0] + v[1];
  if (op == "sub") return v[0] - v[1];
  if (op == "mul" || op == "mul24") return multiplied(name, v[0], v[1]);
  if (op == "mad" || op == "mad24") return product(multiplied(name, v[0], v[1]), 1) + v[2];
  if (op == "div" || op == "rem") return quotient(name, v[0], v[1]);
  if (op == "sad") return v[2] + (v[0] < v[1] ? v[1] - v[0] : v[0] - v[1]);
  if (op == "abs") return v[0] < 0 ? -v[0] : v[0];
  if (op == "neg") return -v[0];
  Int chosen = 0;
  if (op == "min")
    chosen = std::min(v[0], v[1]);
  else if (op == "max")
    chosen = std::max(v[0], v[1]);
  else
    return std::nullopt;
  return name.has("relu") ? std::max<Int>(chosen, 0) : chosen;
}

// With a carry: the sum of the operands as unsigned numbers of the type's width, or a difference and its borrow.
Outputs carried(const Form& form, const Name& name, const Element& in) {
  const std::string& type = name.type();
  const int width = width_of(type);
  const bool has_in = form.sources.back().type == "carry", has_out = form.destinations.back().type == "carry";
  const Int carry = has_in ? static_cast<Int>(in.back() & 1U) : 0;
  Int first = static_cast<Int>(in[0]), second = static_cast<Int>(in[1]);
  if (name.opcode.substr(0, 3) == "mad") {
    const Int product_value = multiplied(name, value_of(type, in[0]), value_of(type, in[1]));
    first = static_cast<Int>(wrapped(product_value, width));
    second = static_cast<Int>(in[2]);
  }
  const bool subtract = name.opcode.substr(0, 3) == "sub";
  const Int total = subtract ? first - second - carry : first + second + carry;
  Outputs outputs = {wrapped(total, width)};
  if (has_out) outputs.push_back(subtract ? (total < 0 ? 1 : 0) : static_cast<std::uint64_t>(total >> width) & 1U);
  return outputs;
}

Outputs packed_integers(const Name& name, const Element& in) {
  Name half = name;
  half.types = {name.type().substr(0, 3)};
  std::uint64_t result = 0;
  for (int i = 0; i < 2; ++i) {
    const std::vector<Int> v = {value_of(half.type(), in[0] >> (16 * i)), value_of(half.type(), in[1] >> (16 * i))};
    result |= wrapped(*simple(half, v), 16) << (16 * i);
  }
  return {result};
}

Outputs dot(const Name& name, const Element& in) {
  const auto part = [](const std::string& type, std::uint64_t word, int width, int index) {
    return value_of((is_signed(type) ? "s" : "u") + std::to_string(width), word >> (width * index));
  };
  Int sum = static_cast<Int>(in[2]);
  if (name.opcode == "dp4a")
    for (int i = 0; i < 4; ++i) sum += part(name.type(0), in[0], 8, i) * part(name.type(1), in[1], 8, i);
  else
    for (int i = 0; i < 2; ++i)
      sum += part(name.type(0), in[0], 16, i) * part(name.type(1), in[1], 8, i + (name.has("hi") ? 2 : 0));
  return {wrapped(sum, 32)};
}

}  // namespace

std::optional<Outputs> integer_reference(const Form& form, const Name& name, const Element& in) {
  if (name.opcode == "dp4a" || name.opcode == "dp2a") return dot(name, in);
  if (name.type() == "u16x2" || name.type() == "s16x2") return packed_integers(name, in);
  if (form.sources.back().type == "carry" || form.destinations.back().type == "carry") return carried(form, name, in);
  std::vector<Int> v;
  const std::string& type = name.type();
  const bool wide = name.has("wide");
  const std::string wider = type.substr(0, 1) + std::to_string(2 * width_of(type));
  for (std::size_t i = 0; i < in.size(); ++i) v.push_back(value_of(wide && i == 2 ? wider : type, in[i]));
  const auto result = simple(name, v);
  if (!result) return std::nullopt;
  if (name.has("sat")) return Outputs{wrapped(clamp(type, *result), width_of(type))};
  return Outputs{wrapped(*result, wide ? 2 * width_of(type) : width_of(type))};
}

}  // namespace wm::exec::test
