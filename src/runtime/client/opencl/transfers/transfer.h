// Transfers between the application's memory and memory objects. The data travels through chunks of shared memory; a
// buffer that is stored in shared memory is accessed directly.
#pragma once

#include "runtime/client/opencl/transfers/command.h"

namespace wm::runtime::client {

// A box of host memory: `height` rows of `width` bytes in each of `depth` slices.
struct HostBox {
  std::byte* start;
  std::size_t row_pitch, slice_pitch;
  std::size_t width, height, depth;
  [[nodiscard]] std::size_t size() const { return width * height * depth; }
  // The bytes from the first to the last of the box.
  [[nodiscard]] std::size_t extent() const { return (depth - 1) * slice_pitch + (height - 1) * row_pitch + width; }
};

// The command of a transfer; `type` is the command type that its event shows.
struct HostTransfer {
  cl_command_queue queue;
  cl_mem memory;
  cl_command_type type;
  bool blocking;
};

cl_int transfer_buffer(const HostTransfer& transfer, bool to_device, std::size_t offset, std::size_t size,
                       std::byte* host, const WaitList& wait_list);
// A box of a buffer or image. `box` describes it in the memory object, `host` in the application's memory.
cl_int transfer_box(const HostTransfer& transfer, CommandType command, RectTransfer box, const HostBox& host,
                    const WaitList& wait_list);

}  // namespace wm::runtime::client
