// The division of the staging area.
#include "runtime/client/opencl/connection/staging_allocator.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace wm::runtime::client {
namespace {

TEST(StagingAllocator, ChunksNeverOverlapAndFreedChunksMerge) {
  StagingAllocator staging(1 << 16);
  std::mt19937 random(3);
  std::map<std::uint64_t, std::uint64_t> taken;
  for (int round = 0; round < 20'000; ++round) {
    if (random() % 2 == 0 || taken.empty()) {
      const std::uint64_t size = 1 + random() % 5000;
      const auto offset = staging.allocate(size);
      if (!offset) continue;
      const auto next = taken.lower_bound(*offset);
      ASSERT_TRUE(next == taken.end() || *offset + size <= next->first);
      if (next != taken.begin()) {
        const auto before = std::prev(next);
        ASSERT_LE(before->first + before->second, *offset);
      }
      taken[*offset] = size;
    } else {
      const auto it = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      staging.free(it->first, it->second);
      taken.erase(it);
    }
  }
  for (const auto& [offset, size] : taken) staging.free(offset, size);
  EXPECT_EQ(staging.allocate(1 << 16), 0U) << "adjacent free chunks are merged";
  EXPECT_FALSE(staging.allocate(1).has_value());
}

}  // namespace
}  // namespace wm::runtime::client
