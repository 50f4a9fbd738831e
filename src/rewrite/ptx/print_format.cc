#include "rewrite/ptx/print_format.h"

#include <algorithm>
#include <array>

namespace wm::rewrite {
namespace {

using ArgumentKind = PrintedArgument::Kind;

constexpr std::string_view kFlags = "-+ #0", kDigits = "0123456789";
constexpr std::array<std::string_view, 5> kVectorSizes = {"2", "3", "4", "8", "16"};

struct Conversion {
  std::string_view flags_width_precision;
  std::uint32_t stars = 0;     // widths and precisions that are arguments
  std::uint32_t elements = 0;  // 0: not a vector
  std::string_view length;     // hh, h, hl, l, or nothing
  char type = 0;
};

class FormatReader {
 public:
  explicit FormatReader(std::string_view format) : format_(format) {}

  [[nodiscard]] bool at_end() const { return at_ == format_.size(); }
  // Up to the next '%'.
  std::string_view text() {
    return take_while([](char c) { return c != '%'; });
  }

  // After text(): from a '%' to the type of the conversion, which is 0 at the end of the format.
  Conversion conversion() {
    Conversion c;
    const std::size_t first = ++at_;
    take_any(kFlags);
    c.stars += number();
    if (take('.')) c.stars += number();
    c.flags_width_precision = format_.substr(first, at_ - first);
    if (take('v')) {
      const std::string_view size = take_any(kDigits);
      if (std::find(kVectorSizes.begin(), kVectorSizes.end(), size) == kVectorSizes.end()) return c;
      c.elements = static_cast<std::uint32_t>(std::stoul(std::string(size)));
    }
    c.length = take_any("hl");
    if (!at_end()) c.type = format_[at_++];
    return c;
  }

 private:
  template <typename Wanted>
  std::string_view take_while(Wanted wanted) {
    const std::size_t first = at_;
    while (!at_end() && wanted(format_[at_])) ++at_;
    return format_.substr(first, at_ - first);
  }
  std::string_view take_any(std::string_view of) {
    return take_while([of](char c) { return of.find(c) != std::string_view::npos; });
  }
  bool take(char c) {
    if (at_end() || format_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::uint32_t number() {
    if (take('*')) return 1;
    take_any(kDigits);
    return 0;
  }

  std::string_view format_;
  std::size_t at_ = 0;
};

bool is_one_of(char c, std::string_view of) { return c != 0 && of.find(c) != std::string_view::npos; }

std::optional<std::uint32_t> element_bytes(std::string_view length, ArgumentKind kind) {
  if (length == "hh" && kind != ArgumentKind::floating) return 1;
  if (length == "h") return 2;
  if (length.empty() || length == "hl") return 4;
  if (length == "l") return 8;
  return std::nullopt;
}

std::optional<PrintedArgument> argument_of(const Conversion& c) {
  PrintedArgument argument;
  argument.is_vector = c.elements != 0;
  argument.count = std::max(c.elements, 1U);
  if (is_one_of(c.type, "di")) {
    argument.kind = ArgumentKind::is_signed;
  } else if (is_one_of(c.type, "fFeEgGaA")) {
    argument.kind = ArgumentKind::floating;
  } else if (!is_one_of(c.type, argument.is_vector ? "ouxX" : "ouxXcsp")) {
    return std::nullopt;
  }
  if (argument.is_vector) {
    const auto bytes = element_bytes(c.length, argument.kind);
    if (!bytes) return std::nullopt;
    argument.bytes = argument.stored_bytes = *bytes;
  } else {
    const bool is_known = c.length.empty() || c.length == "hh" || c.length == "h" || c.length == "l";
    if (!is_known) return std::nullopt;
    const bool wide = argument.kind == ArgumentKind::floating || is_one_of(c.type, "sp") || c.length == "l";
    argument.stored_bytes = wide ? 8 : 4;
    const bool narrow = !wide && is_one_of(c.type, "diouxX") && !c.length.empty();
    argument.bytes = !narrow ? argument.stored_bytes : c.length == "hh" ? 1 : 2;
  }
  return argument;
}

// The elements have the width of their arguments in C, of which l is the only other one than int.
std::string text_of(const Conversion& c, const PrintedArgument& argument) {
  std::string one = "%" + std::string(c.flags_width_precision);
  if (argument.kind != ArgumentKind::floating && c.length == "l") one += 'l';
  one += c.type;
  std::string all = one;
  for (std::uint32_t i = 1; i < argument.count; ++i) all += "," + one;
  return all;
}

}  // namespace

bool needs_other_format(std::string_view format) {
  FormatReader reader(format);
  for (reader.text(); !reader.at_end(); reader.text()) {
    const Conversion c = reader.conversion();
    if (c.elements != 0 || c.length == "hh") return true;
  }
  return false;
}

std::optional<PlainFormat> plain_format(std::string_view format) {
  PlainFormat result;
  FormatReader reader(format);
  for (result.text = reader.text(); !reader.at_end(); result.text += reader.text()) {
    const Conversion c = reader.conversion();
    if (c.type == '%') {
      result.text += "%%";
      continue;
    }
    const auto argument = argument_of(c);
    // A width that is an argument would be needed once for each element.
    if (!argument || (argument->is_vector && c.stars != 0)) return std::nullopt;
    for (std::uint32_t i = 0; i < c.stars; ++i) result.arguments.push_back({ArgumentKind::is_signed, 4, 4, 1, false});
    result.arguments.push_back(*argument);
    result.text += text_of(c, *argument);
  }
  return result;
}

}  // namespace wm::rewrite
