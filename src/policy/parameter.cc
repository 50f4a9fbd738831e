#include "policy/parameter.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

#include "base/nearest.h"
#include "base/number.h"

namespace wm::policy {
namespace {

std::string plain(const Parameter& p, double value) {
  return p.kind == Parameter::Kind::integer ? fmt::format("{}", static_cast<std::int64_t>(value))
                                            : fmt::format("{}", value);
}

template <typename List, typename Name>
std::vector<std::string> names(const List& list, Name name) {
  std::vector<std::string> all;
  for (const auto& item : list) all.emplace_back(item.*name);
  return all;
}

}  // namespace

std::string Parameter::initial_text() const {
  if (kind == Kind::choice) return std::string(options.front().name);
  return kind == Kind::counts ? std::string() : plain(*this, initial);
}

std::string Parameter::range_text() const {
  if (kind == Kind::counts) return "whole numbers, as in 5/3";
  if (kind != Kind::choice) return fmt::format("{} to {}", plain(*this, range.low), plain(*this, range.high));
  std::string all;
  for (const Option& o : options) {
    if (!all.empty()) all += " | ";
    all += o.name;
  }
  return all;
}

Parameter integer(std::string_view name, std::int64_t initial, Range range, std::string_view about,
                  std::string_view section) {
  return {name, Parameter::Kind::integer, about, section, static_cast<double>(initial), range, {}};
}
Parameter cycles(std::string_view name, std::int64_t initial, Range range, std::string_view about,
                 std::string_view section) {
  return integer(name, initial, range, about, section);
}
Parameter number(std::string_view name, double initial, Range range, std::string_view about, std::string_view section) {
  return {name, Parameter::Kind::number, about, section, initial, range, {}};
}
Parameter choice(std::string_view name, std::vector<Option> options, std::string_view about, std::string_view section) {
  return {name, Parameter::Kind::choice, about, section, 0, {}, std::move(options)};
}
Parameter counts(std::string_view name, std::string_view about, std::string_view section) {
  return {name, Parameter::Kind::counts, about, section, 0, {}, {}};
}

Result<Values::Value> Values::read(const Parameter& p, std::string_view text, std::string_view who) {
  Value value{p, p.initial, 0, {}};
  if (p.kind == Parameter::Kind::counts) {
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('/'), rest.size());
      const auto count = parse_integer<std::uint32_t>(rest.substr(0, end));
      if (!count || *count == 0) {
        return Error{fmt::format("{}: {} = '{}' is not a list of {}", who, p.name, text, p.range_text())};
      }
      value.counts.push_back(*count);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return value;
  }
  if (p.kind == Parameter::Kind::choice) {
    const auto at = std::find_if(p.options.begin(), p.options.end(), [&](const Option& o) { return o.name == text; });
    if (at == p.options.end()) {
      return Error{fmt::format("{}: '{}' is not one of {} = {}{}", who, text, p.name, p.range_text(),
                               did_you_mean(text, names(p.options, &Option::name)))};
    }
    value.option = static_cast<std::size_t>(at - p.options.begin());
    return value;
  }
  std::optional<double> given;
  if (p.kind == Parameter::Kind::number) {
    given = parse_double(text);
  } else if (const auto integer = parse_integer<std::int64_t>(text)) {
    given = static_cast<double>(*integer);
  }
  if (!given) {
    return Error{fmt::format("{}: {} = '{}' is not a {}number", who, p.name, text,
                             p.kind == Parameter::Kind::integer ? "whole " : "")};
  }
  // Written so that nan is refused too.
  if (!(*given >= p.range.low && *given <= p.range.high)) {
    return Error{fmt::format("{}: {} = {} is out of its range, {}", who, p.name, text, p.range_text())};
  }
  value.number = *given;
  return value;
}

Result<Values> Values::from(std::span<const Parameter> table, std::span<const Argument> arguments,
                            std::string_view who) {
  Values values;
  for (const Parameter& p : table) values.values_.push_back({p, p.initial, 0, {}});
  std::vector<bool> given(table.size());
  for (const auto& [key, text] : arguments) {
    const auto at = std::find_if(table.begin(), table.end(), [&, &k = key](const Parameter& p) { return p.name == k; });
    if (at == table.end()) {
      if (table.empty()) return Error{fmt::format("{} has no parameters, and so no '{}'", who, key)};
      return Error{
          fmt::format("{}: unknown parameter '{}'{}", who, key, did_you_mean(key, names(table, &Parameter::name)))};
    }
    const auto index = static_cast<std::size_t>(at - table.begin());
    if (given[index]) return Error{fmt::format("{}: parameter '{}' is given twice", who, key)};
    given[index] = true;
    auto value = read(*at, text, who);
    if (!value) return value.error();
    values.values_[index] = *std::move(value);
  }
  return values;
}

const Values::Value& Values::at(std::string_view name, Parameter::Kind kind) const {
  for (const Value& v : values_) {
    if (v.parameter.name == name && v.parameter.kind == kind) return v;
  }
  throw std::logic_error(fmt::format("the policy asks for parameter '{}', which its table does not have so", name));
}

std::int64_t Values::integer(std::string_view name) const {
  return static_cast<std::int64_t>(at(name, Parameter::Kind::integer).number);
}
Cycles Values::cycles(std::string_view name) const { return {static_cast<std::uint64_t>(integer(name))}; }
double Values::number(std::string_view name) const { return at(name, Parameter::Kind::number).number; }
const std::vector<std::uint32_t>& Values::counts(std::string_view name) const {
  return at(name, Parameter::Kind::counts).counts;
}

Cans Values::needs() const {
  Cans needs;
  for (const Value& v : values_) {
    if (v.parameter.kind == Parameter::Kind::choice) needs = needs | v.parameter.options[v.option].needs;
  }
  return needs;
}

std::vector<Argument> Values::all() const {
  std::vector<Argument> all;
  for (const Value& v : values_) {
    std::string text;
    for (const std::uint32_t n : v.counts) text += fmt::format("{}{}", text.empty() ? "" : "/", n);
    if (v.parameter.kind == Parameter::Kind::choice) text = v.parameter.options[v.option].name;
    if (v.parameter.kind == Parameter::Kind::integer || v.parameter.kind == Parameter::Kind::number) {
      text = plain(v.parameter, v.number);
    }
    all.emplace_back(v.parameter.name, std::move(text));
  }
  return all;
}

}  // namespace wm::policy
