// Pinned host memory for transfers that must not wait: the driver copies from and to other memory only while the caller
// waits for everything before it on the stream.
#pragma once

#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/device/cuda/device.h"

namespace wm::runtime::cuda {

class HostMemory {
 public:
  explicit HostMemory(Device& device) : device_(device) {}
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Pinned memory of at least that size; empty: the driver has none.
  [[nodiscard]] std::span<std::byte> take(std::size_t bytes);
  void give_back(std::span<std::byte> memory);

  // Ranges of other memory that the driver has registered.
  void add_registered(std::span<std::byte> range);
  void remove_registered(std::span<std::byte> range);
  [[nodiscard]] bool is_registered(std::span<const std::byte> range) const;

 private:
  static std::size_t rounded(std::size_t bytes);

  Device& device_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;  // by size
  std::map<const std::byte*, std::size_t> registered_;   // sizes by address
};

}  // namespace wm::runtime::cuda
