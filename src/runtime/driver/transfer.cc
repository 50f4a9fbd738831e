// Commands on buffers: read, write, copy, fill, and their rectangles.
#include <bit>

#include "runtime/driver/memory.h"

namespace wm::runtime::driver {
namespace {

cl_int transfer(cl_command_queue queue, cl_mem buffer, bool blocking, bool to_device, std::size_t offset,
                std::size_t size, void* host, const Waits& waits) {
  if (const cl_int bad = check_buffer(queue, buffer, waits); bad != CL_SUCCESS) return bad;
  if (const cl_int bad = host_may(buffer, !to_device, to_device); bad != CL_SUCCESS) return bad;
  if (host == nullptr || !inside(offset, size, buffer->backed())) return CL_INVALID_VALUE;
  const cl_command_type type = to_device ? CL_COMMAND_WRITE_BUFFER : CL_COMMAND_READ_BUFFER;
  if (size == 0) return enqueue(Work::marker, type, queue, waits);
  return move_linear({queue, buffer, type, blocking}, to_device, offset, size, static_cast<std::byte*>(host), waits);
}

// The pitches of a rectangle, filled in where they are 0; false where they cannot be.
bool pitches(const std::size_t* region, std::size_t& row, std::size_t& slice) {
  if (row == 0) row = region[0];
  if (slice == 0) slice = row * region[1];
  if (row < region[0] || slice < row * region[1]) return false;
  return slice % row == 0 || link().natively(Question::crooked_slice_pitch) == CL_SUCCESS;
}

std::size_t first_byte(const std::size_t* origin, std::size_t row, std::size_t slice) {
  return origin[2] * slice + origin[1] * row + origin[0];
}
std::size_t extent(const std::size_t* region, std::size_t row, std::size_t slice) {
  return (region[2] - 1) * slice + (region[1] - 1) * row + region[0];
}
bool empty(const std::size_t* region) { return region[0] == 0 || region[1] == 0 || region[2] == 0; }

// A rectangle of nothing: as the device's driver has it, which may also be a command that does nothing.
cl_int nothing(const std::size_t* region, Question flat, Question otherwise, cl_command_type type,
               cl_command_queue queue, const Waits& waits) {
  const bool only_flat = region[0] != 0 && region[1] != 0;
  const cl_int bad = link().natively(only_flat ? flat : otherwise);
  return bad != CL_SUCCESS ? bad : enqueue(Work::marker, type, queue, waits);
}

void copy3(std::uint64_t* to, const std::size_t* from) { std::copy_n(from, 3, to); }

struct Rect {
  const std::size_t *buffer_origin, *host_origin, *region;
  std::size_t buffer_row, buffer_slice, host_row, host_slice;
};

cl_int transfer_rect(cl_command_queue queue, cl_mem buffer, bool blocking, bool to_device, Rect r, void* host,
                     const Waits& waits) {
  if (const cl_int bad = check_buffer(queue, buffer, waits); bad != CL_SUCCESS) return bad;
  if (const cl_int bad = host_may(buffer, !to_device, to_device); bad != CL_SUCCESS) return bad;
  if (host == nullptr || r.buffer_origin == nullptr || r.host_origin == nullptr || r.region == nullptr) {
    return CL_INVALID_VALUE;
  }
  const auto type =
      static_cast<cl_command_type>(to_device ? CL_COMMAND_WRITE_BUFFER_RECT : CL_COMMAND_READ_BUFFER_RECT);
  if (empty(r.region)) {
    if (first_byte(r.buffer_origin, r.buffer_row, r.buffer_slice) > buffer->backed()) return CL_INVALID_VALUE;
    return to_device ? nothing(r.region, Question::flat_write_rect, Question::empty_write_rect, type, queue, waits)
                     : nothing(r.region, Question::flat_read_rect, Question::empty_read_rect, type, queue, waits);
  }
  if (!pitches(r.region, r.buffer_row, r.buffer_slice) || !pitches(r.region, r.host_row, r.host_slice)) {
    return CL_INVALID_VALUE;
  }
  if (!inside(first_byte(r.buffer_origin, r.buffer_row, r.buffer_slice), extent(r.region, r.buffer_row, r.buffer_slice),
              buffer->backed())) {
    return CL_INVALID_VALUE;
  }
  RectTransfer message;
  copy3(message.origin, r.buffer_origin);
  copy3(message.region, r.region);
  message.row_pitch = r.buffer_row;
  message.slice_pitch = r.buffer_slice;
  const HostRect rect{static_cast<std::byte*>(host) + first_byte(r.host_origin, r.host_row, r.host_slice),
                      r.host_row,
                      r.host_slice,
                      r.region[0],
                      r.region[1],
                      r.region[2]};
  return move_rect({queue, buffer, type, blocking}, to_device ? Work::write_rect : Work::read_rect, message, rect,
                   waits);
}

// Where a buffer lies in the one that was not made of another.
struct Place {
  cl_mem memory;
  std::size_t offset;
};
Place place(cl_mem memory) {
  Place p{memory, 0};
  for (; p.memory->parent; p.memory = p.memory->parent.get()) p.offset += p.memory->offset;
  return p;
}

bool overlap(std::size_t a, std::size_t b, std::size_t size) { return a < b + size && b < a + size; }

// Whether two boxes of one buffer meet, as the standard defines it (CL_MEM_COPY_OVERLAP): dimension by dimension, and
// for boxes that run over the end of a row or slice by the bytes they span.
bool boxes_overlap(const std::size_t* from, const std::size_t* to, const std::size_t* region, std::size_t row,
                   std::size_t slice) {
  bool meet = true;
  for (int i = 0; i < 3; ++i) meet &= overlap(from[i], to[i], region[i]);
  if (meet) return true;
  const auto beyond = [](std::size_t end, std::size_t limit) { return end > limit ? end - limit : 0; };
  const auto runs_into = [&](int i, std::size_t limit) {
    const std::size_t a = beyond(from[i] + region[i], limit), b = beyond(to[i] + region[i], limit);
    return (a != 0 && a > to[i]) || (b != 0 && b > from[i]);
  };
  if (!runs_into(0, row) && !(region[2] > 1 && runs_into(1, slice / row))) return false;
  const std::size_t span = region[2] * slice + region[1] * row + region[0];
  return overlap(first_byte(from, row, slice), first_byte(to, row, slice), span);
}

}  // namespace

cl_int enqueue_read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                           std::size_t size, void* host, cl_uint count, const cl_event* list, cl_event* out) {
  return guarded([&] { return transfer(queue, buffer, blocking != 0, false, offset, size, host, {count, list, out}); });
}

