#include "runtime/protocol/program_name.h"

#include <array>
#include <cstring>

namespace wm::runtime {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

struct Character {
  std::size_t bytes = 1;
  bool is_text = false;
};

// Decodes the first character. The shortest form of each is the only valid one, and surrogates are invalid.
Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {1, lead >= 0x20 && lead != 0x7f};
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {};
  std::uint32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::array<std::uint32_t, 5> kLeast{0, 0, 0xa0, 0x800, 0x10000};  // below U+00A0 lie further controls
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[bytes]) return {bytes == 2 ? bytes : 1, false};
  if (is_surrogate || code > 0x10ffff) return {};
  return {bytes, true};
}

}  // namespace

std::string printable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const Character first = first_character(bytes);
    text += first.is_text ? bytes.substr(0, first.bytes) : kReplacement;
    bytes.remove_prefix(first.bytes);
  }
  return text;
}

std::string program_name(const Hello& hello) {
  return printable({hello.name, ::strnlen(hello.name, sizeof hello.name)});
}

}  // namespace wm::runtime
