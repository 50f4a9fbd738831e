// Values as bytes, for pipes and files: little-endian numbers and counted strings.
//
// One description of each type serves both directions: an archive either appends what it is shown or fills it in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace wm::rewrite {

class ArchiveWriter {
 public:
  template <typename T>
  requires std::is_integral_v<T>
  void number(T value) {
    const auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i) bytes_ += static_cast<char>(bits >> (8 * i) & 0xff);
  }
  void string(const std::string& text) {
    number(static_cast<std::uint32_t>(text.size()));
    bytes_ += text;
  }
  template <typename T, typename Visitor>
  void list(const std::vector<T>& items, Visitor&& visit) {
    number(static_cast<std::uint32_t>(items.size()));
    for (const T& item : items) visit(item);
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ArchiveReader {
 public:
  explicit ArchiveReader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  requires std::is_integral_v<T>
  void number(T& value) {
    std::uint64_t bits = 0;
    if (bytes_.size() < sizeof(T)) {
      broken_ = true;
      bytes_ = {};
    } else {
      for (std::size_t i = 0; i < sizeof(T); ++i)
        bits |= std::uint64_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
      bytes_.remove_prefix(sizeof(T));
    }
    value = static_cast<T>(bits);
  }
  void string(std::string& text) {
    const std::size_t size = count();
    text.assign(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
  }
  template <typename T, typename Visitor>
  void list(std::vector<T>& items, Visitor&& visit) {
    items.resize(count());  // an item takes a byte at least, so a count past the end is a broken one
    for (T& item : items) visit(item);
  }
  [[nodiscard]] bool complete() const { return !broken_ && bytes_.empty(); }

 private:
  std::size_t count() {
    std::uint32_t size = 0;
    number(size);
    if (size <= bytes_.size()) return size;
    broken_ = true;
    bytes_ = {};
    return 0;
  }

  std::string_view bytes_;
  bool broken_ = false;
};

}  // namespace wm::rewrite
