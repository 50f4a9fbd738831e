// Memory between addresses that nothing may access: a kernel that reads or writes outside its buffer ends its process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace wm::runtime::sandbox {

class GuardedMemory {
 public:
  explicit GuardedMemory(std::uint64_t size);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  // Whether the host had the memory.
  [[nodiscard]] bool ok() const { return data_ != nullptr; }
  // All zero at first. It begins at an address that suits every type, less than 128 bytes before the guard behind it.
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_}; }

 private:
  std::size_t size_;
  std::size_t mapped_ = 0;
  std::byte* mapping_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace wm::runtime::sandbox
