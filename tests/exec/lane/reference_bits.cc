// Bits, one at a time, as the ISA's pseudo-code has them; moves and selections.
#include <algorithm>

#include "exec/lane/reference.h"

namespace wm::exec::test {

namespace {

bool bit(std::uint64_t word, int index) { return ((word >> index) & 1U) != 0; }

std::uint64_t for_each_bit(int width, auto&& value) {
  std::uint64_t result = 0;
  for (int i = 0; i < width; ++i) result |= static_cast<std::uint64_t>(value(i) ? 1 : 0) << i;
  return result;
}

std::optional<std::uint64_t> logic(const Form& form, const Name& name, const Element& in) {
  const int width = width_of(name.type());
  const std::string& op = name.opcode;
  const std::uint64_t second = in.size() > 1 && form.operands.find('!') != std::string::npos ? in[1] ^ 1U
                               : in.size() > 1                                               ? in[1]
                                                                                             : 0;
  if (op == "and") return for_each_bit(width, [&](int i) { return bit(in[0], i) && bit(second, i); });
  if (op == "or") return for_each_bit(width, [&](int i) { return bit(in[0], i) || bit(second, i); });
  if (op == "xor") return for_each_bit(width, [&](int i) { return bit(in[0], i) != bit(second, i); });
  if (op == "not") return for_each_bit(width, [&](int i) { return !bit(in[0], i); });
  if (op == "cnot") return in[0] == 0 ? 1 : 0;
  return std::nullopt;
}

Outputs lop3(const Form& form, const Name& name, const Element& in) {
  const std::size_t at = form.operands.find("0x");
  const auto table = std::stoull(form.operands.substr(at), nullptr, 16);
  const std::uint64_t value = for_each_bit(32, [&](int i) {
    return bit(table, (bit(in[0], i) ? 4 : 0) + (bit(in[1], i) ? 2 : 0) + (bit(in[2], i) ? 1 : 0));
  });
  Outputs outputs = {value};
  if (name.has("or")) outputs.push_back(value != 0 || in[3] != 0 ? 1 : 0);
  if (name.has("and")) outputs.push_back(value != 0 && in[3] != 0 ? 1 : 0);
  return outputs;
}

std::optional<std::uint64_t> shift(const Name& name, const Element& in) {
  const int width = width_of(name.type());
  if (name.opcode == "shl")
    return for_each_bit(width, [&](int i) {
      return static_cast<std::uint64_t>(i) >= in[1] && bit(in[0], i - static_cast<int>(in[1]));
    });
  if (name.opcode == "shr")
    return for_each_bit(width, [&](int i) {
      const bool inside = in[1] < 64 && i + static_cast<int>(in[1]) < width;
      return inside ? bit(in[0], i + static_cast<int>(in[1])) : is_signed(name.type()) && bit(in[0], width - 1);
    });
  if (name.opcode != "shf") return std::nullopt;
  const int count = static_cast<int>(name.has("wrap") ? in[2] % 32 : in[2] > 32 ? 32 : in[2]);
  const std::uint64_t both = in[1] << 32 | in[0];
  return for_each_bit(32, [&](int i) {
    const int from = name.has("l") ? 32 + i - count : i + count;
    return from < 64 && bit(both, from);
  });
}

std::uint64_t permute(const Name& name, const Element& in) {
  const std::uint64_t both = in[1] << 32 | in[0];
  const auto c = static_cast<int>(in[2] & 3U);
  std::uint64_t result = 0;
  for (int i = 0; i < 4; ++i) {
    int selector = static_cast<int>(in[2] >> (4 * i)) & 15;
    if (name.has("f4e")) selector = c + i;
    if (name.has("b4e")) selector = (c - i) & 7;
    if (name.has("rc8")) selector = c;
    if (name.has("ecl")) selector = std::max(c, i);
    if (name.has("ecr")) selector = std::min(c, i);
    if (name.has("rc16")) selector = (c & 1) * 2 + (i & 1);
    std::uint64_t byte = both >> (8 * (selector & 7)) & 0xffU;
    if ((selector & 8) != 0) byte = (byte & 0x80U) != 0 ? 0xff : 0;
    result |= byte << (8 * i);
  }
  return result;
}

std::optional<std::uint64_t> counted(const Name& name, const Element& in) {
  const int width = width_of(name.type());
  std::uint64_t ones = 0;
  for (int i = 0; i < width; ++i) ones += bit(in[0], i) ? 1 : 0;
  if (name.opcode == "popc") return ones;
  const bool sign = is_signed(name.type()) && bit(in[0], width - 1);
  int highest = width - 1;
  while (highest >= 0 && bit(in[0], highest) == (name.opcode == "bfind" && sign)) --highest;
  if (name.opcode == "clz") return static_cast<std::uint64_t>(width - 1 - highest);
  if (name.opcode == "brev") return for_each_bit(width, [&](int i) { return bit(in[0], width - 1 - i); });
  if (name.opcode != "bfind") return std::nullopt;
  if (highest < 0) return 0xffffffffU;
  return static_cast<std::uint64_t>(name.has("shiftamt") ? width - 1 - highest : highest);
}

std::optional<std::uint64_t> field(const Name& name, const Element& in) {
  const int width = width_of(name.type()), top = width - 1;
  // Beyond what PTX allows, the 32-bit forms read a byte and the 64-bit ones all; all counts above the width are
  // equivalent.
  const auto count = [&](std::uint64_t x) {
    return static_cast<int>(width == 32 ? x & 0xffU : std::min<std::uint64_t>(x, 1000));
  };
  if (name.opcode == "bfe") {
    const int position = count(in[1]), length = count(in[2]);
    const bool sign = is_signed(name.type()) && length != 0 && bit(in[0], std::min(position + length - 1, top));
    return for_each_bit(width,
                        [&](int i) { return i < length && position + i <= top ? bit(in[0], position + i) : sign; });
  }
  if (name.opcode == "bfi") {
    const int position = count(in[2]), length = count(in[3]);
    return for_each_bit(width, [&](int i) {
      return i >= position && i < position + length ? bit(in[0], i - position) : bit(in[1], i);
    });
  }
  const auto length = [&](std::uint64_t x) { return static_cast<int>(name.has("wrap") ? x % 32 : x > 32 ? 32 : x); };
  if (name.opcode == "szext") {
    const int kept = length(in[1]);
    const bool sign = is_signed(name.type()) && kept > 0 && bit(in[0], kept - 1);
    return for_each_bit(32, [&](int i) { return i < kept ? bit(in[0], i) : sign; });
  }
  if (name.opcode == "bmsk") {
    const int from = length(in[0]), ones = length(in[1]);
    return for_each_bit(32, [&](int i) { return i >= from && i < from + ones; });
  }
  return std::nullopt;
}

// Follows the pseudo-code of the ISA: counts set bits from the base on, in the direction of the offset.
std::uint64_t find_nth(const Element& in) {
  const auto base = static_cast<std::int64_t>(in[1]);
  auto offset = static_cast<std::int64_t>(static_cast<std::int32_t>(in[2]));
  if (in[2] == 0x80000000U) return 0;  // as measured
  if (offset == 0) return base < 32 && bit(in[0], static_cast<int>(base)) ? in[1] : 0xffffffffU;
  const int step = offset > 0 ? 1 : -1;
  offset = offset > 0 ? offset - 1 : -offset - 1;
  std::int64_t found = 0;
  for (std::int64_t at = base; at >= 0 && at < 32; at += step) {
    if (!bit(in[0], static_cast<int>(at))) continue;
    if (found == offset) return static_cast<std::uint64_t>(at);
    ++found;
  }
  return 0xffffffffU;
}

// Parts of a register, lowest first.
Outputs moved(const Form& form, const Element& in) {
  const auto width = [](const semantics::Place& place) { return place.type == "pred" ? 1 : width_of(place.type); };
  if (in.size() == 1 && form.destinations.size() == 1 && form.operands.find('_') == std::string::npos) return {in[0]};
  if (in.size() == 1) {
    const bool skipped = form.operands.find('_') != std::string::npos;
    Outputs outputs;
    int at = skipped ? width(form.destinations[0]) : 0;
    for (const auto& place : form.destinations) {
      outputs.push_back(wrapped(static_cast<Int>(in[0] >> at), width(place)));
      at += width(place);
    }
    return outputs;
  }
  std::uint64_t packed = 0;
  for (std::size_t i = 0; i < in.size(); ++i) packed |= in[i] << (width(form.sources[i]) * static_cast<int>(i));
  return {packed};
}

}  // namespace

std::optional<Outputs> bit_reference(const Form& form, const Name& name, const Element& in) {
  if (name.opcode == "lop3") return lop3(form, name, in);
  if (name.opcode == "prmt") return Outputs{permute(name, in)};
  if (name.opcode == "fns") return Outputs{find_nth(in)};
  if (name.opcode == "mov") return moved(form, in);
  for (const auto& result : {logic(form, name, in), shift(name, in), counted(name, in), field(name, in)})
    if (result) return Outputs{*result};
  return std::nullopt;
}

}  // namespace wm::exec::test
