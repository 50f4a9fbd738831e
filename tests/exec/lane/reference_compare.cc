// setp, set, selp, slct.
#include <cmath>

#include "exec/lane/reference.h"

namespace wm::exec::test {

namespace {

// -1, 0, 1, or 2 where a NaN takes part.
int order(const std::string& type, std::uint64_t a, std::uint64_t b, bool ftz) {
  if (type[0] == 'f' || type.substr(0, 2) == "bf") {
    const Format format = format_of(type);
    const auto number = [&](std::uint64_t bits) {
      return ftz && is_subnormal(format, bits) ? 0.0 : decode(format, bits);
    };
    const double x = number(a), y = number(b);
    return std::isnan(x) || std::isnan(y) ? 2 : x < y ? -1 : x > y ? 1 : 0;
  }
  const Int x = value_of(type, a), y = value_of(type, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

bool holds(const Name& name, int order) {
  const std::string& word = name.words.front();
  if (word == "num") return order != 2;
  if (word == "nan") return order == 2;
  const bool unordered = word.size() == 3;  // equ, ltu, …
  if (order == 2) return unordered;
  const std::string base = word.substr(0, 2);
  if (base == "eq") return order == 0;
  if (base == "ne") return order != 0;
  if (base == "lt" || base == "lo") return order < 0;
  if (base == "le" || base == "ls") return order <= 0;
  return base == "gt" || base == "hi" ? order > 0 : order >= 0;
}

bool joined(const Form& form, const Name& name, const Element& in, bool compared) {
  if (in.size() < 3) return compared;
  const bool third = (in[2] != 0) != (form.operands.find('!') != std::string::npos);
  if (name.has("and")) return compared && third;
  return name.has("or") ? compared || third : compared != third;
}

bool compared_half(const Name& name, const std::string& type, const Element& in, int half) {
  return holds(name, order(type, in[0] >> (16 * half) & 0xffffU, in[1] >> (16 * half) & 0xffffU, name.has("ftz")));
}

std::uint64_t ones(const std::string& type, bool pair) {
  if (type == "f32") return 0x3f800000U;
  if (type == "f16" || type == "f16x2") return 0x3c00U;
  if (type == "bf16" || type == "bf16x2") return 0x3f80U;
  return pair || width_of(type) == 16 ? 0xffffU : 0xffffffffU;
}

Outputs compared(const Form& form, const Name& name, const Element& in) {
  const std::string& type = name.types.back();
  const bool predicate = name.opcode == "setp";
  if (is_pair(type)) {
    const bool low = joined(form, name, in, compared_half(name, type, in, 0));
    const bool high = joined(form, name, in, compared_half(name, type, in, 1));
    if (predicate) return {low ? 1U : 0U, high ? 1U : 0U};
    const std::uint64_t pattern = ones(name.type(), true);
    return {(low ? pattern : 0) | (high ? pattern << 16 : 0)};
  }
  const bool result = holds(name, order(type, in[0], in[1], name.has("ftz")));
  const bool p = joined(form, name, in, result);
  if (!predicate) return {p ? ones(name.type(), false) : 0};
  Outputs outputs = {p ? 1U : 0U};
  if (form.destinations.size() > 1) outputs.push_back(joined(form, name, in, !result) ? 1 : 0);
  return outputs;
}

}  // namespace

std::optional<Outputs> compare_reference(const Form& form, const Name& name, const Element& in) {
  if (name.opcode == "setp" || name.opcode == "set") return compared(form, name, in);
  if (name.opcode == "selp") return Outputs{in[2] != 0 ? in[0] : in[1]};
  if (name.opcode != "slct") return std::nullopt;
  const int sign = order(name.type(1), in[2], 0, name.has("ftz"));
  return Outputs{sign == 0 || sign == 1 ? in[0] : in[1]};
}

}  // namespace wm::exec::test
