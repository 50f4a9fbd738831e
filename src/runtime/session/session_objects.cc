// A client's memory, samplers and queues.
#include <algorithm>
#include <optional>

#include "runtime/session/session.h"

namespace wm::runtime {
namespace {

// Of an image's element, for the account; at most 16, as for what is not known here.
std::uint64_t element_bytes(cl_channel_order order, cl_channel_type type) {
  std::uint64_t channel = 4;
  switch (type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
      channel = 1;
      break;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
      channel = 2;
      break;
    default:
      break;
  }
  switch (order) {
    case CL_R:
    case CL_A:
    case CL_Rx:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
      return channel;
    case CL_RG:
    case CL_RA:
    case CL_RGx:
      return 2 * channel;
    default:
      return 4 * channel;
  }
}

// Sizes in dimensions that its type does not have mean nothing.
struct Extents {
  explicit Extents(const CreateImage& m) {
    const auto is = [&](auto... types) { return ((m.object_type == static_cast<cl_mem_object_type>(types)) || ...); };
    if (is(CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D, CL_MEM_OBJECT_IMAGE2D_ARRAY)) rows = m.height;
    if (is(CL_MEM_OBJECT_IMAGE3D)) slices = m.depth;
    if (is(CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D_ARRAY)) slices = m.array_size;
  }
  std::uint64_t rows = 1, slices = 1;
};

// What it takes with the pitches it shall have; nothing where no memory has so much.
std::optional<std::uint64_t> image_bytes(std::uint64_t element, const CreateImage& m) {
  const Extents whole(m);
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(element, m.width, &bytes)) return std::nullopt;
  if (__builtin_mul_overflow(std::max(bytes, m.row_pitch), whole.rows, &bytes)) return std::nullopt;
  if (__builtin_mul_overflow(std::max(bytes, m.slice_pitch), whole.slices, &bytes)) return std::nullopt;
  return bytes;
}

// Whether rows and slices have room in their pitches, and in the buffer below. Not all drivers look: PoCL 3.1 writes
// behind what it has allocated.
bool pitches_hold(const NativeCalls& cl, cl_mem image, const CreateImage& m, const Memory* below) {
  std::size_t element = 0;
  if (cl.GetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr) != CL_SUCCESS) return false;
  const Extents whole(m);
  const std::uint64_t row = m.row_pitch != 0 ? m.row_pitch : m.width * element;
  if (row < m.width * element) return false;
  if (whole.slices > 1 && m.slice_pitch != 0 && m.slice_pitch < row * whole.rows) return false;
  if (below == nullptr || below->extent == 0) return m.object_type != CL_MEM_OBJECT_IMAGE1D_BUFFER;
  return (whole.rows - 1) * row + m.width * element <= below->extent;
}

}  // namespace

Native_<cl_mem> Session::own_memory(cl_mem memory, std::uint64_t bytes, std::shared_ptr<void> beneath) const {
  ++daemon_.census.memories;
  return {memory, [&releases = daemon_.scheduler.releases(), &alive = daemon_.census.memories, bytes,
                   beneath = std::move(beneath)](cl_mem dead) {
            releases.release(dead, bytes, [&alive, beneath] { --alive; });
          }};
}

// What was let go of and is still on the device may stay there while there is room for all. Behind a kernel that never
// ends nothing can be given back.
bool Session::make_room() {
  DeferredRelease& releases = daemon_.scheduler.releases();
  if (releases.bytes() <= daemon_.limits.spare()) return true;
  if (!daemon_.scheduler.orphaned_kernels().empty()) return false;
  releases.now();
  return true;
}

void Session::create_memory(const MessageHeader& header, std::uint64_t id, std::uint64_t bytes,
                            const std::shared_ptr<Memory>& parent, std::uint64_t extent,
                            std::function<cl_mem(cl_int*)> make, const std::shared_ptr<Mapping>& place) {
  const auto work = [this, header, id, bytes, parent, extent, place, make = std::move(make)] {
    if (bytes != 0 && !daemon_.limits.take(*share_, bytes)) {
      answer(header, CL_MEM_OBJECT_ALLOCATION_FAILURE);
      return;
    }
    cl_int status = make_room() ? CL_SUCCESS : CL_MEM_OBJECT_ALLOCATION_FAILURE;
    const cl_mem native = status == CL_SUCCESS ? make(&status) : nullptr;
    if (status != CL_SUCCESS) {
      if (bytes != 0) daemon_.limits.give(*share_, bytes);
      answer(header, status);
      return;
    }
    auto memory = std::make_shared<Memory>();
    memory->native = own_memory(native, bytes, nullptr);
    memory->parent = parent;
    memory->place = place;
    memory->extent = extent;
    if (bytes != 0) {
      memory->share = share_;
      memory->limits = &daemon_.limits;
      memory->bytes = bytes;
    }
    answer(header, keep(memories_, id, std::move(memory)) ? CL_SUCCESS : CL_INVALID_VALUE);
  };
  // Waiting for memory must not hold up the messages that may free some.
  if (bytes != 0 && daemon_.limits.waits() && daemon_.limits.crowded(bytes)) {
    later(work);
  } else {
    work();
  }
}

