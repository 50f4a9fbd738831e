// Mapping: an application sees a copy in its own memory, read when it maps and written back when it unmaps.
#include "runtime/driver/image.h"
#include "runtime/driver/memory.h"

namespace wm::runtime::driver {
namespace {

constexpr cl_map_flags kMapFlags = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
constexpr cl_map_flags kMapWrites = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

cl_int check_flags(cl_mem memory, cl_map_flags flags) {
  if ((flags & ~kMapFlags) != 0) {
    if (const cl_int bad = link().natively(Question::map_unknown_flags); bad != CL_SUCCESS) return bad;
  }
  return host_may(memory, (flags & CL_MAP_READ) != 0, (flags & kMapWrites) != 0);
}

// What is there before may be lost.
bool unread(cl_map_flags flags) { return (flags & kMapFlags) == CL_MAP_WRITE_INVALIDATE_REGION; }

void remember(cl_mem memory, void* at, const MappedRegion& region) {
  const std::lock_guard lock(memory->mutex);
  memory->maps.emplace(at, region);
}

void forget(cl_mem memory, void* at) {
  const std::lock_guard lock(memory->mutex);
  if (const auto it = memory->maps.find(at); it != memory->maps.end()) memory->maps.erase(it);
}

// Where the buffer itself is what the application sees, nothing moves.
bool sees_itself(cl_mem memory) { return memory->host == nullptr && memory->in_place() != nullptr; }

// A command that only takes its place among the others.
cl_int in_turn(const Movement& how, const Waits& waits) {
  cl_event event = nullptr;
  const cl_int status = enqueue(Work::marker, how.type, how.queue, {waits.count, waits.list, &event});
  if (status != CL_SUCCESS) return status;
  const std::int32_t ended = how.blocking ? link().wait(event->slot) : 0;
  if (waits.out != nullptr) {
    *waits.out = event;
  } else {
    release(event);
  }
  return ended < 0 ? ended : CL_SUCCESS;
}

}  // namespace

void* enqueue_map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                         std::size_t offset, std::size_t size, cl_uint count, const cl_event* list, cl_event* event,
                         cl_int* out) {
  return making(out, [&](cl_int& status) -> void* {
    const Waits waits{count, list, event};
    status = check_buffer(queue, buffer, waits);
    if (status == CL_SUCCESS && !inside(offset, size, buffer->backed())) status = CL_INVALID_VALUE;
    if (status == CL_SUCCESS) status = check_flags(buffer, flags);
    if (status != CL_SUCCESS) return nullptr;
    if (size == 0) status = link().natively(Question::map_of_nothing);
    if (status != CL_SUCCESS) return nullptr;
    std::byte* at = buffer->mapped_base() + offset;
    MappedRegion region;
    region.origin[0] = offset;
    region.region[0] = size;
    region.flags = flags;
    remember(buffer, at, region);
    const Movement how{queue, buffer, CL_COMMAND_MAP_BUFFER, blocking != 0};
    status = size == 0 || unread(flags) || sees_itself(buffer) ? in_turn(how, waits)
                                                               : move_linear(how, false, offset, size, at, waits);
    if (status != CL_SUCCESS) forget(buffer, at);
    return status == CL_SUCCESS ? at : nullptr;
  });
}

void* enqueue_map_image(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                        const std::size_t* origin, const std::size_t* region, std::size_t* row_pitch,
                        std::size_t* slice_pitch, cl_uint count, const cl_event* list, cl_event* event, cl_int* out) {
  return making(out, [&](cl_int& status) -> void* {
    const Waits waits{count, list, event};
    status = check_image(queue, image, origin, region, waits);
    if (status == CL_SUCCESS && row_pitch == nullptr) status = CL_INVALID_VALUE;
    if (status == CL_SUCCESS && slice_pitch == nullptr && has_slices(image)) status = CL_INVALID_VALUE;
    if (status == CL_SUCCESS) status = check_flags(image, flags);
    if (status != CL_SUCCESS) return nullptr;
    const std::size_t row = image->row, slice = image->slice;
    MappedRegion mapped;
    std::copy_n(origin, 3, mapped.origin);
    std::copy_n(region, 3, mapped.region);
    mapped.flags = flags;
    const std::size_t second = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slice : row;
    std::byte* at = image->mapped_base() + origin[2] * slice + origin[1] * second + origin[0] * image->element;
    remember(image, at, mapped);
    const Movement how{queue, image, CL_COMMAND_MAP_IMAGE, blocking != 0};
    status = unread(flags) ? in_turn(how, waits)
                           : move_rect(how, Work::read_image, image_box(origin, region),
                                       host_box(image, at, region, row, slice), waits);
    if (status != CL_SUCCESS) {
      forget(image, at);
      return nullptr;
    }
    *row_pitch = row;
    if (slice_pitch != nullptr) *slice_pitch = has_slices(image) ? slice : 0;
    return at;
  });
}

cl_int enqueue_unmap_mem_object(cl_command_queue queue, cl_mem memory, void* at, cl_uint count, const cl_event* list,
                                cl_event* out) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    if (!valid(memory)) return CL_INVALID_MEM_OBJECT;
    if (memory->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
    const Waits waits{count, list, out};
    if (const cl_int bad = check(waits, queue->context.get()); bad != CL_SUCCESS) return bad;
    MappedRegion mapped;
    {
      const std::lock_guard lock(memory->mutex);
      const auto it = memory->maps.find(at);
      if (it == memory->maps.end()) return CL_INVALID_VALUE;
      mapped = it->second;
      memory->maps.erase(it);
    }
    const Movement how{queue, memory, CL_COMMAND_UNMAP_MEM_OBJECT, false};
    if ((mapped.flags & kMapWrites) == 0 || mapped.region[0] == 0 || sees_itself(memory)) return in_turn(how, waits);
    if (!memory->is_image()) {
      return move_linear(how, true, mapped.origin[0], mapped.region[0], static_cast<std::byte*>(at), waits);
    }
    return move_rect(how, Work::write_image, image_box(mapped.origin, mapped.region),
                     host_box(memory, static_cast<std::byte*>(at), mapped.region, memory->row, memory->slice), waits);
  });
}

}  // namespace wm::runtime::driver
