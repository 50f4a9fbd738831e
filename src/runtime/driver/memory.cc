// Buffers and sub-buffers, and what all memory objects share.
#include "runtime/driver/memory.h"

#include <algorithm>
#include <chrono>

_cl_mem::~_cl_mem() {
  using namespace wm::runtime;
  driver::process().remove_memory(this);
  const std::uint32_t slot = farewells.empty() ? kNoSlot : driver::link().take_slot(CL_SUBMITTED);
  Writer message(Op::release);
  message.put(Release{name, Kind::memory, slot == kNoSlot ? 0 : slot + 1});
  driver::link().post(message);
  if (!farewells.empty()) driver::say_farewell(this, std::move(farewells), slot);
}

std::byte* _cl_mem::in_place() const {
  if (is_image()) return nullptr;
  if (!parent) return place.bytes().data();
  std::byte* base = parent->in_place();
  return base == nullptr ? nullptr : base + offset;
}

std::byte* _cl_mem::mapped_base() {
  if (host != nullptr) return static_cast<std::byte*>(host);
  if (std::byte* here = in_place(); here != nullptr) return here;
  if (parent && !is_image()) return parent->mapped_base() + offset;
  const std::lock_guard lock(mutex);
  if (!shadow) {
    constexpr std::size_t kPage = 4096;
    shadow.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage)));
    if (!shadow) throw std::bad_alloc();
  }
  return shadow.get();
}

namespace wm::runtime::driver {

// When no command uses the memory any more, which its slot shows: here where that is soon, else by the thread that
// calls back. What is called knows the memory by its address.
void say_farewell(cl_mem memory, Farewells<cl_mem> farewells, std::uint32_t slot) {
  struct Last {
    cl_mem memory;
    Farewells<cl_mem> farewells;
  };
  constexpr auto kSay = [](cl_event, cl_int, void* data) {
    const std::unique_ptr<Last> last(static_cast<Last*>(data));
    for (auto it = last->farewells.rbegin(); it != last->farewells.rend(); ++it) it->first(last->memory, it->second);
  };
  auto last = std::make_unique<Last>(Last{memory, std::move(farewells)});
  constexpr int kPatience = 100;
  for (int i = 0; slot != kNoSlot && link().state(slot) > 0 && i < kPatience; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  if (slot == kNoSlot || link().state(slot) <= 0) {
    if (slot != kNoSlot) link().give_slot(slot);
    return kSay(nullptr, CL_COMPLETE, last.release());
  }
  auto* event = new _cl_event();
  event->slot = slot;
  process().callbacks().add(link(), event, CL_COMPLETE, kSay, last.release());
  release(event);
}

namespace {

constexpr cl_mem_flags kAccess = CL_MEM_READ_WRITE | CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY;
constexpr cl_mem_flags kHostAccess = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
constexpr cl_mem_flags kHostPointer = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;

bool at_most_one(cl_mem_flags flags) { return (flags & (flags - 1)) == 0; }

}  // namespace

cl_int check_memory_flags(cl_mem_flags flags, cl_mem_flags also) {
  if ((flags & ~(kAccess | kHostAccess | kHostPointer | also)) != 0) return CL_INVALID_VALUE;
  if (!at_most_one(flags & kAccess) || !at_most_one(flags & kHostAccess)) return CL_INVALID_VALUE;
  if ((flags & CL_MEM_USE_HOST_PTR) != 0 && (flags & CL_MEM_ALLOC_HOST_PTR) != 0) return CL_INVALID_VALUE;
  constexpr cl_mem_flags kBothWays = CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR;
  if ((flags & kBothWays) == kBothWays) return link().natively(Question::host_pointer_both_ways);
  return CL_SUCCESS;
}

cl_int check_host_pointer(cl_mem_flags flags, const void* host) {
  const bool wanted = (flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR)) != 0;
  return wanted == (host != nullptr) ? CL_SUCCESS : CL_INVALID_HOST_PTR;
}

// What the device is told: the host's part is played here.
cl_mem_flags device_flags(cl_mem_flags flags) { return flags & (kAccess | CL_MEM_KERNEL_READ_AND_WRITE); }

namespace {

cl_int check_sub_buffer_flags(cl_mem_flags flags) {
  if ((flags & ~(kAccess | kHostAccess)) != 0) {
    if (const cl_int bad = link().natively(Question::sub_buffer_unknown_flags); bad != CL_SUCCESS) return bad;
  }
  if (!at_most_one(flags & kAccess)) {
    if (const cl_int bad = link().natively(Question::sub_buffer_two_accesses); bad != CL_SUCCESS) return bad;
  }
  return at_most_one(flags & kHostAccess) ? CL_SUCCESS : link().natively(Question::sub_buffer_two_hosts);
}

cl_mem make_buffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host, cl_int& status) {
  if (!valid(context)) return refuse<_cl_mem>(status, CL_INVALID_CONTEXT);
  if (flags == 0) flags = CL_MEM_READ_WRITE;
  status = check_memory_flags(flags, 0);
  if (status != CL_SUCCESS) return nullptr;
  const auto most = process().device_fact<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  if (size == 0) return refuse<_cl_mem>(status, CL_INVALID_BUFFER_SIZE);
  if (most != 0 && size > most) status = link().natively(Question::large_buffer);
  if (status != CL_SUCCESS) return nullptr;
  status = check_host_pointer(flags, host);
  if (status != CL_SUCCESS) return nullptr;
  auto memory = std::make_unique<_cl_mem>();
  memory->context = Held<_cl_context>(context);
  memory->flags = flags;
  if ((flags & kAccess) == 0 && link().natively(Question::shown_access) != 0) memory->flags |= CL_MEM_READ_WRITE;
  memory->size = size;
  if ((flags & CL_MEM_USE_HOST_PTR) != 0) memory->host = host;
  memory->name = link().new_name();
  Writer message(Op::create_buffer);
  const std::uint32_t region = link().place_buffer(size, memory->place);
  message.put(CreateBuffer{memory->name, device_flags(flags), size, region, 0});
  status = link().call(message);
  if (status == CL_SUCCESS && host != nullptr) {
    status = move_linear({process().own_queue(), memory.get(), CL_COMMAND_WRITE_BUFFER, true}, true, 0, size,
                         static_cast<std::byte*>(host), {0, nullptr, nullptr});
  }
  if (status != CL_SUCCESS) return nullptr;
  process().add_memory(memory.get());
  return memory.release();
}

}  // namespace

