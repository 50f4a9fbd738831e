#include "base/yaml.h"

#include <set>
#include <yaml-cpp/yaml.h>

#include "base/file.h"

namespace wm::yaml {
namespace {

// Aliases can make a small text a huge or endless tree; these bounds are far above any configuration file of warpmux.
constexpr int kDeepest = 64;
constexpr std::size_t kMaxValues = 1'000'000;

class Converter {
 public:
  explicit Converter(std::string file) : file_(std::move(file)) {}

  Result<Value> convert(const YAML::Node& node, int depth) {
    const Place place = at(node.Mark());
    if (depth > kDeepest) return Error{"nested too deeply", place};
    if (++values_ > kMaxValues) return Error{"too many values", place};
    if (node.IsScalar()) {
      // yaml-cpp tags plain scalars "?" and quoted ones "!".
      return Value{Value::Kind::scalar, node.Scalar(), node.Tag() == "!", {}, {}, place};
    }
    if (node.IsSequence()) return list(node, place, depth);
    if (node.IsMap()) return map(node, place, depth);
    Value null;
    null.place = place;
    return null;
  }

 private:
  // Only the line is reported: it is enough to find a key.
  [[nodiscard]] Place at(const YAML::Mark& mark) const {
    if (mark.is_null()) return {file_, 0, 0};
    return {file_, static_cast<std::uint32_t>(mark.line + 1), 0};
  }

  Result<Value> list(const YAML::Node& node, const Place& place, int depth) {
    Value value{Value::Kind::list, {}, false, {}, {}, place};
    for (const YAML::Node& item : node) {
      auto converted = convert(item, depth + 1);
      if (!converted) return converted;
      value.items.push_back(*std::move(converted));
    }
    return value;
  }

  Result<Value> map(const YAML::Node& node, const Place& place, int depth) {
    Value value{Value::Kind::map, {}, false, {}, {}, place};
    std::set<std::string> seen;
    for (const auto& member : node) {
      const Place key_place = at(member.first.Mark());
      if (!member.first.IsScalar()) return Error{"a key must be a word", key_place};
      const std::string& key = member.first.Scalar();
      if (!seen.insert(key).second) return Error{"key '" + key + "' is given twice", key_place};
      auto converted = convert(member.second, depth + 1);
      if (!converted) return converted;
      if (converted->place.line == 0) converted->place = key_place;
      value.members.push_back({key, key_place, *std::move(converted)});
    }
    return value;
  }

  std::string file_;
  std::size_t values_ = 0;
};

}  // namespace

std::string describe(const Value& value) {
  switch (value.kind) {
    case Value::Kind::null:
      return "nothing";
    case Value::Kind::scalar:
      return "'" + value.text + "'";
    case Value::Kind::list:
      return "a list";
    case Value::Kind::map:
      return "a map";
  }
  return {};
}

Result<Value> load(std::string_view text, const std::string& file) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty()) return Error{"the file is empty", {file, 0, 0}};
    if (documents.size() > 1) return Error{"more than one document", {file, 0, 0}};
    return Converter(file).convert(documents.front(), 0);
  } catch (const YAML::Exception& error) {
    Place place{file, 0, 0};
    if (!error.mark.is_null()) {
      place.line = static_cast<std::uint32_t>(error.mark.line + 1);
      place.column = static_cast<std::uint32_t>(error.mark.column + 1);
    }
    return Error{error.msg, place};
  }
}

Result<Value> load_file(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  return load(*text, path);
}

}  // namespace wm::yaml
