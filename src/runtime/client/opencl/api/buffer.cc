// Creating buffers and sub-buffers, and the parts that all memory objects share.
#include <algorithm>
#include <chrono>

#include "runtime/client/opencl/api/memory.h"

_cl_mem::~_cl_mem() {
  using namespace wm::runtime;
  client::process().remove_memory(this);
  const EventId event = destructor_callbacks.empty() ? kNoEvent : client::connection().allocate_event(CL_SUBMITTED);
  Writer message(Op::release);
  message.put(Release{id, ObjectKind::memory, event == kNoEvent ? 0 : event + 1});
  client::connection().post(message);
  if (!destructor_callbacks.empty()) client::call_destructor_callbacks(this, std::move(destructor_callbacks), event);
}

std::byte* _cl_mem::shared_bytes() const {
  if (is_image()) return nullptr;
  if (!parent) return shared_mapping.bytes().data();
  std::byte* base = parent->shared_bytes();
  return base == nullptr ? nullptr : base + offset;
}

std::byte* _cl_mem::map_base() {
  if (host_ptr != nullptr) return static_cast<std::byte*>(host_ptr);
  if (std::byte* shared = shared_bytes(); shared != nullptr) return shared;
  if (parent && !is_image()) return parent->map_base() + offset;
  const std::lock_guard lock(mutex);
  if (!map_copy) {
    constexpr std::size_t kPage = 4096;
    map_copy.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage)));
    if (!map_copy) throw std::bad_alloc();
  }
  return map_copy.get();
}

namespace wm::runtime::client {

// Calls them on this thread if the event completes soon, else on the thread of the event callbacks. The callbacks get
// the address of the memory object, which does not exist any more.
void call_destructor_callbacks(cl_mem memory, DestructorCallbacks<cl_mem> destructor_callbacks, EventId event) {
  struct Callbacks {
    cl_mem memory;
    DestructorCallbacks<cl_mem> destructor_callbacks;
  };
  constexpr auto kCallAll = [](cl_event, cl_int, void* data) {
    const std::unique_ptr<Callbacks> callbacks(static_cast<Callbacks*>(data));
    for (auto it = callbacks->destructor_callbacks.rbegin(); it != callbacks->destructor_callbacks.rend(); ++it)
      it->first(callbacks->memory, it->second);
  };
  auto callbacks = std::make_unique<Callbacks>(Callbacks{memory, std::move(destructor_callbacks)});
  constexpr int kMaxPolls = 100;
  for (int i = 0; event != kNoEvent && connection().state(event) > 0 && i < kMaxPolls; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (event == kNoEvent || connection().state(event) <= 0) {
    if (event != kNoEvent) connection().release_event(event);
    return kCallAll(nullptr, CL_COMPLETE, callbacks.release());
  }
  auto* pending = new _cl_event();
  pending->id = event;
  process().event_callbacks().add(connection(), pending, CL_COMPLETE, kCallAll, callbacks.release());
  release(pending);
}

namespace {

constexpr cl_mem_flags kAccess = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
constexpr cl_mem_flags kHostAccess = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags kHostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

bool at_most_one(cl_mem_flags flags) { return (flags & (flags - 1)) == 0; }

}  // namespace

cl_int check_memory_flags(cl_mem_flags flags, cl_mem_flags also_allowed) {
  if ((flags & ~(kAccess | kHostAccess | kHostPointer | also_allowed)) != 0) return CL_INVALID_VALUE;
  if (!at_most_one(flags & kAccess) || !at_most_one(flags & kHostAccess)) return CL_INVALID_VALUE;
  if ((flags & CL_MEM_USE_HOST_PTR) != 0 && (flags & CL_MEM_ALLOC_HOST_PTR) != 0) return CL_INVALID_VALUE;
  constexpr cl_mem_flags kBothWays = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
  if ((flags & kBothWays) == kBothWays) return connection().native_result(NonstandardCall::host_pointer_both_ways);
  return CL_SUCCESS;
}

cl_int check_host_pointer(cl_mem_flags flags, const void* host) {
  const bool needed = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  return needed == (host != nullptr) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

cl_mem_flags device_flags(cl_mem_flags flags) { return flags & (kAccess | CL_MEM_KERNEL_READ_AND_WRITE); }

namespace {

cl_int check_sub_buffer_flags(cl_mem_flags flags) {
  if ((flags & ~(kAccess | kHostAccess)) != 0) {
    if (const cl_int error = connection().native_result(NonstandardCall::sub_buffer_unknown_flags); error != CL_SUCCESS)
      return error;
  }
  if (!at_most_one(flags & kAccess)) {
    if (const cl_int error = connection().native_result(NonstandardCall::sub_buffer_two_accesses); error != CL_SUCCESS)
      return error;
  }
  return at_most_one(flags & kHostAccess) ? CL_SUCCESS
                                          : connection().native_result(NonstandardCall::sub_buffer_two_hosts);
}

cl_mem make_buffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host, cl_int& status) {
  if (!valid(context)) return refuse<_cl_mem>(status, CL_INVALID_CONTEXT);
  if (flags == 0) flags = CL_MEM_READ_WRITE;
  status = check_memory_flags(flags, 0);
  if (status != CL_SUCCESS) return nullptr;
  const auto max_size = process().device_value<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  if (size == 0) return refuse<_cl_mem>(status, CL_INVALID_BUFFER_SIZE);
  if (max_size != 0 && size > max_size) status = connection().native_result(NonstandardCall::large_buffer);
  if (status != CL_SUCCESS) return nullptr;
  status = check_host_pointer(flags, host);
  if (status != CL_SUCCESS) return nullptr;
  auto memory = std::make_unique<_cl_mem>();
  memory->context = Retained<_cl_context>(context);
  memory->flags = flags;
  if ((flags & kAccess) == 0 && connection().native_result(NonstandardCall::shown_access) != 0)
    memory->flags |= CL_MEM_READ_WRITE;
  memory->size = size;
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) memory->host_ptr = host;
  memory->id = connection().new_object_id();
  Writer message(Op::create_buffer);
  const std::uint32_t region = connection().request_buffer_region(size, memory->shared_mapping);
  message.put(CreateBuffer{memory->id, device_flags(flags), size, region, 0});
  status = connection().call(message);
  if (status == CL_SUCCESS && host != nullptr) {
    status = transfer_buffer({process().internal_queue(), memory.get(), CL_COMMAND_WRITE_BUFFER, true}, true, 0, size,
                             static_cast<std::byte*>(host), kNoWaitList);
  }
  if (status != CL_SUCCESS) return nullptr;
  process().add_memory(memory.get());
  return memory.release();
}

}  // namespace

cl_mem create_buffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host, cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) { return make_buffer(context, flags, size, host, status); });
}

