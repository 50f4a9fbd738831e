// Commands on images: read, write, copy, fill.
#include <algorithm>

#include "runtime/client/opencl/api/image.h"

namespace wm::runtime::client {
namespace {

cl_int transfer_image(cl_command_queue queue, cl_mem image, bool blocking, bool to_device, const std::size_t* origin,
                      const std::size_t* region, std::size_t row, std::size_t slice, void* host,
                      const WaitList& wait_list) {
  if (const cl_int error = check_image(queue, image, origin, region, wait_list); error != CL_SUCCESS) return error;
  if (const cl_int error = check_host_access(image, !to_device, to_device); error != CL_SUCCESS) return error;
  if (host == nullptr) return CL_INVALID_VALUE;
  const std::size_t width = region[0] * image->image.element_size;
  const bool is_1d_array = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (row == 0) row = width;
  const std::size_t min_slice = row * (is_1d_array ? 1 : region[1]);
  if (slice == 0) slice = min_slice;
  if (row < width || slice < min_slice) return CL_INVALID_VALUE;
  const auto type = static_cast<cl_command_type>(to_device ? CL_COMMAND_WRITE_IMAGE : CL_COMMAND_READ_IMAGE);
  return transfer_box({queue, image, type, blocking}, to_device ? CommandType::write_image : CommandType::read_image,
                      image_box(origin, region), host_box(image, static_cast<std::byte*>(host), region, row, slice),
                      wait_list);
}

bool same_format(cl_mem a, cl_mem b) {
  return a->image.format.image_channel_order == b->image.format.image_channel_order &&
         a->image.format.image_channel_data_type == b->image.format.image_channel_data_type;
}

bool overlap(const std::size_t* a, const std::size_t* b, const std::size_t* region) {
  for (int i = 0; i < 3; ++i) {
    if (a[i] >= b[i] + region[i] || b[i] >= a[i] + region[i]) return false;
  }
  return true;
}

cl_int copy_image_buffer(cl_command_queue queue, cl_mem image, cl_mem buffer, bool to_buffer, const std::size_t* origin,
                         const std::size_t* region, std::size_t offset, const WaitList& wait_list) {
  if (const cl_int error = check_image(queue, image, origin, region, wait_list); error != CL_SUCCESS) return error;
  if (const cl_int error = check_buffer(queue, buffer, wait_list); error != CL_SUCCESS) return error;
  const std::size_t size = region[0] * region[1] * region[2] * image->image.element_size;
  if (!fits(offset, size, buffer->size)) return CL_INVALID_VALUE;
  Copy copy;
  copy.from = to_buffer ? image->id : buffer->id;
  copy.to = to_buffer ? buffer->id : image->id;
  (to_buffer ? copy.to_offset : copy.from_offset) = offset;
  copy.size = size;
  std::copy_n(origin, 3, copy.origin);
  std::copy_n(region, 3, copy.region);
  return enqueue(
      to_buffer ? CommandType::image_to_buffer : CommandType::buffer_to_image,
      static_cast<cl_command_type>(to_buffer ? CL_COMMAND_COPY_IMAGE_TO_BUFFER : CL_COMMAND_COPY_BUFFER_TO_IMAGE),
      queue, wait_list, copy);
}

}  // namespace

cl_int enqueue_read_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const std::size_t* origin,
                          const std::size_t* region, std::size_t row, std::size_t slice, void* host, cl_uint count,
                          const cl_event* list, cl_event* event_out) {
  return guarded([&] {
    return transfer_image(queue, image, blocking != 0, false, origin, region, row, slice, host,
                          {count, list, event_out});
  });
}

cl_int enqueue_write_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const std::size_t* origin,
                           const std::size_t* region, std::size_t row, std::size_t slice, const void* host,
                           cl_uint count, const cl_event* list, cl_event* event_out) {
  return guarded([&] {
    return transfer_image(queue, image, blocking != 0, true, origin, region, row, slice, const_cast<void*>(host),
                          {count, list, event_out});
  });
}

cl_int enqueue_copy_image(cl_command_queue queue, cl_mem from, cl_mem to, const std::size_t* from_origin,
                          const std::size_t* to_origin, const std::size_t* region, cl_uint count, const cl_event* list,
                          cl_event* event_out) {
  return guarded([&]() -> cl_int {
    const WaitList wait_list{count, list, event_out};
    if (const cl_int error = check_image(queue, from, from_origin, region, wait_list); error != CL_SUCCESS)
      return error;
    if (const cl_int error = check_image(queue, to, to_origin, region, wait_list); error != CL_SUCCESS) return error;
    if (!same_format(from, to)) return CL_IMAGE_FORMAT_MISMATCH;
    if (from == to && overlap(from_origin, to_origin, region)) return CL_MEM_COPY_OVERLAP;
    RectCopy copy;
    copy.from = from->id;
    copy.to = to->id;
    std::copy_n(from_origin, 3, copy.from_origin);
    std::copy_n(to_origin, 3, copy.to_origin);
    std::copy_n(region, 3, copy.region);
    return enqueue(CommandType::copy_image, CL_COMMAND_COPY_IMAGE, queue, wait_list, copy);
  });
}

cl_int enqueue_copy_image_to_buffer(cl_command_queue queue, cl_mem image, cl_mem buffer, const std::size_t* origin,
                                    const std::size_t* region, std::size_t offset, cl_uint count, const cl_event* list,
                                    cl_event* event_out) {
  return guarded([&] {
    return copy_image_buffer(queue, image, buffer, true, origin, region, offset, {count, list, event_out});
  });
}

cl_int enqueue_copy_buffer_to_image(cl_command_queue queue, cl_mem buffer, cl_mem image, std::size_t offset,
                                    const std::size_t* origin, const std::size_t* region, cl_uint count,
                                    const cl_event* list, cl_event* event_out) {
  return guarded([&] {
    return copy_image_buffer(queue, image, buffer, false, origin, region, offset, {count, list, event_out});
  });
}

cl_int enqueue_fill_image(cl_command_queue queue, cl_mem image, const void* color, const std::size_t* origin,
                          const std::size_t* region, cl_uint count, const cl_event* list, cl_event* event_out) {
  return guarded([&]() -> cl_int {
    const WaitList wait_list{count, list, event_out};
    if (const cl_int error = check_image(queue, image, origin, region, wait_list); error != CL_SUCCESS) return error;
    if (color == nullptr) return CL_INVALID_VALUE;
    Fill fill;
    fill.memory = image->id;
    std::copy_n(origin, 3, fill.origin);
    std::copy_n(region, 3, fill.region);
    fill.pattern_size = 16;
    // The colour of a depth image is one float; that of other images has four components.
    std::memcpy(fill.pattern, color, image->image.format.image_channel_order == CL_DEPTH ? 4 : 16);
    return enqueue(CommandType::fill_image, CL_COMMAND_FILL_IMAGE, queue, wait_list, fill);
  });
}

}  // namespace wm::runtime::client
