// The forms of every instruction: the suffixes and types that may follow its name, and the operands they require.
//
// A form is written as the ISA's syntax line is, in two strings; see forms_*.cc for the table itself.
//   name      ".rn|rz" one of these; "?.ftz" optional; "$rnd" a named set, as in ".$rnd" (sets in forms.cc)
//   operands  comma-separated `kind:type`, a `?` before operands that may be omitted at the end
// where `type` is 0, 1, 2 (that type of the instruction's name), w0 (twice as wide as type 0) or a type's name, and
// `kind` is
//   d    destination register
//   t    destination register or register|predicate
//   o    register or sink _, or register|predicate
//   s    register or immediate
//   r    register
//   i    integer immediate
//   p    predicate, perhaps negated
//   a    address in brackets
//   m    source of mov: also names and special registers
//   l    destination of ld: as wide or wider, or a vector as .v2 says
//   k    source of st: as for l
//   c    source or destination of cvt: a register as wide or wider, or an immediate
//   vN   vector of N registers
//   x    vector of mov: {…} that together is as wide as the type
//   L    label
//   B    branch table
//   D    destination register or sink _
//   T    texture with coordinates in brackets
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/opcode.h"
#include "ptx/suffix.h"
#include "ptx/type.h"

namespace wm::ptx {

// A suffix or a type, as one number.
class NamePart {
 public:
  explicit NamePart(Suffix s) : value_(static_cast<std::uint16_t>(s)) {}
  explicit NamePart(Type t) : value_(static_cast<std::uint16_t>(kSuffixCount + static_cast<int>(t))) {}
  [[nodiscard]] bool is_type() const { return value_ >= kSuffixCount; }
  [[nodiscard]] Suffix suffix() const { return static_cast<Suffix>(value_); }
  [[nodiscard]] Type type() const { return static_cast<Type>(value_ - kSuffixCount); }
  [[nodiscard]] std::size_t index() const { return value_; }

 private:
  std::uint16_t value_;
};
inline constexpr std::size_t kNamePartCount = kSuffixCount + kTypeCount;
using NameParts = std::bitset<kNamePartCount>;

// One dotted place of an instruction's name.
struct NamePlace {
  NameParts allowed;
  bool optional = false;
};

struct OperandSpec {
  enum class Kind : std::uint8_t {
    destination,
    destination_or_pair,
    source,
    reg,
    integer,
    predicate,
    address,
    mov_source,
    load,
    store,
    convert,
    vector,
    pack,
    label,
    branch_table,
    elected,
    destination_or_sink,
    texture,
  };
  Kind kind = Kind::source;
  std::uint8_t count = 0;       // number of elements for Kind::vector
  std::int8_t type_index = -1;  // into the instruction's types; -1: `type`
  bool wide = false;            // twice as wide as the type
  bool optional = false;
  Type type = Type::none;
};

struct Form {
  std::vector<NamePlace> name;
  std::vector<OperandSpec> operands;
  std::size_t required = 0;  // operands that are not optional
};

// The forms of `opcode`; empty for call, whose operands are a grammar of their own.
std::span<const Form> forms(Opcode opcode);

// The result of matching `parts` with a form's name: how many of them matched, and what was expected after these.
struct NameMatch {
  bool complete = false;
  std::size_t matched = 0;
  NameParts expected;
  bool may_end = false;  // the name may end after `matched` parts
};
NameMatch match_name(const Form& form, std::span<const NamePart> parts);

// The order in which `parts` fit the form's name when suffixes may stand anywhere; empty where they do not fit. Types
// keep their order among themselves.
std::vector<std::size_t> match_in_any_order(const Form& form, std::span<const NamePart> parts);

// ".rn, .rz or .rm", in the order of the tables.
std::string list_parts(const NameParts& parts);

// The raw table, gathered from forms_*.cc.
struct FormText {
  Opcode opcode;
  std::string_view name;
  std::string_view operands;
};
std::span<const FormText> arithmetic_forms();
std::span<const FormText> logic_forms();
std::span<const FormText> move_forms();
std::span<const FormText> memory_forms();
std::span<const FormText> cooperation_forms();

}  // namespace wm::ptx
