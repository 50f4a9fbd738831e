#include "exec/print_format.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace wm::exec {

namespace {

// A bound on field widths, so that a format string cannot take unlimited memory.
constexpr int kMaxWidth = 1024;
constexpr std::size_t kLongest = 64U << 10;

struct Conversion {
  std::string flags;
  int width = -1;
  int precision = -1;
  bool wide = false;  // a 64-bit integer
  int narrow = 0;     // h: 2 bytes, hh: 1
  char type = 0;
};

class Printer {
 public:
  Printer(std::string_view format, const ArgumentBytes& argument, const DeviceString& string)
      : format_(format), argument_(argument), string_(string) {}

  Printed run() {
    while (at_ < format_.size() && out_.ok && out_.text.size() < kLongest) {
      if (format_[at_] != '%') {
        out_.text += format_[at_++];
        continue;
      }
      const std::size_t start = at_++;
      Conversion c = read();
      if (!out_.ok) break;
      if (c.type == '%')
        out_.text += '%';
      else if (!print(c))
        out_.text += format_.substr(start, at_ - start);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] char peek() const { return at_ < format_.size() ? format_[at_] : '\0'; }

  int number() {
    if (peek() == '*') {
      ++at_;
      return std::clamp(static_cast<int>(integer(4)), -kMaxWidth, kMaxWidth);
    }
    int value = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) value = std::min(value * 10 + (peek() - '0'), kMaxWidth);
    return value;
  }

  Conversion read() {
    Conversion c;
    while (peek() != '\0' && std::strchr("-+ #0", peek()) != nullptr) c.flags += format_[at_++];
    if (peek() == '*' || (peek() >= '0' && peek() <= '9')) {
      c.width = number();
      if (c.width < 0) {
        c.flags += '-';
        c.width = -c.width;
      }
    }
    if (peek() == '.') {
      ++at_;
      c.precision = std::max(number(), 0);
    }
    for (; peek() != '\0' && std::strchr("hljzt", peek()) != nullptr; ++at_) {
      if (peek() == 'h')
        c.narrow = c.narrow == 2 ? 1 : 2;
      else
        c.wide = true;
    }
    c.type = peek();
    if (c.type != '\0') ++at_;
    return c;
  }

  // The next argument's bits; the buffer ends the printing when it has no more.
  std::uint64_t integer(std::uint32_t bytes) {
    offset_ = (offset_ + bytes - 1) / bytes * bytes;
    const std::byte* from = argument_(offset_, bytes);
    if (from == nullptr) {
      out_.ok = false;
      return 0;
    }
    std::uint64_t value = 0;
    std::memcpy(&value, from, bytes);
    offset_ += bytes;
    ++out_.arguments;
    return value;
  }

  template <typename T>
  void emit(const Conversion& c, const char* length, T value) {
    std::string spec = "%" + c.flags;
    if (c.width >= 0) spec += std::to_string(c.width);
    if (c.precision >= 0) spec += "." + std::to_string(c.precision);
    spec += length;
    spec += c.type;
    char small[128];
    const int size = std::snprintf(small, sizeof small, spec.c_str(), value);
    if (size < 0) return;
    if (static_cast<std::size_t>(size) < sizeof small) {
      out_.text.append(small, static_cast<std::size_t>(size));
      return;
    }
    std::string large(static_cast<std::size_t>(size) + 1, '\0');
    std::snprintf(large.data(), large.size(), spec.c_str(), value);
    out_.text.append(large, 0, static_cast<std::size_t>(size));
  }

  bool print(const Conversion& c) {
    switch (c.type) {
      case 'd':
      case 'i': {
        const std::uint64_t bits = integer(c.wide ? 8 : 4);
        long long value = c.wide ? static_cast<long long>(bits) : static_cast<std::int32_t>(bits);
        if (c.narrow == 2) value = static_cast<std::int16_t>(bits);
        if (c.narrow == 1) value = static_cast<std::int8_t>(bits);
        if (out_.ok) emit(c, "ll", value);
        return true;
      }
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        unsigned long long value = integer(c.wide ? 8 : 4);
        if (c.narrow == 2) value = static_cast<std::uint16_t>(value);
        if (c.narrow == 1) value = static_cast<std::uint8_t>(value);
        if (out_.ok) emit(c, "ll", value);
        return true;
      }
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': {
        const std::uint64_t bits = integer(8);
        double value = 0;
        std::memcpy(&value, &bits, sizeof value);
        if (out_.ok) emit(c, "", value);
        return true;
      }
      case 'c': {
        const auto value = static_cast<int>(static_cast<unsigned char>(integer(4)));
        if (out_.ok) emit(c, "", value);
        return true;
      }
      case 'p': {
        const std::uint64_t value = integer(8);
        char text[32];
        std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
        out_.text += text;
        return true;
      }
      case 's': {
        const std::uint64_t address = integer(8);
        if (!out_.ok) return true;
        const auto text = string_(address);
        if (!text) {
          out_.ok = false;
          return true;
        }
        emit(c, "", text->c_str());
        return true;
      }
      default:
        return false;
    }
  }

  std::string_view format_;
  const ArgumentBytes& argument_;
  const DeviceString& string_;
  std::size_t at_ = 0;
  std::uint64_t offset_ = 0;
  Printed out_;
};

}  // namespace

Printed format_print(std::string_view format, const ArgumentBytes& argument, const DeviceString& string) {
  return Printer(format, argument, string).run();
}

}  // namespace wm::exec
