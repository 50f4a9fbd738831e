// Mapping memory objects: the application gets a copy in its own memory, which is read from the device by the map
// command and written back by the unmap command.
#include "runtime/client/opencl/api/image.h"

namespace wm::runtime::client {
namespace {

constexpr cl_map_flags kMapFlags = CL_MAP_READ | CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;
constexpr cl_map_flags kMapWrites = CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION;

cl_int check_flags(cl_mem memory, cl_map_flags flags) {
  if ((flags & ~kMapFlags) != 0) {
    if (const cl_int error = connection().native_result(NonstandardCall::map_unknown_flags); error != CL_SUCCESS)
      return error;
  }
  return check_host_access(memory, (flags & CL_MAP_READ) != 0, (flags & kMapWrites) != 0);
}

// Whether the map command need not read the contents.
bool discards_contents(cl_map_flags flags) { return (flags & kMapFlags) == CL_MAP_WRITE_INVALIDATE_REGION; }

void add_map(cl_mem memory, void* at, const MappedRegion& region) {
  const std::lock_guard lock(memory->mutex);
  memory->maps.emplace(at, region);
}

void remove_map(cl_mem memory, void* at) {
  const std::lock_guard lock(memory->mutex);
  if (const auto it = memory->maps.find(at); it != memory->maps.end()) memory->maps.erase(it);
}

// Whether the application maps the buffer itself, so that no data is copied.
bool maps_shared_memory(cl_mem memory) { return memory->host_ptr == nullptr && memory->shared_bytes() != nullptr; }

// A command without a copy, which only keeps its place in the queue.
cl_int enqueue_marker_for(const HostTransfer& transfer, const WaitList& wait_list) {
  cl_event event = nullptr;
  const cl_int status =
      enqueue(CommandType::marker, transfer.type, transfer.queue, {wait_list.count, wait_list.events, &event});
  if (status != CL_SUCCESS) return status;
  const std::int32_t state = transfer.blocking ? connection().wait(event->id) : 0;
  if (wait_list.event != nullptr) {
    *wait_list.event = event;
  } else {
    release(event);
  }
  return state < 0 ? state : CL_SUCCESS;
}

}  // namespace

void* enqueue_map_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                         std::size_t offset, std::size_t size, cl_uint count, const cl_event* list, cl_event* event,
                         cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> void* {
    const WaitList wait_list{count, list, event};
    status = check_buffer(queue, buffer, wait_list);
    if (status == CL_SUCCESS && !fits(offset, size, buffer->backed_size())) status = CL_INVALID_VALUE;
    if (status == CL_SUCCESS) status = check_flags(buffer, flags);
    if (status != CL_SUCCESS) return nullptr;
    if (size == 0) status = connection().native_result(NonstandardCall::map_of_nothing);
    if (status != CL_SUCCESS) return nullptr;
    std::byte* at = buffer->map_base() + offset;
    MappedRegion region;
    region.origin[0] = offset;
    region.region[0] = size;
    region.flags = flags;
    add_map(buffer, at, region);
    const HostTransfer transfer{queue, buffer, CL_COMMAND_MAP_BUFFER, blocking != 0};
    status = size == 0 || discards_contents(flags) || maps_shared_memory(buffer)
                 ? enqueue_marker_for(transfer, wait_list)
                 : transfer_buffer(transfer, false, offset, size, at, wait_list);
    if (status != CL_SUCCESS) remove_map(buffer, at);
    return status == CL_SUCCESS ? at : nullptr;
  });
}

void* enqueue_map_image(cl_command_queue queue, cl_mem image, cl_bool blocking, cl_map_flags flags,
                        const std::size_t* origin, const std::size_t* region, std::size_t* row_pitch,
                        std::size_t* slice_pitch, cl_uint count, const cl_event* list, cl_event* event,
                        cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> void* {
    const WaitList wait_list{count, list, event};
    status = check_image(queue, image, origin, region, wait_list);
    if (status == CL_SUCCESS && row_pitch == nullptr) status = CL_INVALID_VALUE;
    if (status == CL_SUCCESS && slice_pitch == nullptr && has_slices(image)) status = CL_INVALID_VALUE;
    if (status == CL_SUCCESS) status = check_flags(image, flags);
    if (status != CL_SUCCESS) return nullptr;
    const std::size_t row = image->image.row_pitch, slice = image->image.slice_pitch;
    MappedRegion mapped;
    std::copy_n(origin, 3, mapped.origin);
    std::copy_n(region, 3, mapped.region);
    mapped.flags = flags;
    const std::size_t second = image->type == CL_MEM_OBJECT_IMAGE1D_ARRAY ? slice : row;
    std::byte* at = image->map_base() + origin[2] * slice + origin[1] * second + origin[0] * image->image.element_size;
    add_map(image, at, mapped);
    const HostTransfer transfer{queue, image, CL_COMMAND_MAP_IMAGE, blocking != 0};
    status = discards_contents(flags) ? enqueue_marker_for(transfer, wait_list)
                                      : transfer_box(transfer, CommandType::read_image, image_box(origin, region),
                                                     host_box(image, at, region, row, slice), wait_list);
    if (status != CL_SUCCESS) {
      remove_map(image, at);
      return nullptr;
    }
    *row_pitch = row;
    if (slice_pitch != nullptr) *slice_pitch = has_slices(image) ? slice : 0;
    return at;
  });
}

cl_int enqueue_unmap_mem_object(cl_command_queue queue, cl_mem memory, void* at, cl_uint count, const cl_event* list,
                                cl_event* event_out) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    if (!valid(memory)) return CL_INVALID_MEM_OBJECT;
    if (memory->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
    const WaitList wait_list{count, list, event_out};
    if (const cl_int error = check_wait_list(wait_list, queue->context.get()); error != CL_SUCCESS) return error;
    MappedRegion mapped;
    {
      const std::lock_guard lock(memory->mutex);
      const auto it = memory->maps.find(at);
      if (it == memory->maps.end()) return CL_INVALID_VALUE;
      mapped = it->second;
      memory->maps.erase(it);
    }
    const HostTransfer transfer{queue, memory, CL_COMMAND_UNMAP_MEM_OBJECT, false};
    if ((mapped.flags & kMapWrites) == 0 || mapped.region[0] == 0 || maps_shared_memory(memory))
      return enqueue_marker_for(transfer, wait_list);
    if (!memory->is_image()) {
      return transfer_buffer(transfer, true, mapped.origin[0], mapped.region[0], static_cast<std::byte*>(at),
                             wait_list);
    }
    return transfer_box(transfer, CommandType::write_image, image_box(mapped.origin, mapped.region),
                        host_box(memory, static_cast<std::byte*>(at), mapped.region, memory->image.row_pitch,
                                 memory->image.slice_pitch),
                        wait_list);
  });
}

}  // namespace wm::runtime::client
