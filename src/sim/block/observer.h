// The interface of an observer of the block machine: it is told when blocks start on an SM and when they leave it.
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
  // The block occupies its SM from `at` on and works from `works_from` on: its SM's setup and its context's restore lie
  // between the two.
  virtual void block_began(const ObservedBlock& block, std::uint64_t at, std::uint64_t works_from, bool resumed) = 0;
  // The block has left its SM: it ended, or its context was saved.
  virtual void block_left(const ObservedBlock& block, std::uint64_t at, bool ended) = 0;
};

}  // namespace wm::sim
