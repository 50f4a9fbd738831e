// Allocates the memory that the client shares with the daemon: the staging area first, and regions of their own for
// chunks that do not fit into it. Safe for use by several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/client/opencl/connection/channel.h"
#include "runtime/client/opencl/connection/staging_allocator.h"

namespace wm::runtime::client {

class SharedMemoryPool {
 public:
  explicit SharedMemoryPool(Channel& channel) : channel_(channel) {}

  // A chunk of the staging area; nothing if it has no room for `size` bytes now.
  std::optional<Chunk> allocate_staging(std::uint64_t size);
  // A chunk that is a region of its own; its size is 0 where the daemon gives no memory.
  Chunk allocate_region(std::uint64_t size);
  void free(const Chunk& chunk);
  [[nodiscard]] std::byte* address(const Chunk& chunk);

  // Regions are multiples of this many bytes.
  static constexpr std::uint64_t kPageBytes = 4096;
  [[nodiscard]] static constexpr std::uint64_t round_to_pages(std::uint64_t bytes) {
    return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  }

 private:
  struct Region {
    Mapping map;
    bool in_use = false;
  };

  Channel& channel_;
  std::mutex mutex_;  // guards the fields below
  StagingAllocator staging_{kStagingBytes};
  std::map<std::uint32_t, Region> regions_;
};

}  // namespace wm::runtime::client
