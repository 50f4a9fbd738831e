#include "base/yaml_map.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/nearest.h"
#include "base/number.h"

namespace wm::yaml {
namespace {

bool plain(const Value& value) { return value.kind == Value::Kind::scalar && !value.quoted; }

Error wrong(const Value& value, const std::string& what, const std::string& wanted) {
  return Error{what + " must be " + wanted + ", not " + describe(value), value.place};
}

template <typename Q>
Result<void> read_quantity(const Value& value, const std::string& what, const Result<Q>& parsed, Q& out) {
  if (value.kind != Value::Kind::scalar) return wrong(value, what, "a quantity");
  if (!parsed) return Error{what + ": " + parsed.error().what, value.place};
  out = *parsed;
  return {};
}

}  // namespace

Result<void> read(const Value& value, const std::string& what, bool& out) {
  if (!plain(value) || (value.text != "true" && value.text != "false")) return wrong(value, what, "true or false");
  out = value.text == "true";
  return {};
}

Result<void> read(const Value& value, const std::string& what, double& out) {
  const auto number = plain(value) ? parse_double(value.text) : std::nullopt;
  if (!number || !std::isfinite(*number)) return wrong(value, what, "a number");
  out = *number;
  return {};
}

Result<void> read(const Value& value, const std::string& what, std::string& out) {
  if (value.kind != Value::Kind::scalar) return wrong(value, what, "text");
  out = value.text;
  return {};
}

Result<void> read(const Value& value, const std::string& what, Bytes& out) {
  return read_quantity(value, what, parse_bytes(value.text), out);
}
Result<void> read(const Value& value, const std::string& what, Hertz& out) {
  return read_quantity(value, what, parse_hertz(value.text), out);
}
Result<void> read(const Value& value, const std::string& what, Picoseconds& out) {
  return read_quantity(value, what, parse_picoseconds(value.text), out);
}

Result<std::int64_t> read_signed(const Value& value, const std::string& what, std::int64_t low, std::int64_t high) {
  const auto number = plain(value) ? parse_integer<std::int64_t>(value.text) : std::nullopt;
  if (number && *number >= low && *number <= high) return *number;
  return wrong(value, what, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
}

Result<std::uint64_t> read_unsigned(const Value& value, const std::string& what, std::uint64_t high) {
  const auto number = plain(value) ? parse_integer<std::uint64_t>(value.text) : std::nullopt;
  if (number && *number <= high) return *number;
  return wrong(value, what, "a whole number from 0 to " + std::to_string(high));
}

Map::Map(const Value& value, std::string name) : value_(value), name_(std::move(name)) {
  if (value.kind == Value::Kind::map) return;
  error_ =
      Error{(name_.empty() ? std::string("the file") : name_) + " must be a map, not " + describe(value), value.place};
}

const Value* Map::take(std::string_view key) {
  known_.emplace_back(key);
  const auto found = std::find_if(value_.members.begin(), value_.members.end(),
                                  [key](const Member& member) { return member.key == key; });
  return found == value_.members.end() ? nullptr : &found->value;
}

void Map::miss(std::string_view key) {
  const std::string where = name_.empty() ? "" : " in " + name_;
  keep(Error{"missing key '" + std::string(key) + "'" + where, value_.place});
}

void Map::keep(const Result<void>& outcome) {
  if (!outcome && !error_) error_ = outcome.error();
}

std::string Map::label(std::string_view key) const {
  return "'" + std::string(key) + "'" + (name_.empty() ? "" : " in " + name_);
}

Result<void> Map::finish() const {
  for (const Member& member : value_.members) {
    if (std::find(known_.begin(), known_.end(), member.key) != known_.end()) continue;
    return Error{"unknown key " + label(member.key) + did_you_mean(member.key, known_), member.place};
  }
  if (error_) return *error_;
  return {};
}

}  // namespace wm::yaml
