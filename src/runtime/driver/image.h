// Images: boxes of elements, on the device and in host memory.
#pragma once

#include "runtime/driver/api.h"

namespace wm::runtime::driver {

// Slices or layers, so that a slice pitch means something.
bool has_slices(cl_mem image);
// A queue, an image and a box inside it, and events that can be waited for.
cl_int check_image(cl_command_queue queue, cl_mem image, const std::size_t* origin, const std::size_t* region,
                   const Waits& waits);
RectTransfer image_box(const std::size_t* origin, const std::size_t* region);
// The layers of a 1D array lie a slice pitch apart.
HostRect host_box(cl_mem image, std::byte* at, const std::size_t* region, std::size_t row, std::size_t slice);

}  // namespace wm::runtime::driver
