// Formats the output of a kernel's printf: a format string and its packed arguments into text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace wm::exec {

// Gives `bytes` bytes of the argument buffer at `offset`, or nullptr where it ends before.
using ArgumentBytes = std::function<const std::byte*(std::uint64_t offset, std::uint32_t bytes)>;
// The zero-terminated string at a device address.
using DeviceString = std::function<std::optional<std::string>(std::uint64_t address)>;

struct Printed {
  std::string text;
  int arguments = 0;
  bool ok = true;  // false: an argument lies outside of memory
};

// Conversions: d i u o x X f F e E g G a A c s p %, with flags, width, precision (also *) and the lengths hh h l ll j z
// t. Others are printed as they are written. Integers take 4 bytes (8 with l, ll, j, z, t), floats 8, each aligned to
// itself.
Printed format_print(std::string_view format, const ArgumentBytes& argument, const DeviceString& string);

}  // namespace wm::exec
