#include "ptx/operand_check.h"

#include <algorithm>
#include <fmt/format.h>

#include "ptx/number.h"

namespace wm::ptx {
namespace {

enum class Class : std::uint8_t { untyped, integer, floating, predicate };

// The packed 16-bit integers live in ordinary registers, so they count as bits.
Class class_of(Type type) {
  if (type == Type::pred) return Class::predicate;
  if (is_float(type)) return Class::floating;
  return is_untyped(type) ? Class::untyped : Class::integer;
}

// Types PTX gives no registers of their own class: any register of their width holds them.
bool is_packed(Type type) {
  return type == Type::u16x2 || type == Type::s16x2 || (type >= Type::e4m3 && type <= Type::e5m2x2);
}

}  // namespace

OperandCheck::Wanted OperandCheck::wanted(const OperandSpec& spec) const {
  Type type = spec.type;
  if (spec.type_index >= 0) type = instruction_.types[static_cast<std::size_t>(spec.type_index)];
  return {type, bits(type) * (spec.wide ? 2 : 1)};
}

bool OperandCheck::is_register(const Operand& operand, Wanted want, bool or_wider) const {
  if (operand.kind != Operand::Kind::reg || operand.negated) return false;
  const Type type = function_.registers[operand.index].type;
  if ((type == Type::pred) != (want.type == Type::pred)) return false;
  if (type == Type::pred) return true;
  const Class asked = is_packed(want.type) ? Class::untyped : class_of(want.type);
  if (or_wider ? bits(type) < want.bits : bits(type) != want.bits) return false;
  if (asked == Class::untyped || class_of(type) == Class::untyped) return true;
  if (asked != class_of(type)) return false;
  return asked == Class::integer || type == want.type;
}

bool OperandCheck::is_immediate(const Operand& operand, Wanted want) const {
  // PTX has no literals of 16-bit floats: programs move their bits with `mov`.
  if (operand.kind == Operand::Kind::integer) return class_of(want.type) != Class::floating;
  if (operand.kind != Operand::Kind::f32 && operand.kind != Operand::Kind::f64) return false;
  if (want.type == Type::f32 || want.type == Type::f64) return true;
  return class_of(want.type) == Class::untyped && want.bits == (operand.kind == Operand::Kind::f32 ? 32 : 64);
}

bool OperandCheck::is_predicate(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg && function_.registers[operand.index].type == Type::pred;
}

bool OperandCheck::is_pair(const Operand& operand, Wanted want) const {
  if (operand.kind != Operand::Kind::pair) return false;
  const auto fits_half = [&](const Operand& half, Wanted half_want) {
    return half.kind == Operand::Kind::sink || is_register(half, half_want, false);
  };
  return fits_half(operand.elements[0], want) && fits_half(operand.elements[1], {Type::pred, 1});
}

// nvcc writes the one element of a surface access as {%r1}.
bool OperandCheck::is_one_in_braces(const Operand& operand) const {
  return (instruction_.opcode == Opcode::suld_b || instruction_.opcode == Opcode::sust_b ||
          instruction_.opcode == Opcode::sust_p) &&
         instruction_.vector_width() == 1 && operand.kind == Operand::Kind::vector && operand.elements.size() == 1;
}

// A register at least as wide as the type, or as many of them as .v2, .v4, .v8 says.
bool OperandCheck::is_memory_operand(const Operand& operand, Wanted want, bool load) const {
  const auto fits_one = [&](const Operand& one) {
    if (load ? one.kind == Operand::Kind::sink : is_immediate(one, want)) return true;
    return is_register(one, want, true);
  };
  const auto width = static_cast<std::size_t>(instruction_.vector_width());
  if (width * static_cast<std::size_t>(want.bits) > 128) return false;
  if (is_one_in_braces(operand)) return fits_one(operand.elements[0]);
  if (width == 1) return operand.kind != Operand::Kind::sink && fits_one(operand);
  return operand.kind == Operand::Kind::vector && operand.elements.size() == width &&
         std::all_of(operand.elements.begin(), operand.elements.end(), fits_one);
}

bool OperandCheck::is_vector(const Operand& operand, Wanted want, std::size_t count) const {
  return operand.kind == Operand::Kind::vector && operand.elements.size() == count &&
         std::all_of(operand.elements.begin(), operand.elements.end(),
                     [&](const Operand& one) { return is_register(one, want, false); });
}

bool OperandCheck::is_pack(const Operand& operand, Wanted want) const {
  const std::size_t count = operand.elements.size();
  if (operand.kind != Operand::Kind::vector || (count != 2 && count != 4)) return false;
  const int element_bits = want.bits / static_cast<int>(count);
  const Type type = element_bits == 8    ? Type::b8
                    : element_bits == 16 ? Type::b16
                    : element_bits == 32 ? Type::b32
                                         : Type::b64;
  return std::all_of(operand.elements.begin(), operand.elements.end(), [&](const Operand& one) {
    if (one.kind == Operand::Kind::sink) return &operand == instruction_.operands.data();
    if (one.kind == Operand::Kind::special) return bits(type_of(one.special)) == element_bits;
    return is_register(one, {type, element_bits}, false) ||
           (is_immediate(one, {type, element_bits}) && &operand != instruction_.operands.data());
  });
}

bool OperandCheck::is_mov_source(const Operand& operand, Wanted want) const {
  if (operand.kind == Operand::Kind::variable || operand.kind == Operand::Kind::function) return want.bits >= 32;
  if (operand.kind == Operand::Kind::special) {
    // A 16-bit register may take the low half of a 32-bit one, as the oldest PTX did.
    const int has = bits(type_of(operand.special));
    return want.bits == has || (want.bits == 16 && has == 32);
  }
  return is_register(operand, want, false) || is_immediate(operand, want);
}

bool OperandCheck::is_address(const Operand& operand) const {
  if (operand.kind != Operand::Kind::address) return false;
  const Operand& base = operand.elements[0];
  if (base.kind != Operand::Kind::reg) return true;
  const Type type = function_.registers[base.index].type;
  return !is_float(type) && (bits(type) == 32 || bits(type) == 64);
}

bool OperandCheck::is_texture(const Operand& operand, Wanted want) const {
  if (operand.kind != Operand::Kind::texture || operand.elements.size() < 2) return false;
  const auto is_handle = [&](const Operand& one) {
    return one.kind == Operand::Kind::variable || is_register(one, {Type::b64, 64}, false);
  };
  for (std::size_t i = 0; i + 1 < operand.elements.size(); ++i)
    if (!is_handle(operand.elements[i])) return false;
  const Operand& place = operand.elements.back();
  const auto is_coordinate = [&](const Operand& one) {
    return is_register(one, want, false) || is_register(one, {Type::b32, 32}, false) || is_immediate(one, want);
  };
  if (place.kind != Operand::Kind::vector) return is_coordinate(place);
  return std::all_of(place.elements.begin(), place.elements.end(), is_coordinate);
}

bool OperandCheck::fits(const OperandSpec& spec, const Operand& operand) const {
  using Kind = OperandSpec::Kind;
  const Wanted want = wanted(spec);
  switch (spec.kind) {
    case Kind::destination:
    case Kind::reg:
      return is_register(operand, want, false);
    case Kind::destination_or_pair:
      return is_register(operand, want, false) || is_pair(operand, want);
    case Kind::source:
      return is_register(operand, want, false) || is_immediate(operand, want) ||
             (want.type == Type::pred && is_predicate(operand));
    case Kind::integer:
      return operand.kind == Operand::Kind::integer;
    case Kind::predicate:
      return is_predicate(operand);
    case Kind::address:
      return is_address(operand);
    case Kind::mov_source:
      return is_mov_source(operand, want);
    case Kind::load:
      return is_memory_operand(operand, want, true);
    case Kind::store:
      return is_memory_operand(operand, want, false);
    case Kind::convert:
      return is_register(operand, want, true) ||
             (is_immediate(operand, want) && &operand != instruction_.operands.data());
    case Kind::vector:
      return is_vector(operand, want, spec.count);
    case Kind::pack:
      return is_pack(operand, want);
    case Kind::label:
      return operand.kind == Operand::Kind::label;
    case Kind::branch_table:
      return operand.kind == Operand::Kind::branch_targets;
    case Kind::elected:
      return is_pair(operand, want);
    case Kind::destination_or_sink:
      return operand.kind == Operand::Kind::sink || is_register(operand, want, false);
    case Kind::texture:
      return is_texture(operand, want);
  }
  return false;
}

void OperandCheck::settle(const OperandSpec& spec, Operand& operand) const {
  if (is_one_in_braces(operand)) operand = Operand(operand.elements[0]);
  if (operand.kind == Operand::Kind::vector) {
    for (Operand& element : operand.elements) settle(spec, element);
    return;
  }
  const Type type = wanted(spec).type;
  if (operand.kind == Operand::Kind::f64 && type == Type::f32) {
    operand.bits = f32_bits({Literal::Kind::f64, operand.bits});
    operand.kind = Operand::Kind::f32;
  } else if (operand.kind == Operand::Kind::f32 && type == Type::f64) {
    operand.bits = f64_bits({Literal::Kind::f32, operand.bits});
    operand.kind = Operand::Kind::f64;
  }
}

std::string OperandCheck::expected(const OperandSpec& spec) const {
  using Kind = OperandSpec::Kind;
  const Wanted want = wanted(spec);
  const std::string type = spec.wide ? fmt::format("{}-bit", want.bits)
                                     : fmt::format(".{}", want.type == Type::none ? "b32" : name(want.type));
  switch (spec.kind) {
    case Kind::destination:
    case Kind::reg:
      return fmt::format("a {} register", type);
    case Kind::destination_or_pair:
      return fmt::format("a {} register, or one and a predicate", type);
    case Kind::source:
      return fmt::format("a {} register or immediate", type);
    case Kind::integer:
      return "an integer";
    case Kind::destination_or_sink:
      return fmt::format("a {} register or _", type);
    case Kind::texture:
      return "a texture with coordinates";
    case Kind::predicate:
      return "a predicate";
    case Kind::address:
      return "an address in brackets";
    case Kind::mov_source:
      return fmt::format("a {} register, immediate, special register or variable", type);
    case Kind::load:
    case Kind::store: {
      const int width = instruction_.vector_width();
      return width == 1 ? fmt::format("a register for {}", type)
                        : fmt::format("{{…}} of {} registers for {}", width, type);
    }
    case Kind::convert:
      return fmt::format("a register for {}", type);
    case Kind::vector:
      return fmt::format("{{…}} of {} {} register{}", spec.count, type, spec.count == 1 ? "" : "s");
    case Kind::pack:
      return fmt::format("{{…}} of {} bits together", want.bits);
    case Kind::label:
      return "a label";
    case Kind::branch_table:
      return "the name of .branchtargets";
    case Kind::elected:
      return fmt::format("a {} register or '_', '|', and a predicate", type);
  }
  return {};
}

std::string OperandCheck::describe(const Operand& operand) const {
  using Kind = Operand::Kind;
  switch (operand.kind) {
    case Kind::reg: {
      const Register& reg = function_.registers[operand.index];
      return fmt::format("{}{} (.{})", operand.negated ? "!" : "", reg.name, name(reg.type));
    }
    case Kind::integer:
      return fmt::format("the integer {}", static_cast<std::int64_t>(operand.bits));
    case Kind::f32:
    case Kind::f64:
      return "a floating-point number";
    case Kind::special:
      return std::string(name(operand.special));
    case Kind::variable:
      return "a variable";
    case Kind::address: {
      const Operand& base = operand.elements[0];
      return base.kind == Kind::reg ? fmt::format("an address in {}", describe(base)) : "an address";
    }
    case Kind::vector:
      return fmt::format("a vector of {}", operand.elements.size());
    case Kind::label:
      return "a label";
    case Kind::function:
      return "a function";
    case Kind::branch_targets:
    case Kind::call_targets:
    case Kind::prototype:
      return "a table";
    case Kind::arguments:
      return "a list of arguments";
    case Kind::pair:
      return "a pair";
    case Kind::sink:
      return "'_'";
    case Kind::texture:
      return "a texture";
  }
  return {};
}

}  // namespace wm::ptx
