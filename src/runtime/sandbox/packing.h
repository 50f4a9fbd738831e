// Numbers and text as bytes, for the pipe between the daemon and the compile sandbox.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace wm::runtime::sandbox {

class Packer {
 public:
  Packer& number(std::uint32_t n) {
    for (int i = 0; i < 4; ++i) bytes_ += static_cast<char>(n >> (8 * i) & 0xff);
    return *this;
  }
  Packer& large(std::uint64_t n) {
    return number(static_cast<std::uint32_t>(n)).number(static_cast<std::uint32_t>(n >> 32));
  }
  Packer& text(const std::string& s) {
    number(static_cast<std::uint32_t>(s.size()));
    bytes_ += s;
    return *this;
  }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Returns zeros and empty text when the bytes are exhausted, and `ok` is false from then on.
class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}
  std::uint32_t number() {
    if (rest_.size() < 4) return fail(), 0;
    std::uint32_t n = 0;
    for (std::size_t i = 0; i < 4; ++i) n |= std::uint32_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
    rest_.remove_prefix(4);
    return n;
  }
  std::uint64_t large() {
    const std::uint64_t low = number();
    return low | std::uint64_t{number()} << 32;
  }
  std::string text() {
    const std::uint32_t size = number();
    if (size > rest_.size()) return fail(), std::string();
    std::string s(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return s;
  }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  void fail() {
    ok_ = false;
    rest_ = {};
  }
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace wm::runtime::sandbox