cl_mem create_buffer(cl_context context, cl_mem_flags flags, std::size_t size, void* host, cl_int* out) {
  return making(out, [&](cl_int& status) { return make_buffer(context, flags, size, host, status); });
}

cl_mem create_buffer_with_properties(cl_context context, const cl_mem_properties* properties, cl_mem_flags flags,
                                     std::size_t size, void* host, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_mem {
    if (properties != nullptr && *properties != 0) return refuse<_cl_mem>(status, CL_INVALID_PROPERTY);
    cl_mem memory = make_buffer(context, flags, size, host, status);
    if (memory != nullptr && properties != nullptr) memory->properties = {0};
    return memory;
  });
}

cl_mem create_sub_buffer(cl_mem parent, cl_mem_flags flags, cl_buffer_create_type type, const void* how, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_mem {
    if (!valid(parent) || parent->is_image()) return refuse<_cl_mem>(status, CL_INVALID_MEM_OBJECT);
    if (parent->parent) status = link().natively(Question::sub_buffer_of_sub_buffer);
    if (status != CL_SUCCESS) return nullptr;
    if (how == nullptr || type != CL_BUFFER_CREATE_TYPE_REGION) return refuse<_cl_mem>(status, CL_INVALID_VALUE);
    const cl_mem_flags above = parent->flags;
    if ((flags & kHostPointer) != 0) return refuse<_cl_mem>(status, CL_INVALID_VALUE);
    status = check_sub_buffer_flags(flags);
    if (status != CL_SUCCESS) return nullptr;
    flags &= kAccess | kHostAccess;
    const bool wider =
        ((above & CL_MEM_WRITE_ONLY) != 0 && (flags & (CL_MEM_READ_WRITE | CL_MEM_READ_ONLY)) != 0) ||
        ((above & CL_MEM_READ_ONLY) != 0 && (flags & (CL_MEM_READ_WRITE | CL_MEM_WRITE_ONLY)) != 0) ||
        ((above & CL_MEM_HOST_WRITE_ONLY) != 0 && (flags & CL_MEM_HOST_READ_ONLY) != 0) ||
        ((above & CL_MEM_HOST_READ_ONLY) != 0 && (flags & CL_MEM_HOST_WRITE_ONLY) != 0) ||
        ((above & CL_MEM_HOST_NO_ACCESS) != 0 && (flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY)) != 0);
    if (wider) return refuse<_cl_mem>(status, CL_INVALID_VALUE);
    if ((flags & kAccess) == 0) flags |= above & kAccess;
    if ((flags & kHostAccess) == 0) flags |= above & kHostAccess;
    flags |= above & kHostPointer;
    const auto& region = *static_cast<const cl_buffer_region*>(how);
    if (region.size == 0) return refuse<_cl_mem>(status, CL_INVALID_BUFFER_SIZE);
    if (region.origin >= parent->size) return refuse<_cl_mem>(status, CL_INVALID_VALUE);
    if (region.size > parent->size - region.origin) status = link().natively(Question::sub_buffer_beyond);
    const auto bits = process().device_fact<cl_uint>(CL_DEVICE_MEM_BASE_ADDR_ALIGN);
    if (status == CL_SUCCESS && bits >= 8 && region.origin % (bits / 8) != 0) {
      status = link().natively(Question::sub_buffer_misaligned);
    }
    if (status != CL_SUCCESS) return nullptr;
    auto memory = std::make_unique<_cl_mem>();
    memory->context = parent->context;
    memory->flags = flags;
    memory->size = region.size;
    memory->parent = Held<_cl_mem>(parent);
    memory->offset = region.origin;
    if (parent->host != nullptr) memory->host = static_cast<std::byte*>(parent->host) + region.origin;
    memory->name = link().new_name();
    Writer message(Op::create_sub_buffer);
    message.put(CreateSubBuffer{memory->name, parent->name, device_flags(flags), region.origin, region.size});
    status = link().call(message);
    if (status != CL_SUCCESS) return nullptr;
    process().add_memory(memory.get());
    return memory.release();
  });
}

