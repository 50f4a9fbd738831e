// The simulated memory of one program, shared with its process: a sparse file in which the memory of an address lies at
// its distance from the first device address.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "exec/address_space.h"
#include "runtime/protocol/descriptor.h"

namespace wm::runtime {

class ProgramMemory {
 public:
  static Result<std::unique_ptr<ProgramMemory>> make();
  ~ProgramMemory();
  ProgramMemory(const ProgramMemory&) = delete;
  ProgramMemory& operator=(const ProgramMemory&) = delete;

  // The same allocations with the same contents. Writes to the copy stay there; a process that writes to the original
  // meanwhile may change the copy.
  [[nodiscard]] Result<std::unique_ptr<ProgramMemory>> copy() const;

  Result<void> add(std::uint64_t address, std::uint64_t bytes, bool on_device, const std::string& name);
  // Kernels may use the addresses from `alias` on too for a part of an allocation, until it is removed.
  Result<void> add_alias(std::uint64_t alias, std::uint64_t address, std::uint64_t bytes);
  // The allocation becomes the heap of kernels. An error: kernels use the present one.
  Result<void> use_as_heap(std::uint64_t address, std::uint64_t sm_bytes);
  Result<void> remove(std::uint64_t address);

  [[nodiscard]] const Descriptor& file() const { return file_; }
  [[nodiscard]] exec::AddressSpace& space() { return space_; }
  // Bytes of device memory in use, and the number of allocations.
  [[nodiscard]] std::uint64_t device_bytes() const { return device_bytes_; }
  [[nodiscard]] std::size_t allocations() const { return allocations_.size(); }

 private:
  struct Range {
    std::uint64_t bytes = 0;
    bool on_device = false;
    std::string name;
    std::uint64_t alias = 0, alias_address = 0, alias_bytes = 0;  // 0 bytes: none
    std::uint64_t heap_sm_bytes = 0;                              // 0: not the heap
  };

  ProgramMemory(Descriptor file, std::byte* base);
  // Maps the file, shared or as a private copy, and places the heap of kernels.
  static Result<std::unique_ptr<ProgramMemory>> mapped(Descriptor file, int sharing);
  [[nodiscard]] exec::HostSource source() const;

  Descriptor file_;
  std::byte* base_;  // memory of the first device address
  exec::AddressSpace space_;
  std::map<std::uint64_t, Range> allocations_;  // by address
  std::uint64_t device_bytes_ = 0;
};

}  // namespace wm::runtime
