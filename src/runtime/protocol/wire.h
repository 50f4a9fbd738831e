// Messages as bytes: Writer appends plain structs and text, Reader takes them and never reads past the end. If the
// bytes do not suffice, Reader returns zeros, and `ok()` is false from then on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/protocol/message.h"

namespace wm::runtime {

// Messages are multiples of 8 bytes, and so is each part that ends with `pad`.
[[nodiscard]] constexpr std::size_t padded(std::size_t size) { return (size + 7) & ~std::size_t{7}; }

class Writer {
 public:
  explicit Writer(Op op) {
    bytes_.reserve(256);
    put(MessageHeader{.size = 0, .op = op, .reply = {}});
  }

  template <Plain T>
  Writer& put(const T& value) {
    return raw(&value, sizeof value);
  }
  Writer& raw(const void* data, std::size_t size) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + size);
    if (size != 0) std::memcpy(bytes_.data() + at, data, size);
    return *this;
  }
  Writer& text(std::string_view s) { return raw(s.data(), s.size()); }
  Writer& pad() {
    bytes_.resize(padded(bytes_.size()));
    return *this;
  }

  void reply_to(const Chunk& chunk) {
    std::memcpy(bytes_.data() + offsetof(MessageHeader, reply), &chunk, sizeof chunk);
  }
  // The finished message, with its size in the header.
  [[nodiscard]] std::span<const std::byte> finish() {
    pad();
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data() + offsetof(MessageHeader, size), &size, sizeof size);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <Plain T>
  [[nodiscard]] T take() {
    T value{};
    if (rest_.size() < sizeof value) {
      fail();
      return value;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_ = rest_.subspan(sizeof value);
    return value;
  }
  // `size` bytes, and the padding after them.
  [[nodiscard]] std::span<const std::byte> bytes(std::size_t size) {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const auto taken = rest_.first(size);
    rest_ = rest_.subspan(std::min(padded(size), rest_.size()));
    return taken;
  }
  // The text up to the next zero, which is skipped.
  [[nodiscard]] std::string_view zero_terminated() {
    const std::string_view all(reinterpret_cast<const char*>(rest_.data()), rest_.size());
    const std::size_t end = all.find('\0');
    if (end == std::string_view::npos) {
      fail();
      return {};
    }
    rest_ = rest_.subspan(end + 1);
    return all.substr(0, end);
  }
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] std::size_t left() const { return rest_.size(); }
  void fail() {
    ok_ = false;
    rest_ = {};
  }

 private:
  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace wm::runtime
