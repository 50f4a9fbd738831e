// Commands on buffers and rectangles of buffers: read, write, copy, fill.
#include <bit>

#include "runtime/client/opencl/api/memory.h"

namespace wm::runtime::client {
namespace {

cl_int transfer_linear(cl_command_queue queue, cl_mem buffer, bool blocking, bool to_device, std::size_t offset,
                       std::size_t size, void* host, const WaitList& wait_list) {
  if (const cl_int error = check_buffer(queue, buffer, wait_list); error != CL_SUCCESS) return error;
  if (const cl_int error = check_host_access(buffer, !to_device, to_device); error != CL_SUCCESS) return error;
  if (host == nullptr || !fits(offset, size, buffer->backed_size())) return CL_INVALID_VALUE;
  const cl_command_type type = to_device ? CL_COMMAND_WRITE_BUFFER : CL_COMMAND_READ_BUFFER;
  if (size == 0) return enqueue(CommandType::marker, type, queue, wait_list);
  return transfer_buffer({queue, buffer, type, blocking}, to_device, offset, size, static_cast<std::byte*>(host),
                         wait_list);
}

// Sets the pitches of a rectangle that are 0; false where they are invalid.
bool set_pitches(const std::size_t* region, std::size_t& row, std::size_t& slice) {
  if (row == 0) row = region[0];
  if (slice == 0) slice = row * region[1];
  if (row < region[0]) return false;
  // The pitch of a single slice is not used.
  const bool is_accepted =
      region[2] == 1 && connection().native_result(NonstandardCall::short_slice_pitch) == CL_SUCCESS;
  if (slice < row * region[1] && is_accepted) slice = row * region[1];
  if (slice < row * region[1]) return false;
  return slice % row == 0 || connection().native_result(NonstandardCall::unaligned_slice_pitch) == CL_SUCCESS;
}

std::size_t first_byte(const std::size_t* origin, std::size_t row, std::size_t slice) {
  return origin[2] * slice + origin[1] * row + origin[0];
}
std::size_t extent(const std::size_t* region, std::size_t row, std::size_t slice) {
  return (region[2] - 1) * slice + (region[1] - 1) * row + region[0];
}
bool empty(const std::size_t* region) { return region[0] == 0 || region[1] == 0 || region[2] == 0; }

// An empty rectangle has the result of the device's own driver: an error, or a command that does nothing.
cl_int enqueue_empty(const std::size_t* region, NonstandardCall flat, NonstandardCall otherwise, cl_command_type type,
                     cl_command_queue queue, const WaitList& wait_list) {
  const bool no_slices = region[0] != 0 && region[1] != 0;
  const cl_int error = connection().native_result(no_slices ? flat : otherwise);
  return error != CL_SUCCESS ? error : enqueue(CommandType::marker, type, queue, wait_list);
}

void copy3(std::uint64_t* to, const std::size_t* from) { std::copy_n(from, 3, to); }

struct Rect {
  const std::size_t *buffer_origin, *host_origin, *region;
  std::size_t buffer_row, buffer_slice, host_row, host_slice;
};

cl_int transfer_rect(cl_command_queue queue, cl_mem buffer, bool blocking, bool to_device, Rect r, void* host,
                     const WaitList& wait_list) {
  if (const cl_int error = check_buffer(queue, buffer, wait_list); error != CL_SUCCESS) return error;
  if (const cl_int error = check_host_access(buffer, !to_device, to_device); error != CL_SUCCESS) return error;
  if (host == nullptr || r.buffer_origin == nullptr || r.host_origin == nullptr || r.region == nullptr) {
    return CL_INVALID_VALUE;
  }
  const auto type =
      static_cast<cl_command_type>(to_device ? CL_COMMAND_WRITE_BUFFER_RECT : CL_COMMAND_READ_BUFFER_RECT);
  if (empty(r.region)) {
    if (first_byte(r.buffer_origin, r.buffer_row, r.buffer_slice) > buffer->backed_size()) return CL_INVALID_VALUE;
    return to_device ? enqueue_empty(r.region, NonstandardCall::flat_write_rect, NonstandardCall::empty_write_rect,
                                     type, queue, wait_list)
                     : enqueue_empty(r.region, NonstandardCall::flat_read_rect, NonstandardCall::empty_read_rect, type,
                                     queue, wait_list);
  }
  if (!set_pitches(r.region, r.buffer_row, r.buffer_slice) || !set_pitches(r.region, r.host_row, r.host_slice)) {
    return CL_INVALID_VALUE;
  }
  if (!fits(first_byte(r.buffer_origin, r.buffer_row, r.buffer_slice), extent(r.region, r.buffer_row, r.buffer_slice),
            buffer->backed_size())) {
    return CL_INVALID_VALUE;
  }
  RectTransfer message;
  copy3(message.origin, r.buffer_origin);
  copy3(message.region, r.region);
  message.row_pitch = r.buffer_row;
  message.slice_pitch = r.buffer_slice;
  const HostBox rect{static_cast<std::byte*>(host) + first_byte(r.host_origin, r.host_row, r.host_slice),
                     r.host_row,
                     r.host_slice,
                     r.region[0],
                     r.region[1],
                     r.region[2]};
  return transfer_box({queue, buffer, type, blocking}, to_device ? CommandType::write_rect : CommandType::read_rect,
                      message, rect, wait_list);
}

// The position of a buffer in the buffer that is not a sub-buffer.
struct Position {
  cl_mem memory;
  std::size_t offset;
};
Position position_of(cl_mem memory) {
  Position p{memory, 0};
  for (; p.memory->parent; p.memory = p.memory->parent.get()) p.offset += p.memory->offset;
  return p;
}

bool overlap(std::size_t a, std::size_t b, std::size_t size) { return a < b + size && b < a + size; }

// Whether two boxes of one buffer overlap, as the standard defines CL_MEM_COPY_OVERLAP: in each dimension, and for
// boxes that extend beyond a row or slice in the range of bytes from first to last.
bool boxes_overlap(const std::size_t* from, const std::size_t* to, const std::size_t* region, std::size_t row,
                   std::size_t slice) {
  bool all_overlap = true;
  for (int i = 0; i < 3; ++i) all_overlap &= overlap(from[i], to[i], region[i]);
  if (all_overlap) return true;
  const auto excess = [](std::size_t end, std::size_t limit) { return end > limit ? end - limit : 0; };
  const auto reaches = [&](int i, std::size_t limit) {
    const std::size_t a = excess(from[i] + region[i], limit), b = excess(to[i] + region[i], limit);
    return (a != 0 && a > to[i]) || (b != 0 && b > from[i]);
  };
  if (!reaches(0, row) && !(region[2] > 1 && reaches(1, slice / row))) return false;
  const std::size_t span = region[2] * slice + region[1] * row + region[0];
  return overlap(first_byte(from, row, slice), first_byte(to, row, slice), span);
}

}  // namespace

cl_int enqueue_read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                           std::size_t size, void* host, cl_uint count, const cl_event* list, cl_event* event_out) {
  return guarded([&] {
    return transfer_linear(queue, buffer, blocking != 0, false, offset, size, host, {count, list, event_out});
  });
}

