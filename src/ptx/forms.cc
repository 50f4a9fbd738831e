#include "ptx/forms.h"

#include <array>
#include <optional>
#include <stdexcept>
#include <utility>

namespace wm::ptx {
namespace {

struct NamedSet {
  std::string_view name;
  std::string_view members;
};
// Sets the table's lines name with a dollar sign.
constexpr std::array kSets = {
    NamedSet{"rnd", "rn|rz|rm|rp"},
    NamedSet{"irnd", "rni|rzi|rmi|rpi"},
    NamedSet{"signed", "s16|s32|s64"},
    NamedSet{"unsigned", "u16|u32|u64"},
    NamedSet{"int", "u16|u32|u64|s16|s32|s64"},
    NamedSet{"anyint", "u8|u16|u32|u64|s8|s16|s32|s64"},
    NamedSet{"carry", "u32|s32|u64|s64"},
    NamedSet{"bits", "b16|b32|b64"},
    NamedSet{"word", "b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64"},
    NamedSet{"half", "f16|f16x2"},
    NamedSet{"bhalf", "bf16|bf16x2"},
    NamedSet{"fp8", "e4m3x2|e5m2x2"},
    NamedSet{"intcmp", "eq|ne|lt|le|gt|ge"},
    NamedSet{"unsignedcmp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"},
    NamedSet{"floatcmp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    NamedSet{"bool", "and|or|xor"},
    NamedSet{"memory", "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"},
    NamedSet{"space", "global|shared|shared::cta|shared::cluster|local|param|param::entry|param::func|const"},
    NamedSet{"storespace", "global|shared|shared::cta|shared::cluster|local|param|param::func"},
    NamedSet{"shared", "shared|shared::cta"},
    NamedSet{"window", "global|shared|shared::cta|shared::cluster|local|const|param|param::entry"},
    NamedSet{"strongspace", "global|shared|shared::cta|shared::cluster"},
    NamedSet{"scope", "cta|cluster|gpu|sys"},
    NamedSet{"order", "relaxed|acquire|release|acq_rel"},
    NamedSet{"loadcop", "ca|cg|cs|lu|cv"},
    NamedSet{"storecop", "wb|cg|cs|wt"},
    NamedSet{"L1", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    NamedSet{"policy", "L2::evict_normal|L2::evict_first|L2::evict_last|L2::evict_unchanged"},
    NamedSet{"fetch", "L2::64B|L2::128B|L2::256B"},
};

// A mistake in the table is a bug of warpmux, not of the input; the tests read the complete table once.
[[noreturn]] void broken(std::string_view what) {
  throw std::logic_error("the table of instruction forms names the unknown '" + std::string(what) + "'");
}

NamePart part_named(std::string_view text) {
  if (const auto suffix = suffix_named(text)) return NamePart(*suffix);
  const auto type = type_named(text);
  if (!type) broken(text);
  return NamePart(*type);
}

// Calls `visit` with the pieces of `text` between `separator`s.
template <typename Visitor>
void split(std::string_view text, char separator, Visitor&& visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

NameParts alternatives(std::string_view text) {
  NameParts parts;
  split(text, '|', [&](std::string_view member) {
    if (!member.starts_with('$')) {
      parts.set(part_named(member).index());
      return;
    }
    bool found = false;
    for (const NamedSet& set : kSets) {
      if (set.name != member.substr(1)) continue;
      parts |= alternatives(set.members);
      found = true;
    }
    if (!found) broken(member);
  });
  return parts;
}

// ".wide.$int", "?.ftz.f32": a dot begins a place, a question mark before it makes it optional.
std::vector<NamePlace> parse_name(std::string_view text) {
  std::vector<NamePlace> places;
  while (!text.empty()) {
    NamePlace place;
    place.optional = text.starts_with('?');
    text.remove_prefix(place.optional ? 2 : 1);
    const std::size_t end = std::min(text.find_first_of(".?"), text.size());
    place.allowed = alternatives(text.substr(0, end));
    places.push_back(place);
    text.remove_prefix(end);
  }
  return places;
}

OperandSpec::Kind kind_of(char letter) {
  using Kind = OperandSpec::Kind;
  switch (letter) {
    case 'd':
      return Kind::destination;
    case 't':
      return Kind::destination_or_pair;
    case 's':
      return Kind::source;
    case 'r':
      return Kind::reg;
    case 'i':
      return Kind::integer;
    case 'p':
      return Kind::predicate;
    case 'a':
      return Kind::address;
    case 'm':
      return Kind::mov_source;
    case 'l':
      return Kind::load;
    case 'k':
      return Kind::store;
    case 'c':
      return Kind::convert;
    case 'v':
      return Kind::vector;
    case 'x':
      return Kind::pack;
    case 'L':
      return Kind::label;
    case 'B':
      return Kind::branch_table;
    case 'o':
      return Kind::elected;
    case 'D':
      return Kind::destination_or_sink;
    case 'T':
      return Kind::texture;
    default:
      break;
  }
  broken(std::string_view(&letter, 1));
}

OperandSpec parse_operand(std::string_view text) {
  OperandSpec spec;
  while (text.starts_with(' ')) text.remove_prefix(1);
  spec.optional = text.starts_with('?');
  if (spec.optional) text.remove_prefix(1);
  spec.kind = kind_of(text[0]);
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (spec.kind == OperandSpec::Kind::vector) spec.count = static_cast<std::uint8_t>(text[1] - '0');
  text.remove_prefix(std::min(colon + 1, text.size()));
  if (text.starts_with('w')) {
    spec.wide = true;
    text.remove_prefix(1);
  }
  if (text.empty()) return spec;
  if (text[0] >= '0' && text[0] <= '9') {
    spec.type_index = static_cast<std::int8_t>(text[0] - '0');
  } else {
    const auto type = type_named(text);
    if (!type) broken(text);
    spec.type = *type;
  }
  return spec;
}

Form parse_form(const FormText& text) {
  Form form;
  form.name = parse_name(text.name);
  split(text.operands, ',', [&](std::string_view operand) { form.operands.push_back(parse_operand(operand)); });
  for (const OperandSpec& spec : form.operands) form.required += spec.optional ? 0 : 1;
  return form;
}

using Table = std::array<std::vector<Form>, kOpcodeCount>;

Table make_table() {
  Table table;
  for (const auto& group : {arithmetic_forms(), logic_forms(), move_forms(), memory_forms(), cooperation_forms()})
    for (const FormText& text : group) table[static_cast<std::size_t>(text.opcode)].push_back(parse_form(text));
  return table;
}

}  // namespace

std::span<const Form> forms(Opcode opcode) {
  static const Table table = make_table();
  return table[static_cast<std::size_t>(opcode)];
}

NameMatch match_name(const Form& form, std::span<const NamePart> parts) {
  NameMatch match;
  std::size_t place = 0;
  for (const NamePart part : parts) {
    NameParts expected;
    while (place < form.name.size() && !form.name[place].allowed.test(part.index())) {
      expected |= form.name[place].allowed;
      if (!form.name[place].optional) break;
      ++place;
    }
    if (place == form.name.size() || !form.name[place].allowed.test(part.index())) {
      match.expected = expected;
      match.may_end = place == form.name.size();
      return match;
    }
    ++place;
    ++match.matched;
  }
  while (place < form.name.size() && form.name[place].optional) match.expected |= form.name[place++].allowed;
  match.complete = match.may_end = place == form.name.size();
  if (!match.complete) match.expected |= form.name[place].allowed;
  return match;
}

std::vector<std::size_t> match_in_any_order(const Form& form, std::span<const NamePart> parts) {
  constexpr std::size_t kFree = SIZE_MAX;
  std::vector<std::size_t> part_at(form.name.size(), kFree);
  std::size_t last_type = 0;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::size_t place = parts[i].is_type() ? last_type : 0;
    while (place < form.name.size() && (part_at[place] != kFree || !form.name[place].allowed.test(parts[i].index()))) {
      ++place;
    }
    if (place == form.name.size()) return {};
    part_at[place] = i;
    if (parts[i].is_type()) last_type = place + 1;
  }
  std::vector<std::size_t> order;
  for (std::size_t place = 0; place < form.name.size(); ++place) {
    if (part_at[place] != kFree) order.push_back(part_at[place]);
    if (part_at[place] == kFree && !form.name[place].optional) return {};
  }
  return order;
}

std::string list_parts(const NameParts& parts) {
  std::string text;
  std::size_t left = parts.count();
  for (std::size_t i = 0; i < kNamePartCount; ++i) {
    if (!parts.test(i)) continue;
    --left;
    text += '.';
    const bool type = i >= static_cast<std::size_t>(kSuffixCount);
    text += type ? name(static_cast<Type>(i - kSuffixCount)) : name(static_cast<Suffix>(i));
    if (left > 1) text += ", ";
    if (left == 1) text += " or ";
  }
  return text;
}

}  // namespace wm::ptx