cl_int enqueue_write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, std::size_t offset,
                            std::size_t size, const void* host, cl_uint count, const cl_event* list, cl_event* out) {
  return guarded([&] {
    return transfer(queue, buffer, blocking != 0, true, offset, size, const_cast<void*>(host), {count, list, out});
  });
}

cl_int enqueue_read_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const std::size_t* origin,
                                const std::size_t* host_origin, const std::size_t* region, std::size_t row,
                                std::size_t slice, std::size_t host_row, std::size_t host_slice, void* host,
                                cl_uint count, const cl_event* list, cl_event* out) {
  return guarded([&] {
    return transfer_rect(queue, buffer, blocking != 0, false,
                         {origin, host_origin, region, row, slice, host_row, host_slice}, host, {count, list, out});
  });
}

cl_int enqueue_write_buffer_rect(cl_command_queue queue, cl_mem buffer, cl_bool blocking, const std::size_t* origin,
                                 const std::size_t* host_origin, const std::size_t* region, std::size_t row,
                                 std::size_t slice, std::size_t host_row, std::size_t host_slice, const void* host,
                                 cl_uint count, const cl_event* list, cl_event* out) {
  return guarded([&] {
    return transfer_rect(queue, buffer, blocking != 0, true,
                         {origin, host_origin, region, row, slice, host_row, host_slice}, const_cast<void*>(host),
                         {count, list, out});
  });
}

cl_int enqueue_copy_buffer(cl_command_queue queue, cl_mem from, cl_mem to, std::size_t from_offset,
                           std::size_t to_offset, std::size_t size, cl_uint count, const cl_event* list,
                           cl_event* out) {
  return guarded([&]() -> cl_int {
    const Waits waits{count, list, out};
    if (const cl_int bad = check_buffer(queue, from, waits); bad != CL_SUCCESS) return bad;
    if (const cl_int bad = check_buffer(queue, to, waits); bad != CL_SUCCESS) return bad;
    if (!inside(from_offset, size, from->backed()) || !inside(to_offset, size, to->backed())) return CL_INVALID_VALUE;
    if (size == 0) {
      const cl_int bad = link().natively(Question::copy_of_nothing);
      return bad != CL_SUCCESS ? bad : enqueue(Work::marker, CL_COMMAND_COPY_BUFFER, queue, waits);
    }
    const Place a = place(from), b = place(to);
    if (a.memory == b.memory && overlap(a.offset + from_offset, b.offset + to_offset, size)) {
      const cl_int bad = from != to                 ? link().natively(Question::copy_over_sub_buffer)
                         : from_offset == to_offset ? link().natively(Question::copy_to_same_place)
                                                    : CL_MEM_COPY_OVERLAP;
      if (bad != CL_SUCCESS) return bad;
    }
    Copy copy;
    copy.from = from->name;
    copy.to = to->name;
    copy.from_offset = from_offset;
    copy.to_offset = to_offset;
    copy.size = size;
    return enqueue(Work::copy, CL_COMMAND_COPY_BUFFER, queue, waits, copy);
  });
}

