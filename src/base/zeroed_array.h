// An array of zeroed memory that takes no time until it is used: the system gives each page when it is first touched.
// For large arrays of which most runs use a small part. The elements begin with all bytes 0.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <sys/mman.h>
#include <type_traits>
#include <utility>

namespace wm {

template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  ZeroedArray() = default;
  explicit ZeroedArray(std::size_t count) : count_(count) {
    if (count == 0) return;
    void* pages = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    elements_ = static_cast<T*>(pages);
  }
  ~ZeroedArray() {
    if (elements_ != nullptr) ::munmap(elements_, count_ * sizeof(T));
  }
  ZeroedArray(ZeroedArray&& other) noexcept
      : elements_(std::exchange(other.elements_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  ZeroedArray& operator=(ZeroedArray&& other) noexcept {
    std::swap(elements_, other.elements_);
    std::swap(count_, other.count_);
    return *this;
  }

  [[nodiscard]] T& operator[](std::size_t i) { return elements_[i]; }
  [[nodiscard]] std::span<T> all() { return {elements_, count_}; }
  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  T* elements_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace wm