void Session::create_buffer(const MessageHeader& header, const CreateBuffer& m) {
  std::shared_ptr<Mapping> place;
  if (m.region != 0 && daemon_.native.in_host_memory()) {
    const std::lock_guard lock(mutex_);
    const auto it = regions_.find(m.region);
    if (it != regions_.end() && it->second->bytes().size() >= m.size) {
      place = it->second;
      placed_.push_back(place);
      regions_.erase(it);
    }
  }
  if (m.region != 0 && !place) return answer(header, CL_INVALID_VALUE);
  const cl_mem_flags flags = m.flags | (place ? CL_MEM_USE_HOST_PTR : 0);
  create_memory(
      header, m.id, daemon_.limits.takes_nothing(m.size) ? 0 : m.size, nullptr, m.size,
      [this, m, flags, place](cl_int* status) {
        const NativeCalls& cl = daemon_.native.cl;
        if (place) return cl.CreateBuffer(daemon_.native.context, flags, m.size, place->bytes().data(), status);
        if (!daemon_.native.in_host_memory() || m.size == 0 || m.size > kFreshBytes) {
          return cl.CreateBuffer(daemon_.native.context, flags, m.size, nullptr, status);
        }
        // What was freed in this process may come back with it.
        std::vector<std::byte> nothing(m.size);
        return cl.CreateBuffer(daemon_.native.context, flags | CL_MEM_COPY_HOST_PTR, m.size, nothing.data(), status);
      },
      place);
}

void Session::create_sub_buffer(const MessageHeader& header, const CreateSubBuffer& m) {
  const auto parent = find(memories_, m.parent);
  if (!parent) return answer(header, CL_INVALID_MEM_OBJECT);
  // No driver is asked for more than the parent has: what lies behind it is another's.
  if (m.origin >= parent->extent) {
    return answer(header, parent->extent == 0 ? CL_INVALID_MEM_OBJECT : CL_INVALID_VALUE);
  }
  const std::uint64_t size = std::min(m.size, parent->extent - m.origin);
  create_memory(header, m.id, 0, parent, size, [this, m, size, parent](cl_int* status) {
    const cl_buffer_region region{m.origin, size};
    return daemon_.native.cl.CreateSubBuffer(parent->native.get(), m.flags, CL_BUFFER_CREATE_TYPE_REGION, &region,
                                             status);
  });
}

void Session::create_image(const MessageHeader& header, const CreateImage& m) {
  const auto below = m.buffer == 0 ? nullptr : find(memories_, m.buffer);
  if (m.buffer != 0 && !below) return answer(header, CL_INVALID_IMAGE_DESCRIPTOR);
  const auto bytes = image_bytes(element_bytes(m.order, m.type), m);
  if (!bytes) return answer(header, CL_INVALID_IMAGE_SIZE);
  create_memory(header, m.id, below ? 0 : *bytes, below, 0, [this, m, below, bytes = *bytes](cl_int* status) -> cl_mem {
    const cl_image_format format{m.order, m.type};
    cl_image_desc desc{};
    desc.image_type = m.object_type;
    desc.image_width = m.width;
    desc.image_height = m.height;
    desc.image_depth = m.depth;
    desc.image_array_size = m.array_size;
    desc.image_row_pitch = m.row_pitch;
    desc.image_slice_pitch = m.slice_pitch;
    desc.mem_object = below ? below->native.get() : nullptr;
    const NativeCalls& cl = daemon_.native.cl;
    // What was freed in this process may come back with it.
    const bool used = daemon_.native.in_host_memory() && !below && bytes <= kFreshBytes;
    std::vector<std::byte> nothing(used ? bytes : 0);
    const cl_mem image = cl.CreateImage(daemon_.native.context, m.flags | (used ? CL_MEM_COPY_HOST_PTR : 0), &format,
                                        &desc, used ? nothing.data() : nullptr, status);
    if (*status != CL_SUCCESS || pitches_hold(cl, image, m, below.get())) return image;
    cl.ReleaseMemObject(image);
    *status = CL_INVALID_IMAGE_DESCRIPTOR;
    return nullptr;
  });
}