cl_int enqueue_copy_buffer_rect(cl_command_queue queue, cl_mem from, cl_mem to, const std::size_t* from_origin,
                                const std::size_t* to_origin, const std::size_t* region, std::size_t from_row,
                                std::size_t from_slice, std::size_t to_row, std::size_t to_slice, cl_uint count,
                                const cl_event* list, cl_event* out) {
  return guarded([&]() -> cl_int {
    const Waits waits{count, list, out};
    if (const cl_int bad = check_buffer(queue, from, waits); bad != CL_SUCCESS) return bad;
    if (const cl_int bad = check_buffer(queue, to, waits); bad != CL_SUCCESS) return bad;
    if (from_origin == nullptr || to_origin == nullptr || region == nullptr) return CL_INVALID_VALUE;
    if (empty(region)) {
      return nothing(region, Question::flat_copy_rect, Question::empty_copy_rect, CL_COMMAND_COPY_BUFFER_RECT, queue,
                     waits);
    }
    if (!pitches(region, from_row, from_slice) || !pitches(region, to_row, to_slice)) return CL_INVALID_VALUE;
    const bool two_pitches = from == to && (from_row != to_row || from_slice != to_slice);
    if (two_pitches) {
      if (const cl_int bad = link().natively(Question::copy_rect_two_pitches); bad != CL_SUCCESS) return bad;
    }
    if (!inside(first_byte(from_origin, from_row, from_slice), extent(region, from_row, from_slice), from->backed()) ||
        !inside(first_byte(to_origin, to_row, to_slice), extent(region, to_row, to_slice), to->backed())) {
      return CL_INVALID_VALUE;
    }
    if (from == to && !two_pitches && boxes_overlap(from_origin, to_origin, region, from_row, from_slice)) {
      if (const cl_int bad = link().natively(Question::overlapping_copy_rect); bad != CL_SUCCESS) return bad;
    }
    RectCopy copy;
    copy.from = from->name;
    copy.to = to->name;
    copy3(copy.from_origin, from_origin);
    copy3(copy.to_origin, to_origin);
    copy3(copy.region, region);
    copy.from_row = from_row;
    copy.from_slice = from_slice;
    copy.to_row = to_row;
    copy.to_slice = to_slice;
    return enqueue(Work::copy_rect, CL_COMMAND_COPY_BUFFER_RECT, queue, waits, copy);
  });
}

cl_int enqueue_fill_buffer(cl_command_queue queue, cl_mem buffer, const void* pattern, std::size_t pattern_size,
                           std::size_t offset, std::size_t size, cl_uint count, const cl_event* list, cl_event* out) {
  return guarded([&]() -> cl_int {
    const Waits waits{count, list, out};
    if (const cl_int bad = check_buffer(queue, buffer, waits); bad != CL_SUCCESS) return bad;
    if (!inside(offset, size, buffer->backed()) || pattern == nullptr) return CL_INVALID_VALUE;
    if (!std::has_single_bit(pattern_size) || pattern_size > 128) return CL_INVALID_VALUE;
    if (offset % pattern_size != 0) {
      if (const cl_int bad = link().natively(Question::crooked_fill_offset); bad != CL_SUCCESS) return bad;
    }
    if (size % pattern_size != 0) {
      if (const cl_int bad = link().natively(Question::crooked_fill_size); bad != CL_SUCCESS) return bad;
    }
    if (size == 0) return enqueue(Work::marker, CL_COMMAND_FILL_BUFFER, queue, waits);
    Fill fill;
    fill.memory = buffer->name;
    fill.offset = offset;
    fill.size = size;
    fill.pattern_size = pattern_size;
    std::memcpy(fill.pattern, pattern, pattern_size);
    return enqueue(Work::fill, CL_COMMAND_FILL_BUFFER, queue, waits, fill);
  });
}

}  // namespace wm::runtime::driver
