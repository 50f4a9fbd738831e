// A set of register indices, one bit each.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace wm::ptx {

class RegisterSet {
 public:
  explicit RegisterSet(std::size_t size) : words_((size + 63) / 64) {}

  void insert(std::uint32_t r) { words_[r / 64] |= std::uint64_t{1} << (r % 64); }
  void erase(std::uint32_t r) { words_[r / 64] &= ~(std::uint64_t{1} << (r % 64)); }
  [[nodiscard]] bool contains(std::uint32_t r) const { return (words_[r / 64] >> (r % 64) & 1) != 0; }

  // Adds the other's members; returns whether any was new.
  bool merge(const RegisterSet& other) {
    std::uint64_t fresh = 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      fresh |= other.words_[i] & ~words_[i];
      words_[i] |= other.words_[i];
    }
    return fresh != 0;
  }
  void remove(const RegisterSet& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
  }

  // In ascending order.
  [[nodiscard]] std::vector<std::uint32_t> members() const {
    std::vector<std::uint32_t> result;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
        result.push_back(static_cast<std::uint32_t>(64 * i) + static_cast<std::uint32_t>(std::countr_zero(left)));
      }
    }
    return result;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace wm::ptx
