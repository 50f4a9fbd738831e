// The contract of a watcher of the block machine: it is told of blocks that take their places and leave them.
#pragma once

#include <cstdint>

namespace wm::sim {

struct ObservedBlock {
  std::uint32_t sm = 0;
  std::uint32_t client = 0;
  std::uint32_t block = 0;
};

class BlockObserver {
 public:
  virtual ~BlockObserver() = default;
  // The block takes its place at `at` and works from `works_from` on: its SM's setup and its context's restore lie
  // between the two.
  virtual void block_began(const ObservedBlock& block, std::uint64_t at, std::uint64_t works_from, bool resumed) = 0;
  // Its place is free again: it ended, or its context was saved.
  virtual void block_left(const ObservedBlock& block, std::uint64_t at, bool ended) = 0;
};

}  // namespace wm::sim
