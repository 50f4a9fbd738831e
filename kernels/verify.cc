#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "gpu/small_float.h"
#include "kernels/benchmark.h"

namespace wm::zoo {

namespace {

struct Mismatches {
  std::size_t count = 0;
  std::size_t first = 0;
  std::string got;
  std::string expected;
};

// memcpy, since the contents carry no alignment.
template <typename T>
T element(const std::vector<std::byte>& bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

template <typename T>
bool matches(T got, T expected, const Expectation& e) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(expected)) return std::isnan(got);
    if (got == expected) return true;  // infinities too
    if (std::isinf(expected)) return false;
    const double difference = std::abs(static_cast<double>(got) - static_cast<double>(expected));
    return difference <= e.absolute + e.relative * std::abs(static_cast<double>(expected));
  } else {
    return got == expected;
  }
}

// The number that is compared and printed.
template <typename T>
auto number(T value) {
  if constexpr (std::is_same_v<T, gpu::Half> || std::is_same_v<T, gpu::Bfloat>)
    return gpu::to_double(value);
  else
    return value;
}

template <typename T>
Mismatches compare(const std::vector<std::byte>& contents, const Expectation& e) {
  Mismatches wrong;
  for (std::size_t i = 0; i < e.values.size() / sizeof(T); ++i) {
    const auto got = number(element<T>(contents, i));
    const auto expected = number(element<T>(e.values, i));
    if (matches(got, expected, e)) continue;
    if (wrong.count++ == 0) {
      wrong.first = i;
      wrong.got = fmt::format("{}", got);
      wrong.expected = fmt::format("{}", expected);
    }
  }
  return wrong;
}

std::size_t element_size(Expectation::Element element) {
  switch (element) {
    case Expectation::Element::u8:
      return 1;
    case Expectation::Element::u16:
    case Expectation::Element::f16:
    case Expectation::Element::bf16:
      return 2;
    case Expectation::Element::i32:
    case Expectation::Element::u32:
    case Expectation::Element::f32:
      return 4;
    case Expectation::Element::u64:
    case Expectation::Element::f64:
      return 8;
  }
  return 1;
}

Mismatches compare(const std::vector<std::byte>& contents, const Expectation& e) {
  switch (e.element) {
    case Expectation::Element::u8:
      return compare<std::uint8_t>(contents, e);
    case Expectation::Element::u16:
      return compare<std::uint16_t>(contents, e);
    case Expectation::Element::i32:
      return compare<std::int32_t>(contents, e);
    case Expectation::Element::u32:
      return compare<std::uint32_t>(contents, e);
    case Expectation::Element::u64:
      return compare<std::uint64_t>(contents, e);
    case Expectation::Element::f32:
      return compare<float>(contents, e);
    case Expectation::Element::f64:
      return compare<double>(contents, e);
    case Expectation::Element::f16:
      return compare<gpu::Half>(contents, e);
    case Expectation::Element::bf16:
      return compare<gpu::Bfloat>(contents, e);
  }
  return {};
}

Result<void> verify(const Case& c, const Expectation& e, const Contents& contents) {
  const std::string& name = c.application.buffers[e.buffer.index].name;
  const std::vector<std::byte>& got = contents(e.buffer);
  if (got.size() < e.values.size())
    return Error{fmt::format("buffer '{}' holds {} bytes, {} are expected", name, got.size(), e.values.size())};
  const Mismatches wrong = compare(got, e);
  if (wrong.count == 0) return {};
  return Error{fmt::format("{}[{}] is {}, expected {} ({} of {} elements wrong)", name, wrong.first, wrong.got,
                           wrong.expected, wrong.count, e.values.size() / element_size(e.element))};
}

}  // namespace

Result<void> verify(const Case& c, const Contents& contents) {
  Case late;
  if (c.reference) c.reference(late);
  if (c.expected.empty() && late.expected.empty() && !c.check) return Error{"the benchmark expects nothing"};
  for (const auto* expected : {&c.expected, &std::as_const(late.expected)})
    for (const Expectation& e : *expected)
      if (Result<void> r = verify(c, e, contents); !r) return r;
  return c.check ? c.check(contents) : Result<void>{};
}

}  // namespace wm::zoo