cl_int enqueue_write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                            std::size_t size, const void* host, cl_uint count, const cl_event* list,
                            cl_event* event_out) {
  return guarded([&] {
    return transfer_linear(queue, buffer, blocking != 0, true, offset, size, const_cast<void*>(host),
                           {count, list, event_out});
  });
}

cl_int enqueue_read_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const std::size_t* origin,
                                const std::size_t* host_origin, const std::size_t* region, std::size_t row,
                                std::size_t slice, std::size_t host_row, std::size_t host_slice, void* host,
                                cl_uint count, const cl_event* list, cl_event* event_out) {
  return guarded([&] {
    return transfer_rect(queue, buffer, blocking != 0, false,
                         {origin, host_origin, region, row, slice, host_row, host_slice}, host,
                         {count, list, event_out});
  });
}

cl_int enqueue_write_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const std::size_t* origin,
                                 const std::size_t* host_origin, const std::size_t* region, std::size_t row,
                                 std::size_t slice, std::size_t host_row, std::size_t host_slice, const void* host,
                                 cl_uint count, const cl_event* list, cl_event* event_out) {
  return guarded([&] {
    return transfer_rect(queue, buffer, blocking != 0, true,
                         {origin, host_origin, region, row, slice, host_row, host_slice}, const_cast<void*>(host),
                         {count, list, event_out});
  });
}

cl_int enqueue_copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t from_offset,
                           std::size_t to_offset, std::size_t size, cl_uint count, const cl_event* list,
                           cl_event* event_out) {
  return guarded([&]() -> cl_int {
    const WaitList wait_list{count, list, event_out};
    if (const cl_int error = check_buffer(queue, from, wait_list); error != CL_SUCCESS) return error;
    if (const cl_int error = check_buffer(queue, to, wait_list); error != CL_SUCCESS) return error;
    if (!fits(from_offset, size, from->backed_size()) || !fits(to_offset, size, to->backed_size()))
      return CL_INVALID_VALUE;
    if (size == 0) {
      const cl_int error = connection().native_result(NonstandardCall::copy_of_nothing);
      return error != CL_SUCCESS ? error : enqueue(CommandType::marker, CL_COMMAND_COPY_BUFFER, queue, wait_list);
    }
    const Position a = position_of(from), b = position_of(to);
    if (a.memory == b.memory && overlap(a.offset + from_offset, b.offset + to_offset, size)) {
      const cl_int error = from != to ? connection().native_result(NonstandardCall::copy_over_sub_buffer)
                           : from_offset == to_offset ? connection().native_result(NonstandardCall::copy_to_same_place)
                                                      : CL_MEM_COPY_OVERLAP;
      if (error != CL_SUCCESS) return error;
    }
    Copy copy;
    copy.from = from->id;
    copy.to = to->id;
    copy.from_offset = from_offset;
    copy.to_offset = to_offset;
    copy.size = size;
    return enqueue(CommandType::copy, CL_COMMAND_COPY_BUFFER, queue, wait_list, copy);
  });
}

