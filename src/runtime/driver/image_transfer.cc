// Commands on images: read, write, copy, fill.
#include <algorithm>

#include "runtime/driver/image.h"
#include "runtime/driver/memory.h"

namespace wm::runtime::driver {
namespace {

cl_int transfer(cl_command_queue queue, cl_mem image, bool blocking, bool to_device, const std::size_t* origin,
                const std::size_t* region, std::size_t row, std::size_t slice, void* host, const Waits& waits) {
  if (const cl_int bad = check_image(queue, image, origin, region, waits); bad != CL_SUCCESS) return bad;
  if (const cl_int bad = host_may(image, !to_device, to_device); bad != CL_SUCCESS) return bad;
  if (host == nullptr) return CL_INVALID_VALUE;
  const std::size_t width = region[0] * image->element;
  const bool layers_of_rows = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
  if (row == 0) row = width;
  const std::size_t least = row * (layers_of_rows ? 1 : region[1]);
  if (slice == 0) slice = least;
  if (row < width || slice < least) return CL_INVALID_VALUE;
  const auto type = static_cast<cl_command_type>(to_device ? CL_COMMAND_WRITE_IMAGE : CL_COMMAND_READ_IMAGE);
  return move_rect({queue, image, type, blocking}, to_device ? Work::write_image : Work::read_image,
                   image_box(origin, region), host_box(image, static_cast<std::byte*>(host), region, row, slice),
                   waits);
}

bool same_format(cl_mem a, cl_mem b) {
  return a->format.image_channel_order == b->format.image_channel_order &&
         a->format.image_channel_data_type == b->format.image_channel_data_type;
}

bool overlap(const std::size_t* a, const std::size_t* b, const std::size_t* region) {
  for (int i = 0; i < 3; ++i) {
    if (a[i] >= b[i] + region[i] || b[i] >= a[i] + region[i]) return false;
  }
  return true;
}

cl_int between(cl_command_queue queue, cl_mem image, cl_mem buffer, bool to_buffer, const std::size_t* origin,
               const std::size_t* region, std::size_t offset, const Waits& waits) {
  if (const cl_int bad = check_image(queue, image, origin, region, waits); bad != CL_SUCCESS) return bad;
  if (const cl_int bad = check_buffer(queue, buffer, waits); bad != CL_SUCCESS) return bad;
  const std::size_t size = region[0] * region[1] * region[2] * image->element;
  if (!inside(offset, size, buffer->size)) return CL_INVALID_VALUE;
  Copy copy;
  copy.from = to_buffer ? image->name : buffer->name;
  copy.to = to_buffer ? buffer->name : image->name;
  (to_buffer ? copy.to_offset : copy.from_offset) = offset;
  copy.size = size;
  std::copy_n(origin, 3, copy.origin);
  std::copy_n(region, 3, copy.region);
  return enqueue(
      to_buffer ? Work::image_to_buffer : Work::buffer_to_image,
      static_cast<cl_command_type>(to_buffer ? CL_COMMAND_COPY_IMAGE_TO_BUFFER : CL_COMMAND_COPY_BUFFER_TO_IMAGE),
      queue, waits, copy);
}

}  // namespace

cl_int enqueue_read_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const std::size_t* origin,
                          const std::size_t* region, std::size_t row, std::size_t slice, void* host, cl_uint count,
                          const cl_event* list, cl_event* out) {
  return guarded([&] {
    return transfer(queue, image, blocking != 0, false, origin, region, row, slice, host, {count, list, out});
  });
}

cl_int enqueue_write_image(cl_command_queue queue, cl_mem image, cl_bool blocking, const std::size_t* origin,
                           const std::size_t* region, std::size_t row, std::size_t slice, const void* host,
                           cl_uint count, const cl_event* list, cl_event* out) {
  return guarded([&] {
    return transfer(queue, image, blocking != 0, true, origin, region, row, slice, const_cast<void*>(host),
                    {count, list, out});
  });
}

cl_int enqueue_copy_image(cl_command_queue queue, cl_mem from, cl_mem to, const std::size_t* from_origin,
                          const std::size_t* to_origin, const std::size_t* region, cl_uint count, const cl_event* list,
                          cl_event* out) {
  return guarded([&]() -> cl_int {
    const Waits waits{count, list, out};
    if (const cl_int bad = check_image(queue, from, from_origin, region, waits); bad != CL_SUCCESS) return bad;
    if (const cl_int bad = check_image(queue, to, to_origin, region, waits); bad != CL_SUCCESS) return bad;
    if (!same_format(from, to)) return CL_IMAGE_FORMAT_MISMATCH;
    if (from == to && overlap(from_origin, to_origin, region)) return CL_MEM_COPY_OVERLAP;
    RectCopy copy;
    copy.from = from->name;
    copy.to = to->name;
    std::copy_n(from_origin, 3, copy.from_origin);
    std::copy_n(to_origin, 3, copy.to_origin);
    std::copy_n(region, 3, copy.region);
    return enqueue(Work::copy_image, CL_COMMAND_COPY_IMAGE, queue, waits, copy);
  });
}

cl_int enqueue_copy_image_to_buffer(cl_command_queue queue, cl_mem image, cl_mem buffer, const std::size_t* origin,
                                    const std::size_t* region, std::size_t offset, cl_uint count, const cl_event* list,
                                    cl_event* out) {
  return guarded([&] { return between(queue, image, buffer, true, origin, region, offset, {count, list, out}); });
}

cl_int enqueue_copy_buffer_to_image(cl_command_queue queue, cl_mem buffer, cl_mem image, std::size_t offset,
                                    const std::size_t* origin, const std::size_t* region, cl_uint count,
                                    const cl_event* list, cl_event* out) {
  return guarded([&] { return between(queue, image, buffer, false, origin, region, offset, {count, list, out}); });
}

cl_int enqueue_fill_image(cl_command_queue queue, cl_mem image, const void* color, const std::size_t* origin,
                          const std::size_t* region, cl_uint count, const cl_event* list, cl_event* out) {
  return guarded([&]() -> cl_int {
    const Waits waits{count, list, out};
    if (const cl_int bad = check_image(queue, image, origin, region, waits); bad != CL_SUCCESS) return bad;
    if (color == nullptr) return CL_INVALID_VALUE;
    Fill fill;
    fill.memory = image->name;
    std::copy_n(origin, 3, fill.origin);
    std::copy_n(region, 3, fill.region);
    fill.pattern_size = 16;
    // A depth image's colour is one float, all others' four words.
    std::memcpy(fill.pattern, color, image->format.image_channel_order == CL_DEPTH ? 4 : 16);
    return enqueue(Work::fill_image, CL_COMMAND_FILL_IMAGE, queue, waits, fill);
  });
}

}  // namespace wm::runtime::driver
