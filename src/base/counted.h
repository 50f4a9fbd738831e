// Numbers of things, in text that a person reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wm {

// "1 client", "0 clients", "3 clients": nouns whose plural ends in s.
inline std::string counted(std::uint64_t count, std::string_view noun) {
  std::string text = std::to_string(count).append(" ").append(noun);
  if (count != 1) text += 's';
  return text;
}

}  // namespace wm
