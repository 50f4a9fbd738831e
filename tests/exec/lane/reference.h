// A second implementation of PTX instructions, independent of the executor: integers a bit at a
// time or in 128 bits, floats with MPFR.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "validation/semantics/forms.h"
#include "validation/semantics/inputs.h"

namespace wm::exec::test {

using semantics::Element;
using semantics::Form;

// An instruction's name as words: "setp.lt.and.f32" is the opcode "setp", the words {lt, and} and the types {f32}.
struct Name {
  std::string opcode;
  std::vector<std::string> words;
  std::vector<std::string> types;

  explicit Name(const std::string& text);
  [[nodiscard]] bool has(const std::string& word) const;
  [[nodiscard]] const std::string& type(std::size_t index = 0) const;
};

using Outputs = std::vector<std::uint64_t>;

// f16x2 and its like: two values in one register.
inline bool is_pair(const std::string& type) { return type.ends_with("x2"); }

// The outputs of one element; nothing when the form is of another family.
std::optional<Outputs> integer_reference(const Form& form, const Name& name, const Element& in);
std::optional<Outputs> bit_reference(const Form& form, const Name& name, const Element& in);
std::optional<Outputs> compare_reference(const Form& form, const Name& name, const Element& in);
std::optional<Outputs> float_reference(const Form& form, const Name& name, const Element& in);
std::optional<Outputs> convert_reference(const Form& form, const Name& name, const Element& in);

// Asks them in turn.
std::optional<Outputs> reference(const Form& form, const Name& name, const Element& in);

// A binary floating-point format: stored fraction bits, exponent bits, width of its register.
struct Format {
  int fraction = 0;
  int exponent = 0;
  int width = 0;
  std::uint64_t nan = 0;  // bits of the NaN that arithmetic produces

  [[nodiscard]] std::uint64_t sign_bit() const { return std::uint64_t{1} << (width - 1); }
  [[nodiscard]] int bias() const { return (1 << (exponent - 1)) - 1; }
  // The fields stand at the top of the register: tf32 leaves bits unused below.
  [[nodiscard]] int unused() const { return width - 1 - exponent - fraction; }
};
// The format of "f16", "bf16", "f16x2" (of one half), "tf32", "f32", "f64", "e4m3", "e5m2".
Format format_of(const std::string& type);
bool is_nan(const Format& format, std::uint64_t bits);
bool is_infinite(const Format& format, std::uint64_t bits);
bool is_subnormal(const Format& format, std::uint64_t bits);
double decode(const Format& format, std::uint64_t bits);         // exact
std::uint64_t encode(const Format& format, double exact_value);  // for a value that the format holds

// Bits of a type, whether it is signed, and its values as numbers.
__extension__ using Int = __int128;
int width_of(const std::string& type);
bool is_signed(const std::string& type);
Int value_of(const std::string& type, std::uint64_t bits);
std::uint64_t wrapped(Int value, int width);
Int lowest(const std::string& type);
Int highest(const std::string& type);

}  // namespace wm::exec::test
