// A policy's parameters as a table: from it come validation, `--help`, documentation and the axes of a sweep.
//
//   .parameters = {cycles("epoch", 10'000, {100, 10'000'000}, "length of an epoch", "4.1"),
//                  choice("preemption", {{"drain", {Can::drain}}, {"switch", {Can::switch_context}}}, "how …", "3.2")}
//
// The first of a choice's options is its default; an option may add to the capabilities that the policy needs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "policy/can.h"

namespace wm::policy {

struct Option {
  std::string_view name;
  Cans needs = {};
};

struct Range {
  double low = 0;
  double high = 0;
};

struct Parameter {
  enum class Kind { integer, number, choice, counts };

  std::string_view name;
  Kind kind = Kind::integer;
  std::string_view about;
  std::string_view section;  // section of the paper
  double initial = 0;        // integer and number
  Range range;               // both ends belong to it
  std::vector<Option> options;
  // The policy had stored results before it had this parameter: a run with the default keeps the key it had then.
  bool added_later = false;

  [[nodiscard]] std::string initial_text() const;
  // "100 to 10000000", "drain | switch"
  [[nodiscard]] std::string range_text() const;
};

Parameter integer(std::string_view name, std::int64_t initial, Range range, std::string_view about,
                  std::string_view section);
Parameter cycles(std::string_view name, std::int64_t initial, Range range, std::string_view about,
                 std::string_view section);
Parameter number(std::string_view name, double initial, Range range, std::string_view about, std::string_view section);
Parameter choice(std::string_view name, std::vector<Option> options, std::string_view about, std::string_view section);
// Whole numbers from 1 on, as in 5/3; none by default.
Parameter counts(std::string_view name, std::string_view about, std::string_view section);

// Marks a parameter of a policy whose results are stored without it.
inline Parameter added_later(Parameter parameter) {
  parameter.added_later = true;
  return parameter;
}

using Argument = std::pair<std::string, std::string>;

// A policy's parameters with their values: the user's, or the defaults. Asking for a name
// that is not in the table, or as another kind, is a mistake in the policy and throws std::logic_error.
class Values {
 public:
  // `who` begins the messages: "policy 'quota': unknown parameter 'epok' (did you mean 'epoch'?)".
  static Result<Values> from(std::span<const Parameter> table, std::span<const Argument> arguments,
                             std::string_view who);

  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] Cycles cycles(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] const std::vector<std::uint32_t>& counts(std::string_view name) const;
  // The chosen option's place, as an enumeration that lists the options in the same order.
  template <typename Enum>
  [[nodiscard]] Enum choice(std::string_view name) const {
    return static_cast<Enum>(option(name));
  }

  // Capabilities that the chosen options add to the policy's needs.
  [[nodiscard]] Cans needs() const;
  // Every parameter with its value as text, in the table's order.
  [[nodiscard]] std::vector<Argument> all() const;

 private:
  struct Value {
    Parameter parameter;
    double number = 0;
    std::size_t option = 0;
    std::vector<std::uint32_t> counts;
  };
  [[nodiscard]] static Result<Value> read(const Parameter& parameter, std::string_view text, std::string_view who);
  [[nodiscard]] const Value& at(std::string_view name, Parameter::Kind kind) const;
  [[nodiscard]] std::size_t option(std::string_view name) const { return at(name, Parameter::Kind::choice).option; }

  std::vector<Value> values_;
};

}  // namespace wm::policy
