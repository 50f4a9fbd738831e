#include "exec/lane/reference.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace wm::exec::test {

namespace {

bool is_type(const std::string& word) {
  static const std::set<std::string> kTypes = {"pred",   "b8",   "b16", "b32", "b64",   "u8",    "u16",    "u32",
                                               "u64",    "s8",   "s16", "s32", "s64",   "f16",   "f16x2",  "bf16",
                                               "bf16x2", "tf32", "f32", "f64", "u16x2", "s16x2", "e4m3x2", "e5m2x2"};
  return kTypes.contains(word);
}

}  // namespace

Name::Name(const std::string& text) {
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t dot = std::min(text.find('.', at), text.size());
    const std::string word = text.substr(at, dot - at);
    at = dot + 1;
    if (opcode.empty())
      opcode = word;
    else
      (is_type(word) ? types : words).push_back(word);
  }
}

bool Name::has(const std::string& word) const { return std::find(words.begin(), words.end(), word) != words.end(); }

const std::string& Name::type(std::size_t index) const { return types.at(index); }

std::optional<Outputs> reference(const Form& form, const Name& name, const Element& in) {
  using Family = std::optional<Outputs> (*)(const Form&, const Name&, const Element&);
  for (const Family family : {convert_reference, compare_reference, float_reference, bit_reference, integer_reference})
    if (auto outputs = family(form, name, in); outputs) return outputs;
  return std::nullopt;
}

Format format_of(const std::string& type) {
  if (type == "f16" || type == "f16x2") return {10, 5, 16, 0x7fff};
  if (type == "bf16" || type == "bf16x2") return {7, 8, 16, 0x7fff};
  if (type == "tf32") return {10, 8, 32, 0x7fffe000};
  if (type == "f32") return {23, 8, 32, 0x7fffffff};
  if (type == "f64") return {52, 11, 64, 0xfff8000000000000ULL};
  if (type == "e4m3" || type == "e4m3x2") return {3, 4, 8, 0x7f};
  if (type == "e5m2" || type == "e5m2x2") return {2, 5, 8, 0x7f};
  throw std::invalid_argument("no floating-point type: " + type);
}

bool is_nan(const Format& format, std::uint64_t bits) {
  const std::uint64_t size = bits & (format.sign_bit() - 1);
  if (format.exponent == 4) return size == 0x7f;
  return size > ((std::uint64_t{1} << format.exponent) - 1) << (format.width - 1 - format.exponent);
}

bool is_infinite(const Format& format, std::uint64_t bits) {
  const std::uint64_t size = bits & (format.sign_bit() - 1);
  return format.exponent != 4 && size == ((std::uint64_t{1} << format.exponent) - 1)
                                             << (format.width - 1 - format.exponent);
}

bool is_subnormal(const Format& format, std::uint64_t bits) {
  const std::uint64_t size = bits & (format.sign_bit() - 1);
  return size != 0 && size < std::uint64_t{1} << (format.width - 1 - format.exponent);
}

double decode(const Format& format, std::uint64_t bits) {
  const bool negative = (bits & format.sign_bit()) != 0;
  double size = 0;
  const std::uint64_t field =
      (bits >> (format.fraction + format.unused())) & ((std::uint64_t{1} << format.exponent) - 1);
  const std::uint64_t fraction = (bits >> format.unused()) & ((std::uint64_t{1} << format.fraction) - 1);
  if (is_nan(format, bits)) return std::nan("");
  if (is_infinite(format, bits))
    size = HUGE_VAL;
  else if (field == 0)
    size = std::ldexp(static_cast<double>(fraction), 1 - format.bias() - format.fraction);
  else
    size = std::ldexp(static_cast<double>(fraction + (std::uint64_t{1} << format.fraction)),
                      static_cast<int>(field) - format.bias() - format.fraction);
  return negative ? -size : size;
}

std::uint64_t encode(const Format& format, double exact_value) {
  const std::uint64_t sign = std::signbit(exact_value) ? format.sign_bit() : 0;
  const double size = std::fabs(exact_value);
  if (std::isnan(exact_value)) return format.nan;
  if (std::isinf(size))
    return sign | ((std::uint64_t{1} << format.exponent) - 1) << (format.fraction + format.unused());
  if (size == 0) return sign;
  const int lowest = 1 - format.bias();
  const int exponent = std::max(std::ilogb(size), lowest);
  const auto significand = static_cast<std::uint64_t>(std::ldexp(size, format.fraction - exponent));
  const std::uint64_t field = static_cast<std::uint64_t>(exponent - lowest) << format.fraction;
  return sign | (field + significand) << format.unused();
}

int width_of(const std::string& type) {
  if (type == "pred") return 1;
  return std::stoi(type.substr(type.find_first_of("0123456789")));
}
bool is_signed(const std::string& type) { return type[0] == 's'; }

Int value_of(const std::string& type, std::uint64_t bits) {
  const int width = width_of(type);
  Int value = 0;
  for (int i = 0; i < width; ++i) {
    const Int bit = static_cast<Int>((bits >> i) & 1U) << i;
    value += is_signed(type) && i == width - 1 ? -bit : bit;
  }
  return value;
}

std::uint64_t wrapped(Int value, int width) {
  const auto low = static_cast<std::uint64_t>(value);
  return width == 64 ? low : low & ((std::uint64_t{1} << width) - 1);
}

Int lowest(const std::string& type) { return is_signed(type) ? -(static_cast<Int>(1) << (width_of(type) - 1)) : 0; }
Int highest(const std::string& type) {
  return (static_cast<Int>(1) << (width_of(type) - (is_signed(type) ? 1 : 0))) - 1;
}

}  // namespace wm::exec::test
