// Reads a YAML map strictly: every key is read by name, and a key that was not read is an error.
//
//   yaml::Map map(value, "sm");
//   map.required("threads", sm.threads).optional("blocks", sm.blocks);
//   if (auto read = map.finish(); !read) return read.error();
//
// The first mistake is kept and reported by finish(), an unknown key before a missing one, because a misspelt key is
// both: `gpu.yaml:3: unknown key 'treads' in sm (did you mean 'threads'?)`.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "base/yaml.h"

namespace wm::yaml {

// One value as a C++ type, or an error at its place: "must be a whole number from 0 to 255, not 'many'".
// `what` names the value in that message: "'threads' in sm".
Result<void> read(const Value& value, const std::string& what, bool& out);
Result<void> read(const Value& value, const std::string& what, double& out);
Result<void> read(const Value& value, const std::string& what, std::string& out);
Result<void> read(const Value& value, const std::string& what, Bytes& out);
Result<void> read(const Value& value, const std::string& what, Hertz& out);
Result<void> read(const Value& value, const std::string& what, Picoseconds& out);

Result<std::int64_t> read_signed(const Value& value, const std::string& what, std::int64_t low, std::int64_t high);
Result<std::uint64_t> read_unsigned(const Value& value, const std::string& what, std::uint64_t high);

template <std::integral T>
Result<void> read(const Value& value, const std::string& what, T& out) {
  if constexpr (std::signed_integral<T>) {
    const auto number = read_signed(value, what, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
    if (!number) return number.error();
    out = static_cast<T>(*number);
  } else {
    const auto number = read_unsigned(value, what, std::numeric_limits<T>::max());
    if (!number) return number.error();
    out = static_cast<T>(*number);
  }
  return {};
}

template <typename T>
Result<void> read(const Value& value, const std::string& what, std::vector<T>& out) {
  if (value.kind != Value::Kind::list) return Error{what + " must be a list, not " + describe(value), value.place};
  std::vector<T> items(value.items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (auto done = read(value.items[i], "item " + std::to_string(i + 1) + " of " + what, items[i]); !done) return done;
  }
  out = std::move(items);
  return {};
}

class Map {
 public:
  // `name` is what the map describes: "sm". Empty for a file's outermost map.
  Map(const Value& value, std::string name);

  template <typename T>
  Map& required(std::string_view key, T& out) {
    if (const Value* value = take(key)) {
      keep(read(*value, label(key), out));
    } else {
      miss(key);
    }
    return *this;
  }

  template <typename T>
  Map& optional(std::string_view key, T& out) {
    if (const Value* value = take(key)) keep(read(*value, label(key), out));
    return *this;
  }

  // The value of a key that needs a reading of its own, null where it is absent. From here on the key is a known one.
  const Value* take(std::string_view key);

  // Reports that `key` is required and absent.
  void miss(std::string_view key);
  void keep(const Result<void>& outcome);

  [[nodiscard]] std::string label(std::string_view key) const;
  [[nodiscard]] Result<void> finish() const;

 private:
  const Value& value_;
  std::string name_;
  std::vector<std::string> known_;
  std::optional<Error> error_;
};

}  // namespace wm::yaml
