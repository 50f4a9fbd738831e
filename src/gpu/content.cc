#include "gpu/content.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <iterator>
#include <string_view>

#include "base/file.h"
#include "base/random.h"
#include "base/yaml_map.h"
#include "gpu/small_float.h"

namespace wm::gpu {
namespace {

template <typename T>
void store(std::vector<std::byte>& bytes, std::size_t index, T value) {
  std::memcpy(bytes.data() + index * sizeof(T), &value, sizeof(T));
}

// An integer's low bytes.
void store_integer(Element element, std::vector<std::byte>& bytes, std::size_t index, std::uint64_t value) {
  switch (size(element)) {
    case 1:
      return store(bytes, index, static_cast<std::uint8_t>(value));
    case 2:
      return store(bytes, index, static_cast<std::uint16_t>(value));
    case 4:
      return store(bytes, index, static_cast<std::uint32_t>(value));
    default:
      return store(bytes, index, value);
  }
}

void store_float(Element element, std::vector<std::byte>& bytes, std::size_t index, double value) {
  switch (element) {
    case Element::f32:
      return store(bytes, index, static_cast<float>(value));
    case Element::f16:
      return store(bytes, index, to_half(value));
    case Element::bf16:
      return store(bytes, index, to_bfloat(value));
    default:
      return store(bytes, index, value);
  }
}

// A float, or an integer without its fraction.
void store_number(Element element, std::vector<std::byte>& bytes, std::size_t index, double value) {
  if (is_float(element)) {
    store_float(element, bytes, index, value);
  } else {
    const bool negative = value < 0;
    store_integer(
        element, bytes, index,
        negative ? static_cast<std::uint64_t>(static_cast<std::int64_t>(value)) : static_cast<std::uint64_t>(value));
  }
}

using Raw = std::vector<std::byte>;

// YAML's numbers that are none of C++: .nan, and .inf with a sign.
std::string number_of(const std::string& text) {
  static constexpr std::string_view kWords[] = {".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF"};
  const bool has_sign = text.starts_with('-') || text.starts_with('+');
  const std::string_view word = std::string_view(text).substr(has_sign ? 1 : 0);
  if (std::find(std::begin(kWords), std::end(kWords), word) == std::end(kWords)) return text;
  return (text.starts_with('-') ? "-" : "") + std::string(word.substr(1));
}

Result<Raw> read_values(const yaml::Value& value, const std::string& what, Element element, std::size_t count) {
  if (value.kind != yaml::Value::Kind::list) return Error{what + " must be a list of values", value.place};
  if (value.items.size() != count) {
    return Error{fmt::format("{} has {} values, the buffer {} elements", what, value.items.size(), count), value.place};
  }
  Raw bytes;
  bytes.reserve(count * size(element));
  for (const yaml::Value& item : value.items) {
    if (auto done = append(element, number_of(item.text), bytes); !done)
      return Error{what + ": " + done.error().what, item.place};
  }
  return bytes;
}

Result<Raw> read_fill(const yaml::Value& value, const std::string& what, Element element, std::size_t count) {
  Raw one;
  if (auto done = append(element, number_of(value.text), one); !done)
    return Error{what + ": " + done.error().what, value.place};
  Raw bytes(count * one.size());
  for (std::size_t i = 0; i < count; ++i) std::memcpy(bytes.data() + i * one.size(), one.data(), one.size());
  return bytes;
}

// Whether elements can have the value; a mistake is described as in a list of values.
Result<void> check_value(Element element, double value, const std::string& what, const Place& place) {
  const bool is_integer = value == std::trunc(value) && std::fabs(value) < 1e30;
  Raw ignored;
  const auto done =
      append(element, is_integer ? fmt::format("{:.0f}", value + 0.0) : fmt::format("{}", value), ignored);
  return done ? Result<void>{} : Error{what + ": " + done.error().what, place};
}

Result<Raw> read_random(const yaml::Value& value, const std::string& what, Element element, std::size_t count) {
  double low = 0;
  double high = 1;
  std::uint64_t seed = 1;
  yaml::Map map(value, what);
  const bool bounded = map.take("low") != nullptr || map.take("high") != nullptr;
  map.optional("seed", seed);
  if (bounded) map.required("low", low).required("high", high);
  if (auto done = map.finish(); !done) return done.error();
  if (!bounded) return random(element, count, seed);
  if (!(low < high)) return Error{what + ": 'low' must be less than 'high'", value.place};
  // Integers are drawn without their fractions, so that the last one is below 'high'.
  for (const double bound : {low, high}) {
    const double drawn = is_float(element) ? bound : bound == high ? std::ceil(high) - 1 : std::trunc(low);
    if (auto done = check_value(element, drawn, what, value.place); !done) return done.error();
  }
  return random_between(element, count, low, high, seed);
}

Result<Raw> read_iota(const yaml::Value& value, const std::string& what, Element element, std::size_t count) {
  double from = 0;
  double step = 1;
  yaml::Map map(value, what);
  map.optional("from", from).optional("step", step);
  if (auto done = map.finish(); !done) return done.error();
  // All are integers and fit where the first, the last and the step do.
  const double last = from + step * static_cast<double>(count == 0 ? 0 : count - 1);
  for (const double one : {from, last})
    if (auto done = check_value(element, one, what, value.place); !done) return done.error();
  if (!is_float(element) && step != std::trunc(step) && count > 1)
    return Error{fmt::format("{}: 'step' must be a whole number for {}, not {}", what, name(element), step),
                 value.place};
  return iota(element, count, from, step);
}

Result<Raw> read_word(const yaml::Value& value, const std::string& what, Element element, std::size_t count) {
  if (value.text == "zero") return zeros(element, count);
  if (value.text == "iota") return iota(element, count);
  if (value.text == "random") return random(element, count, 1);
  return Error{
      what + " must be zero, iota, random, or a map with fill, values, iota, random or file, not '" + value.text + "'",
      value.place};
}

}  // namespace

Raw zeros(Element element, std::size_t count) { return Raw(count * size(element)); }

Raw iota(Element element, std::size_t count, double from, double step) {
  Raw bytes = zeros(element, count);
  for (std::size_t i = 0; i < count; ++i) store_number(element, bytes, i, from + step * static_cast<double>(i));
  return bytes;
}

Raw random(Element element, std::size_t count, std::uint64_t seed) {
  if (is_float(element)) return random_between(element, count, 0, 1, seed);
  Raw bytes = zeros(element, count);
  Random numbers(seed);
  for (std::size_t i = 0; i < count; ++i) store_integer(element, bytes, i, numbers.next());
  return bytes;
}

Raw random_between(Element element, std::size_t count, double low, double high, std::uint64_t seed) {
  Raw bytes = zeros(element, count);
  Random numbers(seed);
  for (std::size_t i = 0; i < count; ++i) {
    const double value = low + (high - low) * numbers.unit();
    store_number(element, bytes, i, value);
  }
  return bytes;
}

Result<Raw> bytes_of_file(const std::string& path, std::size_t bytes) {
  const auto content = read_file(path, bytes);
  if (!content) return content.error();
  if (content->size() != bytes) {
    return Error{fmt::format("'{}' has {} bytes, the buffer {}", path, content->size(), bytes)};
  }
  Raw result(bytes);
  if (bytes != 0) std::memcpy(result.data(), content->data(), bytes);
  return result;
}

Result<Raw> read_content(const yaml::Value& value, const std::string& what, Element element, std::size_t count,
                         const std::string& folder) {
  if (value.kind == yaml::Value::Kind::scalar) return read_word(value, what, element, count);
  yaml::Map map(value, what);
  const yaml::Value* fill = map.take("fill");
  const yaml::Value* values = map.take("values");
  const yaml::Value* counted = map.take("iota");
  const yaml::Value* drawn = map.take("random");
  const yaml::Value* file = map.take("file");
  if (auto done = map.finish(); !done) return done.error();
  if (value.members.size() != 1) return Error{what + " must have one of fill, values, iota, random, file", value.place};
  if (fill != nullptr) return read_fill(*fill, what, element, count);
  if (values != nullptr) return read_values(*values, what, element, count);
  if (counted != nullptr) return read_iota(*counted, what, element, count);
  if (drawn != nullptr) return read_random(*drawn, what, element, count);
  auto bytes = bytes_of_file((std::filesystem::path(folder) / file->text).string(), count * size(element));
  if (!bytes) return Error{what + ": " + bytes.error().what, file->place};
  return bytes;
}

}  // namespace wm::gpu
