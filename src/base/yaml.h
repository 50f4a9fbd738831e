// YAML as a plain tree with the position of every value. yaml_map.h interprets it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wm::yaml {

struct Member;

struct Value {
  enum class Kind { null, scalar, list, map };
  Kind kind = Kind::null;
  std::string text;             // text of a scalar
  bool quoted = false;          // a quoted scalar is text, never a number
  std::vector<Value> items;     // items of a list
  std::vector<Member> members;  // members of a map, in the order written
  Place place;
};

struct Member {
  std::string key;
  Place place;
  Value value;
};

// "a number", "a list": how messages call it.
std::string describe(const Value& value);

// One document. A key given twice, a syntax error, more than one document: an error with its line.
Result<Value> load(std::string_view text, const std::string& file);
Result<Value> load_file(const std::string& path);

}  // namespace wm::yaml
