#include "runtime/sandbox/comparison_inputs.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

namespace wm::runtime::sandbox {
namespace {

std::uint64_t mixed(std::uint64_t x) {  // splitmix64
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

template <typename T>
void store(std::span<std::byte> bytes, std::uint64_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

void store_fraction(const ComparedBuffer& buffer, InputSet set, std::span<std::byte> bytes, std::uint64_t at,
                    std::uint64_t random) {
  // Half-precision numbers between 0.5 and 1.
  if (buffer.width != 4 && buffer.width != 8)
    return store(bytes, at, static_cast<std::uint16_t>(0x3800 + random % 1024));
  const double scale = set == InputSet::small ? 1 : static_cast<double>(1U << (random >> 32) % 6);
  const double number = scale * (0.5 + static_cast<double>(random % 1024) / 1024);
  if (buffer.width == 8) return store(bytes, at, number);
  store(bytes, at, static_cast<float>(number));
}

std::uint64_t integer(const ComparedBuffer& buffer, InputSet set, std::uint64_t bound, std::uint64_t random) {
  const std::uint64_t bits = std::uint64_t{8} * buffer.width;
  if (set == InputSet::small) return random % 4;
  if (set == InputSet::elements) return random % bound;
  return random >> (64 - bits) >> random % bits;  // as many of each magnitude
}

void store_number(const ComparedBuffer& buffer, InputSet set, std::uint64_t bound, std::span<std::byte> bytes,
                  std::uint64_t at, std::uint64_t random) {
  if (buffer.floating) return store_fraction(buffer, set, bytes, at, random);
  const std::uint64_t number = integer(buffer, set, bound, random);
  std::memcpy(bytes.data() + at, &number, buffer.width);  // little-endian, as every host of the runtime
}

template <typename T>
bool are_near(const std::byte* a, const std::byte* b) {
  T x{}, y{};
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  if (std::isnan(x) && std::isnan(y)) return true;
  return std::fabs(x - y) <= std::max(std::fabs(x), std::fabs(y)) / 1000;
}

// A few units in the last place apart.
bool are_near_halves(const std::byte* a, const std::byte* b) {
  std::uint16_t x = 0, y = 0;
  std::memcpy(&x, a, sizeof x);
  std::memcpy(&y, b, sizeof y);
  return std::abs(int{x} - int{y}) <= 4;
}

}  // namespace

std::vector<ComparedBuffer> buffers_of(const Comparison& comparison) {
  std::vector<ComparedBuffer> buffers;
  std::uint64_t at = 0;
  for (const ComparedArgument& a : comparison.arguments) {
    if (a.kind != ComparedArgument::Kind::buffer) continue;
    const bool known =
        std::any_of(buffers.begin(), buffers.end(), [&](const ComparedBuffer& b) { return b.number == a.buffer; });
    if (known) continue;
    const std::uint32_t width = a.width == 1 || a.width == 2 || a.width == 8 ? a.width : 4;
    buffers.push_back({a.buffer, a.size, std::min(a.size, kComparedBytes), at, a.floating, width});
    at += (buffers.back().compared + 63) / 64 * 64;
  }
  return buffers;
}

std::uint64_t element_bound(std::span<const ComparedBuffer> buffers) {
  constexpr std::uint64_t kSeveral = 8;
  std::uint64_t bound = ~std::uint64_t{0};
  for (const ComparedBuffer& b : buffers)
    if (b.size / b.width >= kSeveral) bound = std::min(bound, b.size / b.width);
  return bound == ~std::uint64_t{0} ? kSeveral : bound;
}

void fill(const ComparedBuffer& buffer, InputSet set, std::uint64_t bound, std::span<std::byte> bytes) {
  std::fill(bytes.begin(), bytes.end(), std::byte{});
  for (std::uint64_t at = 0; at + buffer.width <= bytes.size(); at += buffer.width)
    store_number(buffer, set, bound, bytes, at, mixed(std::uint64_t{buffer.number} << 40 | at));
}

std::optional<std::string> difference(const ComparedBuffer& buffer, std::span<const std::byte> expected,
                                      std::span<const std::byte> got) {
  if (std::memcmp(expected.data(), got.data(), expected.size()) == 0) return std::nullopt;
  for (std::uint64_t at = 0; at < expected.size(); at += buffer.width) {
    const std::uint64_t size = std::min<std::uint64_t>(buffer.width, expected.size() - at);
    const std::byte *a = expected.data() + at, *b = got.data() + at;
    if (std::memcmp(a, b, size) == 0) continue;
    if (buffer.floating && size == 4 && are_near<float>(a, b)) continue;
    if (buffer.floating && size == 8 && are_near<double>(a, b)) continue;
    if (buffer.floating && size == 2 && are_near_halves(a, b)) continue;
    return fmt::format("byte {}", at);
  }
  return std::nullopt;
}

}  // namespace wm::runtime::sandbox