void Session::image_info(const MessageHeader& header, const Query& m) {
  const auto image = find(memories_, m.object);
  if (!image) return answer(header, CL_INVALID_MEM_OBJECT);
  if (m.name == CL_IMAGE_BUFFER) return answer(header, CL_INVALID_VALUE);  // a pointer of ours
  std::vector<std::byte> bytes;
  const cl_int status = info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return daemon_.native.cl.GetImageInfo(image->native.get(), static_cast<cl_image_info>(m.name), room, value,
                                              size);
      },
      bytes);
  answer(header, status, bytes);
}

void Session::image_formats(const MessageHeader& header, const ImageFormats& m) {
  const auto& cl = daemon_.native.cl;
  const auto type = static_cast<cl_mem_object_type>(m.type);
  cl_uint count = 0;
  cl_int status = cl.GetSupportedImageFormats(daemon_.native.context, m.flags, type, 0, nullptr, &count);
  std::vector<cl_image_format> formats(count);
  if (status == CL_SUCCESS && count != 0) {
    status = cl.GetSupportedImageFormats(daemon_.native.context, m.flags, type, count, formats.data(), nullptr);
  }
  answer(header, status, std::as_bytes(std::span(formats)));
}

void Session::create_sampler(const MessageHeader& header, const CreateSampler& m) {
  cl_int status = CL_SUCCESS;
  const cl_sampler native =
      daemon_.native.cl.CreateSampler(daemon_.native.context, m.normalized, m.addressing, m.filter, &status);
  if (status != CL_SUCCESS) return answer(header, status);
  auto sampler = std::make_shared<Sampler>();
  sampler->native = own(native, daemon_.native.cl.ReleaseSampler, daemon_.census.samplers);
  answer(header, keep(samplers_, m.id, std::move(sampler)) ? CL_SUCCESS : CL_INVALID_VALUE);
}

cl_int Session::create_queue(const CreateQueue& m) {
  // With times where they cost nothing: the daemon wants to know, whether or not the client does.
  const bool timed = daemon_.native.in_host_memory() || (m.properties & CL_QUEUE_PROFILING_ENABLE) != 0;
  const cl_command_queue_properties properties =
      (timed ? CL_QUEUE_PROFILING_ENABLE : 0) | (m.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_int status = CL_SUCCESS;
  const cl_command_queue native =
      daemon_.native.cl.CreateCommandQueue(daemon_.native.context, daemon_.native.device, properties, &status);
  if (status != CL_SUCCESS) return status;
  auto queue = std::make_shared<Queue>();
  queue->native = own(native, daemon_.native.cl.ReleaseCommandQueue, daemon_.census.queues);
  queue->number = ++daemon_.census.queues_made;
  queue->timed = timed;
  queue->in_order = (m.properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) == 0;
  return keep(queues_, m.id, std::move(queue)) ? CL_SUCCESS : CL_INVALID_VALUE;
}

bool Session::release(const Release& m) {
  // What is let go of is destroyed outside the lock.
  std::shared_ptr<void> dead;
  const auto take = [&](auto& table, auto id) {
    const auto it = table.find(id);
    if (it == table.end()) return;
    dead = it->second;
    table.erase(it);
  };
  const std::lock_guard lock(mutex_);
  switch (m.kind) {
    case ObjectKind::memory:
      if (const auto it = memories_.find(m.id);
          it != memories_.end() && m.unused_event != 0 && m.unused_event <= kMaxEvents) {
        it->second->release_notice = {nullptr, [session = weak_from_this(), slot = m.unused_event - 1](std::nullptr_t) {
                                        if (const auto here = session.lock()) here->show(slot, CL_COMPLETE);
                                      }};
      }
      take(memories_, m.id);
      return true;
    case ObjectKind::sampler:
      take(samplers_, m.id);
      return true;
    case ObjectKind::queue:
      if (m.id != 0) take(queues_, m.id);
      return true;
    case ObjectKind::program:
      take(programs_, m.id);
      return true;
    case ObjectKind::kernel:
      take(kernels_, m.id);
      return true;
    case ObjectKind::region:
      take(regions_, static_cast<std::uint32_t>(m.id));
      daemon_.scheduler.let_go(std::move(dead));
      return true;
  }
  return false;
}

}  // namespace wm::runtime