cl_int retain_mem_object(cl_mem memory) { return retain_checked(memory, CL_INVALID_MEM_OBJECT); }
cl_int release_mem_object(cl_mem memory) {
  return guarded([&] { return release_checked(memory, CL_INVALID_MEM_OBJECT); });
}

cl_int get_mem_object_info(cl_mem memory, cl_mem_info name, std::size_t room, void* value, std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(memory)) return CL_INVALID_MEM_OBJECT;
    const Info info{room, value, needed};
    switch (name) {
      case CL_MEM_TYPE:
        return info.is(memory->type);
      case CL_MEM_FLAGS:
        return info.is(memory->flags);
      case CL_MEM_SIZE:
        return info.is(memory->size);
      case CL_MEM_HOST_PTR:
        return info.is(memory->host);
      case CL_MEM_MAP_COUNT: {
        const std::lock_guard lock(memory->mutex);
        return info.is(static_cast<cl_uint>(memory->maps.size()));
      }
      case CL_MEM_REFERENCE_COUNT:
        return info.is(cl_uint{memory->references.load()});
      case CL_MEM_CONTEXT:
        return info.is(memory->context.get());
      case CL_MEM_ASSOCIATED_MEMOBJECT:
        return info.is(memory->parent.get());
      case CL_MEM_OFFSET: {
        std::size_t offset = 0;  // in the buffer that was not made of another
        for (cl_mem m = memory; m->parent && !m->is_image(); m = m->parent.get()) offset += m->offset;
        return info.is(offset);
      }
      case CL_MEM_USES_SVM_POINTER:
        return info.is(cl_bool{CL_FALSE});
      case CL_MEM_PROPERTIES:
        return info.list(memory->properties);
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
    memory->farewells.emplace_back(call, data);
    return CL_SUCCESS;
  });
}

}  // namespace wm::runtime::driver
