// A 128-bit digest of content, equal on every host.
//
// It is not cryptographic. Strings and numbers are framed, so that ("ab", "c") and ("a", "bc") differ.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace wm::lab {

class Digest {
 public:
  Digest& add(std::uint64_t number);
  Digest& add(std::string_view text);
  Digest& add(std::span<const std::byte> bytes);

  // 32 hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  void mix(std::uint64_t word);

  std::uint64_t a_ = 0x243f6a8885a308d3ULL;
  std::uint64_t b_ = 0x13198a2e03707344ULL;
};

}  // namespace wm::lab
