#include "runtime/session/memory_calls.h"

#include <algorithm>
#include <optional>

#include "runtime/session/image_size.h"

namespace wm::runtime {
namespace {

// Bits of CL_QUEUE_PROPERTIES.
constexpr std::uint64_t kOutOfOrder = 1 << 0, kProfiling = 1 << 1;
// CL_IMAGE_BUFFER: a pointer of the daemon's process, which means nothing to a client.
constexpr std::uint64_t kImageBufferQuery = 0x1118;

}  // namespace

MemoryHandle MemoryCalls::deferred(MemoryHandle memory, std::uint64_t bytes, std::shared_ptr<void> storage) const {
  std::atomic<std::int64_t>& alive = state_.daemon.counts.memories;
  ++alive;
  MemoryObject* object = memory.get();
  return {object, [&deferred = state_.daemon.scheduler.deferred_release(), &alive, bytes, storage = std::move(storage),
                   memory = std::move(memory)](MemoryObject*) mutable {
            deferred.release(std::move(memory), bytes, [&alive, storage] { --alive; });
          }};
}

// Released memory whose release is deferred is freed only if other memory does not suffice. While a kernel that never
// ends is running it cannot be freed.
bool MemoryCalls::make_room() {
  Scheduler& scheduler = state_.daemon.scheduler;
  if (scheduler.deferred_release().bytes() <= state_.daemon.limits.available()) return true;
  if (!scheduler.orphaned_kernels().empty()) return false;
  scheduler.deferred_release().release_now();
  return true;
}

Status MemoryCalls::create_now(Request& request) {
  MemoryLimits& limits = state_.daemon.limits;
  if (request.bytes != 0 && !limits.allocate(*state_.share, request.bytes)) return status::kMemoryAllocationFailure;
  Made<MemoryHandle> made{status::kMemoryAllocationFailure, nullptr};
  if (make_room()) made = request.make();
  if (made.status != status::kSuccess) {
    if (request.bytes != 0) limits.free(*state_.share, request.bytes);
    return made.status;
  }
  auto memory = std::make_shared<Memory>();
  memory->handle = deferred(std::move(made.object), request.bytes, nullptr);
  memory->parent = request.parent;
  memory->place = request.place;
  memory->extent = request.extent;
  if (request.bytes != 0) {
    memory->share = state_.share;
    memory->limits = &limits;
    memory->bytes = request.bytes;
  }
  return state_.objects.memories.add(request.id, std::move(memory)) ? status::kSuccess : status::kInvalidValue;
}

void MemoryCalls::create(const MessageHeader& header, Request request) {
  const MemoryLimits& limits = state_.daemon.limits;
  // The reader thread does not wait for memory: a later message may free some.
  if (request.bytes != 0 && limits.waits() && limits.must_wait(request.bytes)) {
    state_.run_later(
        [this, header, request = std::move(request)]() mutable { state_.answer(header, create_now(request)); });
  } else {
    state_.answer(header, create_now(request));
  }
}

void MemoryCalls::create_buffer(const MessageHeader& header, const CreateBuffer& m) {
  Request request{.id = m.id, .bytes = state_.daemon.limits.exceeds_device(m.size) ? 0 : m.size, .extent = m.size};
  if (m.region != 0 && state_.daemon.backend.capabilities().buffers_in_host_memory) {
    request.place = state_.shared.take_for_buffer(m.region, m.size);
  }
  if (m.region != 0 && !request.place) return state_.answer(header, status::kInvalidValue);
  request.make = [this, m, place = request.place] {
    return state_.daemon.backend.allocation().create_buffer(
        {.flags = m.flags, .bytes = m.size, .place = place ? place->bytes() : std::span<std::byte>()});
  };
  create(header, std::move(request));
}

void MemoryCalls::create_sub_buffer(const MessageHeader& header, const CreateSubBuffer& m) {
  const auto parent = state_.objects.memories.find(m.parent);
  if (!parent) return state_.answer(header, status::kInvalidMemoryObject);
  // The device's driver is never asked for more than the parent has: the bytes after it may be another client's.
  if (m.origin >= parent->extent) {
    return state_.answer(header, parent->extent == 0 ? status::kInvalidMemoryObject : status::kInvalidValue);
  }
  const std::uint64_t size = std::min(m.size, parent->extent - m.origin);
  create(header, {.id = m.id, .parent = parent, .extent = size, .make = [this, m, size, parent] {
                    return state_.daemon.backend.allocation().create_sub_buffer(parent->handle, m.flags, m.origin,
                                                                                size);
                  }});
}

void MemoryCalls::create_image(const MessageHeader& header, const CreateImage& m) {
  const auto buffer = m.buffer == 0 ? nullptr : state_.objects.memories.find(m.buffer);
  if (m.buffer != 0 && !buffer) return state_.answer(header, status::kInvalidImageDescriptor);
  const auto bytes = image_bytes(m);
  if (!bytes) return state_.answer(header, status::kInvalidImageSize);
  create(header, {.id = m.id, .bytes = buffer ? 0 : *bytes, .parent = buffer, .make = [this, m, buffer, bytes] {
                    ImageRequest request{.flags = m.flags,
                                         .channel_order = m.order,
                                         .channel_type = m.type,
                                         .object_type = m.object_type,
                                         .width = m.width,
                                         .height = m.height,
                                         .depth = m.depth,
                                         .array_size = m.array_size,
                                         .row_pitch = m.row_pitch,
                                         .slice_pitch = m.slice_pitch,
                                         .buffer = buffer ? buffer->handle : nullptr,
                                         .buffer_extent = buffer ? buffer->extent : 0,
                                         .bytes = *bytes};
                    return state_.daemon.backend.allocation().create_image(request);
                  }});
}

void MemoryCalls::image_info(const MessageHeader& header, const Query& m) {
  const auto image = state_.objects.memories.find(m.object);
  if (!image) return state_.answer(header, status::kInvalidMemoryObject);
  if (m.name == kImageBufferQuery) return state_.answer(header, status::kInvalidValue);
  std::vector<std::byte> bytes;
  const Status status =
      state_.daemon.backend.allocation().image_info(*image->handle, static_cast<std::uint32_t>(m.name), bytes);
  state_.answer(header, status, bytes);
}

void MemoryCalls::image_formats(const MessageHeader& header, const ImageFormats& m) {
  std::vector<std::byte> bytes;
  const Status status =
      state_.daemon.backend.allocation().image_formats(m.flags, static_cast<std::uint32_t>(m.type), bytes);
  state_.answer(header, status, bytes);
}

void MemoryCalls::create_sampler(const MessageHeader& header, const CreateSampler& m) {
  auto made = state_.daemon.backend.allocation().create_sampler(m.normalized != 0, m.addressing, m.filter);
  if (made.status != status::kSuccess) return state_.answer(header, made.status);
  auto sampler = std::make_shared<Sampler>();
  sampler->handle = counted(std::move(made.object), state_.daemon.counts.samplers);
  state_.answer(header,
                state_.objects.samplers.add(m.id, std::move(sampler)) ? status::kSuccess : status::kInvalidValue);
}

Status MemoryCalls::create_queue(const CreateQueue& m) {
  // The daemon uses the times of commands where they are free, whether or not the client does.
  const bool timed = state_.daemon.backend.capabilities().free_timestamps || (m.properties & kProfiling) != 0;
  const bool in_order = (m.properties & kOutOfOrder) == 0;
  auto made = state_.daemon.backend.allocation().create_queue(in_order, timed);
  if (made.status != status::kSuccess) return made.status;
  auto queue = std::make_shared<Queue>();
  queue->handle = counted(std::move(made.object), state_.daemon.counts.queues);
  queue->number = ++state_.daemon.counts.queues_made;
  queue->timed = timed;
  queue->in_order = in_order;
  return state_.objects.queues.add(m.id, std::move(queue)) ? status::kSuccess : status::kInvalidValue;
}

bool MemoryCalls::is_pinned(std::span<const std::byte> bytes) {
  const auto part = state_.shared.area()->staging().first(kPinnedBytes);
  if (bytes.data() < part.data() || bytes.data() + bytes.size() > part.data() + part.size()) return false;
  if (!pin_attempted_) {
    pin_attempted_ = true;
    auto pinned = state_.daemon.backend.allocation().pin(*state_.objects.queues.find(0)->handle, part);
    if (pinned) pinned_ = deferred(std::move(pinned), 0, state_.shared.area());
  }
  return pinned_ != nullptr;
}

}  // namespace wm::runtime
