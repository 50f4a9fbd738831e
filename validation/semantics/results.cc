#include "results.h"

#include <charconv>
#include <cstdio>

namespace wm::semantics {

std::uint32_t fingerprint(std::span<const std::uint64_t> outputs) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const std::uint64_t value : outputs)
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ ((value >> (8 * byte)) & 0xffU)) * 0x100000001b3ULL;
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::string key_of(const Form& form) {
  std::string key = form.name + " ";
  for (const char c : form.operands)
    if (c != ' ') key += c;
  for (const Place& place : form.destinations) key += ":" + place.type;
  for (const Place& place : form.sources) key += "<" + place.type;
  return key;
}

std::string line_of(const Form& form, std::span<const std::uint64_t> outputs) {
  std::string line = key_of(form);
  const auto append = [&](std::uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof(text), " %llx", static_cast<unsigned long long>(value));
    line += text;
  };
  if (form.check == Check::approximate) {
    for (const std::uint64_t value : outputs) append(value);
  } else {
    const std::size_t warp = kWarp * form.destinations.size();
    for (std::size_t at = 0; at + warp <= outputs.size(); at += warp) append(fingerprint(outputs.subspan(at, warp)));
  }
  return line + "\n";
}

Line parse_line(std::string_view text) {
  Line line;
  const std::size_t name = text.find(' ');
  const std::size_t key = text.find(' ', name + 1);
  line.key = std::string(text.substr(0, key));
  for (std::size_t at = key; at < text.size();) {
    ++at;
    const std::size_t end = std::min(text.find(' ', at), text.size());
    std::uint64_t value = 0;
    std::from_chars(text.data() + at, text.data() + end, value, 16);
    line.values.push_back(value);
    at = end;
  }
  return line;
}

}  // namespace wm::semantics