cl_mem create_buffer_with_properties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                                     std::size_t size, void* host, cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_mem {
    if (properties != nullptr && *properties != 0) return refuse<_cl_mem>(status, CL_INVALID_PROPERTY);
    cl_mem memory = make_buffer(context, flags, size, host, status);
    if (memory != nullptr && properties != nullptr) memory->properties = {0};
    return memory;
  });
}

cl_mem create_sub_buffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void* create_info,
                         cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_mem {
    if (!valid(parent) || parent->is_image()) return refuse<_cl_mem>(status, CL_INVALID_MEM_OBJECT);
    if (parent->parent) status = connection().native_result(NonstandardCall::sub_buffer_of_sub_buffer);
    if (status != CL_SUCCESS) return nullptr;
    if (create_info == nullptr || type != CL_BUFFER_CREATE_TYPE_REGION)
      return refuse<_cl_mem>(status, CL_INVALID_VALUE);
    const cl_mem_flags parent_flags = parent->flags;
    if ((flags & kHostPointer) != 0) return refuse<_cl_mem>(status, CL_INVALID_VALUE);
    status = check_sub_buffer_flags(flags);
    if (status != CL_SUCCESS) return nullptr;
    flags &= kAccess | kHostAccess;
    const bool more_access =
        ((parent_flags & CL_MEM_WRITE_ONLY) != 0 && (flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) != 0) ||
        ((parent_flags & CL_MEM_READ_ONLY) != 0 && (flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) != 0) ||
        ((parent_flags & CL_MEM_HOST_WRITE_ONLY) != 0 && (flags & CL_MEM_HOST_READ_ONLY) != 0) ||
        ((parent_flags & CL_MEM_HOST_READ_ONLY) != 0 && (flags & CL_MEM_HOST_WRITE_ONLY) != 0) ||
        ((parent_flags & CL_MEM_HOST_NO_ACCESS) != 0 &&
         (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) != 0);
    if (more_access) return refuse<_cl_mem>(status, CL_INVALID_VALUE);
    if ((flags & kAccess) == 0) flags |= parent_flags & kAccess;
    if ((flags & kHostAccess) == 0) flags |= parent_flags & kHostAccess;
    flags |= parent_flags & kHostPointer;
    const auto& region = *static_cast<const cl_buffer_region*>(create_info);
    if (region.size == 0) return refuse<_cl_mem>(status, CL_INVALID_BUFFER_SIZE);
    if (region.origin >= parent->size) return refuse<_cl_mem>(status, CL_INVALID_VALUE);
    if (region.size > parent->size - region.origin)
      status = connection().native_result(NonstandardCall::sub_buffer_beyond);
    const auto bits = process().device_value<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN);
    if (status == CL_SUCCESS && bits >= 8 && region.origin % (bits / 8) != 0) {
      status = connection().native_result(NonstandardCall::sub_buffer_misaligned);
    }
    if (status != CL_SUCCESS) return nullptr;
    auto memory = std::make_unique<_cl_mem>();
    memory->context = parent->context;
    memory->flags = flags;
    memory->size = region.size;
    memory->parent = Retained<_cl_mem>(parent);
    memory->offset = region.origin;
    if (parent->host_ptr != nullptr) memory->host_ptr = static_cast<std::byte*>(parent->host_ptr) + region.origin;
    memory->id = connection().new_object_id();
    Writer message(Op::create_sub_buffer);
    message.put(CreateSubBuffer{memory->id, parent->id, device_flags(flags), region.origin, region.size});
    status = connection().call(message);
    if (status != CL_SUCCESS) return nullptr;
    process().add_memory(memory.get());
    return memory.release();
  });
}

