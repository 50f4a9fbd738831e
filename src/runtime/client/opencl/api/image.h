// Boxes of image elements, on the device and in host memory.
#pragma once

#include "runtime/client/opencl/api/memory.h"

namespace wm::runtime::client {

// Whether the image has slices or layers, and thus a slice pitch.
bool has_slices(cl_mem image);
// Checks the queue, the image, the box inside it, and the wait list.
cl_int check_image(cl_command_queue queue, cl_mem image, const std::size_t* origin, const std::size_t* region,
                   const WaitList& wait_list);
RectTransfer image_box(const std::size_t* origin, const std::size_t* region);
// The box in host memory. The layers of a 1D array are a slice pitch apart.
HostBox host_box(cl_mem image, std::byte* start, const std::size_t* region, std::size_t row_pitch,
                 std::size_t slice_pitch);

}  // namespace wm::runtime::client
