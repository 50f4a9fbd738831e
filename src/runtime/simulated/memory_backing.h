// Shared memory behind the device memory of a program whose kernels run in another process.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace wm::runtime {

class MemoryBacking {
 public:
  virtual ~MemoryBacking() = default;
  // The file with the memory: that of a device address lies at its distance from exec::kGlobalBase.
  [[nodiscard]] virtual int file() const = 0;
  // The other process learns of an allocation before a kernel can use it. An error: the device has no room for it.
  virtual Result<void> allocated(std::uint64_t address, std::uint64_t bytes, bool on_device,
                                 const std::string& name) = 0;
  // Kernels may use the addresses from `alias` on too for `bytes` bytes of an allocation, until it is freed.
  virtual Result<void> aliased(std::uint64_t alias, std::uint64_t address, std::uint64_t bytes) = 0;
  // The allocation becomes the heap of kernels, with at most `sm_bytes` for an SM. An error: kernels use another one.
  virtual Result<void> heap_placed(std::uint64_t address, std::uint64_t sm_bytes) = 0;
  virtual void freed(std::uint64_t address) = 0;
};

}  // namespace wm::runtime