cl_int enqueue_copy_buffer_rect(cl_command_queue queue, cl_mem from, cl_mem to, const std::size_t* from_origin,
                                const std::size_t* to_origin, const std::size_t* region, std::size_t from_row,
                                std::size_t from_slice, std::size_t to_row, std::size_t to_slice, cl_uint count,
                                const cl_event* list, cl_event* event_out) {
  return guarded([&]() -> cl_int {
    const WaitList wait_list{count, list, event_out};
    if (const cl_int error = check_buffer(queue, from, wait_list); error != CL_SUCCESS) return error;
    if (const cl_int error = check_buffer(queue, to, wait_list); error != CL_SUCCESS) return error;
    if (from_origin == nullptr || to_origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
    if (empty(region)) {
      return enqueue_empty(region, NonstandardCall::flat_copy_rect, NonstandardCall::empty_copy_rect,
                           CL_COMMAND_COPY_BUFFER_RECT, queue, wait_list);
    }
    if (!set_pitches(region, from_row, from_slice) || !set_pitches(region, to_row, to_slice)) return CL_INVALID_VALUE;
    const bool two_pitches = from == to && (from_row != to_row || from_slice != to_slice);
    if (two_pitches) {
      if (const cl_int error = connection().native_result(NonstandardCall::copy_rect_two_pitches); error != CL_SUCCESS)
        return error;
    }
    if (!fits(first_byte(from_origin, from_row, from_slice), extent(region, from_row, from_slice),
              from->backed_size()) ||
        !fits(first_byte(to_origin, to_row, to_slice), extent(region, to_row, to_slice), to->backed_size())) {
      return CL_INVALID_VALUE;
    }
    if (from == to && !two_pitches && boxes_overlap(from_origin, to_origin, region, from_row, from_slice)) {
      if (const cl_int error = connection().native_result(NonstandardCall::overlapping_copy_rect); error != CL_SUCCESS)
        return error;
    }
    RectCopy copy;
    copy.from = from->id;
    copy.to = to->id;
    copy3(copy.from_origin, from_origin);
    copy3(copy.to_origin, to_origin);
    copy3(copy.region, region);
    copy.from_row = from_row;
    copy.from_slice = from_slice;
    copy.to_row = to_row;
    copy.to_slice = to_slice;
    return enqueue(CommandType::copy_rect, CL_COMMAND_COPY_BUFFER_RECT, queue, wait_list, copy);
  });
}

cl_int enqueue_fill_buffer(cl_command_queue queue, cl_mem buffer, const void* pattern, std::size_t pattern_size,
                           std::size_t offset, std::size_t size, cl_uint count, const cl_event* list,
                           cl_event* event_out) {
  return guarded([&]() -> cl_int {
    const WaitList wait_list{count, list, event_out};
    if (const cl_int error = check_buffer(queue, buffer, wait_list); error != CL_SUCCESS) return error;
    if (!fits(offset, size, buffer->backed_size()) || pattern == nullptr) return CL_INVALID_VALUE;
    if (!std::has_single_bit(pattern_size) || pattern_size > 128) return CL_INVALID_VALUE;
    if (offset % pattern_size != 0) {
      if (const cl_int error = connection().native_result(NonstandardCall::unaligned_fill_offset); error != CL_SUCCESS)
        return error;
    }
    if (size % pattern_size != 0) {
      if (const cl_int error = connection().native_result(NonstandardCall::unaligned_fill_size); error != CL_SUCCESS)
        return error;
    }
    if (size == 0) return enqueue(CommandType::marker, CL_COMMAND_FILL_BUFFER, queue, wait_list);
    Fill fill;
    fill.memory = buffer->id;
    fill.offset = offset;
    fill.size = size;
    fill.pattern_size = pattern_size;
    std::memcpy(fill.pattern, pattern, pattern_size);
    return enqueue(CommandType::fill, CL_COMMAND_FILL_BUFFER, queue, wait_list, fill);
  });
}

}  // namespace wm::runtime::client
