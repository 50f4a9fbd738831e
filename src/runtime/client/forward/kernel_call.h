// A launch as the program asks for it, with what arbitration may change.
#pragma once

#include <cstdint>

#include "runtime/client/cuda/interface/types.h"

namespace wm::forward {

struct KernelCall {
  CUfunction function = nullptr;
  unsigned grid_x = 1, grid_y = 1, grid_z = 1;
  unsigned block_x = 1, block_y = 1, block_z = 1;
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;

  [[nodiscard]] std::uint64_t blocks() const { return std::uint64_t{grid_x} * grid_y * grid_z; }
  // In a block.
  [[nodiscard]] unsigned threads() const { return block_x * block_y * block_z; }
};

}  // namespace wm::forward
