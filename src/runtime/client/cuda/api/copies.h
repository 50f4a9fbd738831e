// Copies and sets as work for a stream.
#pragma once

#include <optional>

#include "runtime/client/cuda/api/call.h"

namespace wm::cuda {

// Rows of bytes from one place to another. A copy of one dimension is one row.
struct RowCopy {
  std::uint64_t to = 0, from = 0;
  std::uint64_t bytes = 0;  // bytes per row
  std::uint64_t rows = 1, planes = 1;
  std::uint64_t to_pitch = 0, from_pitch = 0;   // between rows
  std::uint64_t to_plane = 0, from_plane = 0;   // between planes
  bool to_device = false, from_device = false;  // the address must be one of the device
};

// The copy that a structure of the API describes; empty: it names no memory, or more than an array has.
std::optional<RowCopy> row_copy(const CUDA_MEMCPY2D& copy);
std::optional<RowCopy> row_copy(const CUDA_MEMCPY3D& copy);

Operation copy_operation(Driver& driver, const RowCopy& copy);

struct RowFill {
  std::uint64_t to = 0;
  std::uint64_t pitch = 0;
  std::uint32_t value = 0;
  std::uint32_t width = 1;  // bytes of the value
  std::uint64_t count = 0;  // values of a row
  std::uint64_t rows = 1;
};
Operation fill_operation(Driver& driver, const RowFill& fill);

// Whether the copy's addresses are valid now; a mistake is reported by the call, not by the context.
CUresult check(Driver& driver, const RowCopy& copy);
CUresult check(Driver& driver, const RowFill& fill);

}  // namespace wm::cuda