cl_int retain_mem_object(cl_mem memory) { return retain_checked(memory, CL_INVALID_MEM_OBJECT); }
cl_int release_mem_object(cl_mem memory) {
  return guarded([&] { return release_checked(memory, CL_INVALID_MEM_OBJECT); });
}

cl_int get_mem_object_info(cl_mem memory, cl_mem_info name, std::size_t size, void* value, std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(memory)) return CL_INVALID_MEM_OBJECT;
    const Info info{size, value, size_ret};
    switch (name) {
      case CL_MEM_TYPE:
        return info.put(memory->type);
      case CL_MEM_FLAGS:
        return info.put(memory->flags);
      case CL_MEM_SIZE:
        return info.put(memory->size);
      case CL_MEM_HOST_PTR:
        return info.put(memory->host_ptr);
      case CL_MEM_MAP_COUNT: {
        const std::lock_guard lock(memory->mutex);
        return info.put(static_cast<cl_uint>(memory->maps.size()));
      }
      case CL_MEM_REFERENCE_COUNT:
        return info.put(cl_uint{memory->references.load()});
      case CL_MEM_CONTEXT:
        return info.put(memory->context.get());
      case CL_MEM_ASSOCIATED_MEMOBJECT:
        return info.put(memory->parent.get());
      case CL_MEM_OFFSET: {
        std::size_t offset = 0;  // in the buffer that is not a sub-buffer
        for (cl_mem m = memory; m->parent && !m->is_image(); m = m->parent.get()) offset += m->offset;
        return info.put(offset);
      }
      case CL_MEM_USES_SVM_POINTER:
        return info.put(cl_bool{CL_FALSE});
      case CL_MEM_PROPERTIES:
        return info.put_list(memory->properties);
      default:
        return CL_INVALID_VALUE;
    }
  });
}

cl_int set_mem_object_destructor_callback(cl_mem memory, void(CL_CALLBACK* call)(cl_mem, void*), void* data) {
  return guarded([&]() -> cl_int {
    if (!valid(memory)) return CL_INVALID_MEM_OBJECT;
    if (call == nullptr) return CL_INVALID_VALUE;
    const std::lock_guard lock(memory->mutex);
    memory->destructor_callbacks.emplace_back(call, data);
    return CL_SUCCESS;
  });
}

}  // namespace wm::runtime::client
