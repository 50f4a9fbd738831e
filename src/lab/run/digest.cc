#include "lab/run/digest.h"

#include <bit>
#include <fmt/format.h>

namespace wm::lab {
namespace {

// The finalizer of splitmix64: every bit of the input reaches every bit of the output.
std::uint64_t scramble(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Eight bytes or fewer as a little-endian number, the same on every host.
std::uint64_t word_of(const std::byte* bytes, std::size_t count) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
  return word;
}

}  // namespace

void Digest::mix(std::uint64_t word) {
  a_ = scramble(a_ ^ word) + 0x9e3779b97f4a7c15ULL;
  b_ = std::rotl(b_, 23) ^ scramble(word + b_);
}

Digest& Digest::add(std::uint64_t number) {
  mix(1);
  mix(number);
  return *this;
}

Digest& Digest::add(std::span<const std::byte> bytes) {
  mix(2);
  mix(bytes.size());
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) mix(word_of(bytes.data() + i, 8));
  if (i < bytes.size()) mix(word_of(bytes.data() + i, bytes.size() - i));
  return *this;
}

Digest& Digest::add(std::string_view text) { return add(std::as_bytes(std::span(text.data(), text.size()))); }

std::string Digest::hex() const {
  return fmt::format("{:016x}{:016x}", scramble(a_ ^ std::rotl(b_, 32)), scramble(b_));
}

}  // namespace wm::lab
