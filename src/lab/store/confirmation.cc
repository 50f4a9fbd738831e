#include "lab/store/confirmation.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <map>

#include "base/json.h"

namespace wm::lab {
namespace {

using Json = nlohmann::ordered_json;

Error bad_value(const char* key, const std::string& expected, const Json* value) {
  return Error{fmt::format("'{}' in confirmed must be {}, {}", key, expected,
                           value == nullptr ? "and is missing" : "not " + value->dump())};
}

const Json* find(const Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() ? nullptr : &*at;
}

bool is_text(const Json* value) { return value != nullptr && value->is_string() && !value->get<std::string>().empty(); }

bool is_date(const Json* value) {
  if (!is_text(value)) return false;
  const std::string pattern = "dddd-dd-dd";
  const auto text = value->get<std::string>();
  return std::equal(text.begin(), text.end(), pattern.begin(), pattern.end(), [](char c, char p) {
    return p == 'd' ? std::isdigit(static_cast<unsigned char>(c)) != 0 : c == p;
  });
}

}  // namespace

Json json_from(const Confirmation& c) {
  return {{"from", c.from}, {"to", c.to}, {"cells", c.cells}, {"of", c.of}, {"date", c.date}};
}

Result<Confirmation> confirmation_from_json(const Json& json) {
  if (!json.is_object()) return Error{"'confirmed' must have objects, not " + json.dump()};
  const Json* from = find(json, "from");
  const Json* to = find(json, "to");
  const Json* cells = find(json, "cells");
  const Json* of = find(json, "of");
  const Json* date = find(json, "date");
  if (!is_text(from)) return bad_value("from", "a code version", from);
  if (!is_text(to) || *to == *from) return bad_value("to", "a code version other than that of 'from'", to);
  if (of == nullptr || !of->is_number_unsigned() || *of == 0) return bad_value("of", "a number from 1", of);
  if (cells == nullptr || !cells->is_number_unsigned() || *cells == 0 || *cells > *of)
    return bad_value("cells", "a number from 1 to that of 'of'", cells);
  if (!is_date(date)) return bad_value("date", "a date such as 2026-01-31", date);
  return Confirmation{*from, *to, *cells, *of, *date};
}

Result<std::vector<Confirmation>> confirmations_from_json(const Json& json) {
  if (!json.is_array()) return Error{"'confirmed' must be a list, not " + json.dump()};
  std::vector<Confirmation> all;
  for (const Json& item : json) {
    auto one = confirmation_from_json(item);
    if (!one) return one.error();
    all.push_back(*std::move(one));
  }
  return all;
}

std::vector<Confirmation> Confirmations::path(const std::string& from, const std::string& to) const {
  if (from == to) return {};
  std::vector<std::string> reached{from};
  std::map<std::string, const Confirmation*> last;  // the record that first led to a version
  for (std::size_t i = 0; i < reached.size() && !last.contains(to); ++i)
    for (const Confirmation& c : records_)
      if (c.from == reached[i] && c.to != from && last.emplace(c.to, &c).second) reached.push_back(c.to);
  std::vector<Confirmation> found;
  if (!last.contains(to)) return found;
  for (std::string at = to; at != from; at = last.at(at)->from) found.push_back(*last.at(at));
  std::reverse(found.begin(), found.end());
  return found;
}

}  // namespace wm::lab
