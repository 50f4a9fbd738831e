// The memory that a client shares with the daemon: the shared area, and regions that the client requests later. Safe
// for use by several threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "runtime/protocol/message.h"
#include "runtime/protocol/shared_area.h"

namespace wm::runtime {

// Bytes of shared memory, valid while `region` is held.
struct SharedBytes {
  std::span<std::byte> bytes;
  std::shared_ptr<Mapping> region;  // null: the staging area, which lives as long as the session
};

class SharedRegions {
 public:
  // `max_bytes` limits the sum of all regions that store no buffer.
  SharedRegions(SharedArea area, std::uint64_t max_bytes)
      : area_(std::make_shared<SharedArea>(std::move(area))), max_bytes_(max_bytes) {}

  [[nodiscard]] const std::shared_ptr<SharedArea>& area() const { return area_; }
  // A new region, and its file for the client; 0: the client has reached a limit.
  std::uint32_t add(std::uint64_t size, Descriptor& file);
  // The region, which stores a buffer from now on; null: it does not exist or is too small.
  std::shared_ptr<Mapping> take_for_buffer(std::uint32_t region, std::uint64_t size);
  std::shared_ptr<Mapping> remove(std::uint32_t region);
  // The bytes of a chunk; empty where it is not inside the shared memory.
  [[nodiscard]] SharedBytes find(const Chunk& chunk) const;
  void close();

  static constexpr std::size_t kMaxRegions = 256, kMaxBufferRegions = 4096;

 private:
  const std::shared_ptr<SharedArea> area_;
  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;  // guards the fields below
  std::map<std::uint32_t, std::shared_ptr<Mapping>> regions_;
  std::uint32_t next_region_ = 1;
  std::vector<std::weak_ptr<Mapping>> buffer_regions_;
  bool closed_ = false;
};

}  // namespace wm::runtime
