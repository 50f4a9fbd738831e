#include "every_form.h"

#include <fmt/format.h>

#include "ptx/forms.h"

namespace wm::ptx {
namespace {

using Choice = std::vector<int>;  // a place's alternative by index; -1: left out

std::vector<NamePart> alternatives(const NamePlace& place) {
  std::vector<NamePart> parts;
  for (int i = 0; i < kSuffixCount; ++i)
    if (place.allowed.test(static_cast<std::size_t>(i))) parts.emplace_back(static_cast<Suffix>(i));
  for (int i = 0; i < kTypeCount; ++i)
    if (place.allowed.test(static_cast<std::size_t>(kSuffixCount + i))) parts.emplace_back(static_cast<Type>(i));
  return parts;
}

// All optional places left out; then each place goes through its alternatives while the others stay.
std::vector<Choice> choices(const Form& form) {
  Choice base;
  for (const NamePlace& place : form.name) base.push_back(place.optional ? -1 : 0);
  std::vector<Choice> all{base};
  for (std::size_t i = 0; i < form.name.size(); ++i) {
    const auto count = static_cast<int>(alternatives(form.name[i]).size());
    for (int a = base[i] + 1; a < count; ++a) {
      all.push_back(base);
      all.back()[i] = a;
    }
  }
  return all;
}

std::string reg(Type type, int bits_wanted, int number) {
  if (type == Type::pred) return fmt::format("%p{}", number);
  if (bits_wanted == 8 && type == Type::b8) return fmt::format("%b{}", number);
  if (bits_wanted <= 16) return fmt::format("%h{}", number);
  if (type == Type::f32) return fmt::format("%f{}", number);
  if (type == Type::f64) return fmt::format("%fd{}", number);
  if (bits_wanted == 128) return fmt::format("%rq{}", number);
  return bits_wanted == 64 ? fmt::format("%rd{}", number) : fmt::format("%r{}", number);
}

std::string braces(Type type, int bits_wanted, int count, int number) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + reg(type, bits_wanted, number + i);
  return text + "}";
}

std::string operand(const OperandSpec& spec, const std::vector<Type>& types, int vector_width, int number) {
  using Kind = OperandSpec::Kind;
  Type type = spec.type;
  if (spec.type_index >= 0) type = types[static_cast<std::size_t>(spec.type_index)];
  const int width = bits(type) * (spec.wide ? 2 : 1);
  switch (spec.kind) {
    case Kind::destination:
    case Kind::source:
    case Kind::reg:
    case Kind::mov_source:
    case Kind::convert:
      return reg(type, width, number);
    case Kind::destination_or_pair:
    case Kind::elected:
      return fmt::format("{}|%p9", reg(type, width, number));
    case Kind::integer:
      return "16";
    case Kind::predicate:
      return fmt::format("%p{}", number);
    case Kind::address:
      return fmt::format("[%rd{}+16]", number);
    case Kind::load:
    case Kind::store:
      return vector_width == 1 ? reg(type, width, number) : braces(type, width, vector_width, number);
    case Kind::vector:
      return braces(type, width, spec.count, number * 4);
    case Kind::pack:
      return braces(width == 16 ? Type::b8 : Type::b16, width / 2, 2, number);
    case Kind::label:
      return "here";
    case Kind::branch_table:
      return "table";
    case Kind::destination_or_sink:
      return "_";
    case Kind::texture:
      return fmt::format("[%rd{}, {{{}}}]", number, reg(type, width, 1));
  }
  return {};
}

std::string instruction(Opcode opcode, const Form& form, const Choice& choice, std::size_t operands) {
  std::string text(name(opcode));
  std::vector<Type> types;
  int vector_width = 1;
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (choice[i] < 0) continue;
    const NamePart part = alternatives(form.name[i])[static_cast<std::size_t>(choice[i])];
    if (part.is_type()) types.push_back(part.type());
    text += fmt::format(".{}", part.is_type() ? name(part.type()) : name(part.suffix()));
    if (part.is_type()) continue;
    if (part.suffix() == Suffix::v2) vector_width = 2;
    if (part.suffix() == Suffix::v4) vector_width = 4;
    if (part.suffix() == Suffix::v8) vector_width = 8;
  }
  for (std::size_t i = 0; i < operands; ++i) {
    // The only number of lanes with metadata that all sparse products have.
    const bool is_selector = opcode == Opcode::mma && form.operands[i].kind == OperandSpec::Kind::integer;
    text += i == 0 ? " " : ", ";
    text += is_selector ? "0" : operand(form.operands[i], types, vector_width, static_cast<int>(i));
  }
  return text + ";";
}

}  // namespace

std::vector<std::string> every_form(Opcode opcode) {
  std::vector<std::string> all;
  for (const Form& form : forms(opcode)) {
    for (const Choice& choice : choices(form)) all.push_back(instruction(opcode, form, choice, form.operands.size()));
    if (form.required != form.operands.size()) {
      all.push_back(instruction(opcode, form, choices(form).front(), form.required));
    }
  }
  return all;
}

std::string every_form_module(const std::vector<std::string>& instructions, const std::string& target) {
  std::string text = fmt::format(".version 8.7\n.target {}\n.address_size 64\n.entry k()\n{{\n", target);
  text += "  .reg .pred %p<16>;\n  .reg .b8 %b<16>;\n  .reg .b16 %h<16>;\n  .reg .b32 %r<32>;\n  .reg .b64 %rd<16>;\n";
  text += "  .reg .b128 %rq<8>;\n  .reg .f32 %f<32>;\n  .reg .f64 %fd<16>;\n";
  text += "here:\n  table: .branchtargets here;\n";
  for (const std::string& one : instructions) text += fmt::format("  {}\n", one);
  return text + "  ret;\n}\n";
}

}  // namespace wm::ptx
