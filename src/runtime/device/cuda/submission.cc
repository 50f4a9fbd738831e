#include "runtime/device/cuda/submission.h"

#include <algorithm>
#include <cstring>

#include "runtime/device/cuda/image_copies.h"

namespace wm::runtime::cuda {
namespace {

constexpr int kHost = 1, kDevice = 2;

// One rectangle in memory with rows and slices.
struct Place {
  Address device = 0;
  std::byte* host = nullptr;
  Size3 origin{};
  std::size_t row = 0, slice = 0;
};

void set_from(Copy3D& c, const Place& p, std::size_t slice) {
  const std::size_t first = p.origin[0] + p.origin[1] * p.row + (p.origin[2] + slice) * p.slice;
  c.from_type = p.host != nullptr ? kHost : kDevice;
  c.from_host = p.host != nullptr ? p.host + first : nullptr;
  c.from_device = p.host != nullptr ? 0 : p.device + first;
  c.from_pitch = p.row;
}

void set_to(Copy3D& c, const Place& p, std::size_t slice) {
  const std::size_t first = p.origin[0] + p.origin[1] * p.row + (p.origin[2] + slice) * p.slice;
  c.to_type = p.host != nullptr ? kHost : kDevice;
  c.to_host = p.host != nullptr ? p.host + first : nullptr;
  c.to_device = p.host != nullptr ? 0 : p.device + first;
  c.to_pitch = p.row;
}

// Slice by slice: the pitch of slices need not be a multiple of that of rows.
Code copy_rectangle(const DriverCalls& cuda, const Place& from, const Place& to, const Size3& region, Stream stream) {
  for (std::size_t z = 0; z < region[2]; ++z) {
    Copy3D copy;
    copy.width = region[0];
    copy.height = region[1];
    copy.depth = 1;
    copy.from_height = copy.to_height = region[1];
    set_from(copy, from, z);
    set_to(copy, to, z);
    if (const Code code = cuda.copy_3d(&copy, stream); code != kSuccess) return code;
  }
  return kSuccess;
}

// Commands on buffers are given buffers only: an image has no address, or that of a buffer which it shows.
bool is_buffer(const MemoryObject& memory) { return of(memory).image() == nullptr; }

std::size_t or_default(std::size_t pitch, std::size_t otherwise) { return pitch != 0 ? pitch : otherwise; }

}  // namespace

template <typename Work>
Status CudaSubmission::with_event(const QueueObject& queue, EventHandle* event, Work work) {
  device_.make_current();
  const CudaQueue& on = of(queue);
  const Stream stream = on.current();
  if (stream == nullptr) return status::kOutOfResources;
  CommandEvent* made = event != nullptr ? events_.begin(stream, on.timed) : nullptr;
  const Code code = work(stream);
  if (code != kSuccess) {
    events_.release(made);
    return status_of(code);
  }
  if (made != nullptr) {
    events_.end(*made, stream);
    *event = reinterpret_cast<EventHandle>(made);
  }
  return status::kSuccess;
}

template <typename Copy>
Status CudaSubmission::through_pinned(const QueueObject& queue, bool to_device, std::span<std::byte> bytes,
                                      EventHandle* event, Copy copy) {
  if (event == nullptr || host_.is_registered(bytes)) {
    return with_event(queue, event, [&](Stream stream) {
      const Code code = copy(stream, bytes.data());
      return code == kSuccess && event == nullptr ? device_.cuda.synchronize_stream(stream) : code;
    });
  }
  const std::span<std::byte> bounce = host_.take(bytes.size());
  if (bounce.empty()) return status::kOutOfResources;
  if (to_device) std::memcpy(bounce.data(), bytes.data(), bytes.size());
  const Status status = with_event(queue, event, [&](Stream stream) { return copy(stream, bounce.data()); });
  if (status != status::kSuccess) {
    host_.give_back(bounce);
    return status;
  }
  of(*event)->bounce = bounce;
  if (!to_device) of(*event)->copy_to = bytes;
  return status;
}

Status CudaSubmission::launch(const QueueObject& queue, const KernelLaunch& launch, EventHandle* event) {
  device_.make_current();
  const CudaQueue& on = of(queue);
  const auto shape = launcher_.shape(launch);
  if (!shape.valid) return shape.status;
  const LaunchSharing& sharing = launch.sharing;
  const Stream stream = on.stream_for(sharing.order_priority.value_or(sharing.priority));
  if (stream == nullptr) return status::kOutOfResources;
  for (const EventHandle before : launch.after) device_.cuda.wait_event(stream, of(before)->end, 0);
  CommandEvent* made = event != nullptr ? events_.begin(stream, on.timed) : nullptr;
  const Status status = launcher_.launch(stream, launch, shape);
  if (status != status::kSuccess) {
    events_.release(made);
    return status;
  }
  if (made != nullptr) {
    events_.end(*made, stream);
    *event = reinterpret_cast<EventHandle>(made);
  }
  // The client need not wait for the gate to open.
  if (sharing.holds_gates) launcher_.open_gate(stream);
  return status;
}

Status CudaSubmission::check_argument(const KernelObject& kernel, std::uint32_t index, const KernelArgument& argument) {
  return Launcher::check(of(kernel), index, argument);
}

// The calling thread may wait, so that the driver copies from and to the client's own pages.
Status CudaSubmission::blocking_transfer(const QueueObject& queue, const BufferTransfer& t, EventHandle* event) {
  const Address at = of(*t.memory).address + t.offset;
  const Status status = with_event(queue, event, [&](Stream stream) {
    const Code code = t.to_device ? device_.cuda.copy_to_device(at, t.bytes.data(), t.bytes.size(), stream)
                                  : device_.cuda.copy_to_host(t.bytes.data(), at, t.bytes.size(), stream);
    return code == kSuccess && event == nullptr ? device_.cuda.synchronize_stream(stream) : code;
  });
  if (status != status::kSuccess || event == nullptr) return status;
  const Code code = device_.cuda.synchronize_event(of(*event)->end);
  if (code == kSuccess) return status::kSuccess;
  release(*event);
  *event = nullptr;
  return status_of(code);
}

Status CudaSubmission::submit(const QueueObject& queue, const BufferTransfer& t, EventHandle* event) {
  if (!is_buffer(*t.memory)) return status::kInvalidMemoryObject;
  if (t.blocking) return blocking_transfer(queue, t, event);
  const Address at = of(*t.memory).address + t.offset;
  return through_pinned(queue, t.to_device, t.bytes, event, [&](Stream stream, std::byte* host) {
    return t.to_device ? device_.cuda.copy_to_device(at, host, t.bytes.size(), stream)
                       : device_.cuda.copy_to_host(host, at, t.bytes.size(), stream);
  });
}

Status CudaSubmission::submit(const QueueObject& queue, const RectBufferTransfer& t, EventHandle* event) {
  if (!is_buffer(*t.memory)) return status::kInvalidMemoryObject;
  // Pinned memory behind the rectangle has bytes of earlier transfers, which are not the client's.
  const auto bytes = t.bytes.first(std::min(t.bytes.size(), t.region[0] * t.region[1] * t.region[2]));
  return through_pinned(queue, t.to_device, bytes, event, [&](Stream stream, std::byte* host) {
    const std::size_t row = or_default(t.row_pitch, t.region[0]);
    const Place on_device{of(*t.memory).address, nullptr, t.origin, row, or_default(t.slice_pitch, row * t.region[1])};
    const Place on_host{0, host, {}, t.region[0], t.region[0] * t.region[1]};
    return t.to_device ? copy_rectangle(device_.cuda, on_host, on_device, t.region, stream)
                       : copy_rectangle(device_.cuda, on_device, on_host, t.region, stream);
  });
}

Status CudaSubmission::submit(const QueueObject& queue, const BufferCopy& c, EventHandle* event) {
  if (!is_buffer(*c.from) || !is_buffer(*c.to)) return status::kInvalidMemoryObject;
  return with_event(queue, event, [&](Stream stream) {
    return device_.cuda.copy(of(*c.to).address + c.to_offset, of(*c.from).address + c.from_offset, c.bytes, stream);
  });
}

Status CudaSubmission::submit(const QueueObject& queue, const RectBufferCopy& c, EventHandle* event) {
  if (!is_buffer(*c.from) || !is_buffer(*c.to)) return status::kInvalidMemoryObject;
  return with_event(queue, event, [&](Stream stream) {
    const std::size_t from_row = or_default(c.from_row, c.region[0]), to_row = or_default(c.to_row, c.region[0]);
    const Place from{of(*c.from).address, nullptr, c.from_origin, from_row,
                     or_default(c.from_slice, from_row * c.region[1])};
    const Place to{of(*c.to).address, nullptr, c.to_origin, to_row, or_default(c.to_slice, to_row * c.region[1])};
    return copy_rectangle(device_.cuda, from, to, c.region, stream);
  });
}

Status CudaSubmission::submit(const QueueObject& queue, const BufferFill& f, EventHandle* event) {
  if (!is_buffer(*f.memory)) return status::kInvalidMemoryObject;
  return with_event(queue, event, [&](Stream stream) {
    return fill_memory(device_.cuda, of(*f.memory).address + f.offset, f.pattern, f.bytes, stream);
  });
}

Status CudaSubmission::submit(const QueueObject& queue, const ImageTransfer& t, EventHandle* event) {
  const CudaImage* const image = of(*t.image).image();
  if (image == nullptr) return status::kInvalidMemoryObject;
  if (!image->contains(t.origin, t.region) || box_bytes(*image, t.region) > t.bytes.size()) {
    return status::kInvalidValue;
  }
  // As for rectangles: nothing behind the box is the client's.
  return through_pinned(
      queue, t.to_device, t.bytes.first(box_bytes(*image, t.region)), event, [&](Stream stream, std::byte* host) {
        const BoxPlace in_image{.image = image, .origin = t.origin}, on_host{.host = host};
        return copy_box(device_.cuda, t.to_device ? on_host : in_image, t.to_device ? in_image : on_host, t.region,
                        image->format.element_bytes(), stream);
      });
}

Status CudaSubmission::submit(const QueueObject& queue, const ImageCopy& c, EventHandle* event) {
  const CudaImage *const from = of(*c.from).image(), *const to = of(*c.to).image();
  if (from == nullptr || to == nullptr) return status::kInvalidMemoryObject;
  const std::size_t element = from->format.element_bytes();
  const bool fits = from->contains(c.from_origin, c.region) && to->contains(c.to_origin, c.region);
  if (!fits || element != to->format.element_bytes()) return status::kInvalidValue;
  return with_event(queue, event, [&](Stream stream) {
    return copy_box(device_.cuda, {.image = from, .origin = c.from_origin}, {.image = to, .origin = c.to_origin},
                    c.region, element, stream);
  });
}

Status CudaSubmission::copy_image_and_buffer(const QueueObject& queue, const MemoryObject& image_object,
                                             const MemoryObject& buffer, std::size_t offset, const Size3& origin,
                                             const Size3& region, bool to_buffer, EventHandle* event) {
  const CudaImage* const image = of(image_object).image();
  if (image == nullptr || of(buffer).image() != nullptr) return status::kInvalidMemoryObject;
  const std::size_t bytes = of(buffer).bytes;
  const bool fits = image->contains(origin, region) && offset <= bytes && box_bytes(*image, region) <= bytes - offset;
  if (!fits) return status::kInvalidValue;
  return with_event(queue, event, [&](Stream stream) {
    const BoxPlace in_image{.image = image, .origin = origin}, in_buffer{.device = of(buffer).address + offset};
    return copy_box(device_.cuda, to_buffer ? in_image : in_buffer, to_buffer ? in_buffer : in_image, region,
                    image->format.element_bytes(), stream);
  });
}

Status CudaSubmission::submit(const QueueObject& queue, const ImageToBufferCopy& c, EventHandle* event) {
  return copy_image_and_buffer(queue, *c.image, *c.buffer, c.buffer_offset, c.origin, c.region, true, event);
}

Status CudaSubmission::submit(const QueueObject& queue, const BufferToImageCopy& c, EventHandle* event) {
  return copy_image_and_buffer(queue, *c.image, *c.buffer, c.buffer_offset, c.origin, c.region, false, event);
}

Status CudaSubmission::submit(const QueueObject& queue, const ImageFill& f, EventHandle* event) {
  const CudaImage* const image = of(*f.image).image();
  if (image == nullptr) return status::kInvalidMemoryObject;
  if (!image->contains(f.origin, f.region)) return status::kInvalidValue;
  return with_event(queue, event, [&](Stream stream) {
    return fill_box(*image, f.origin, f.region, element_of(image->format, f.colour), stream);
  });
}

Status CudaSubmission::submit_marker(const QueueObject& queue, EventHandle* event) {
  return with_event(queue, event, [](Stream) { return kSuccess; });
}

void CudaSubmission::finish(const QueueObject& queue) {
  device_.make_current();
  device_.cuda.synchronize_stream(of(queue).current());
}

DeviceTimes CudaSubmission::times(EventHandle event, bool with_queued) const {
  DeviceTimes times = events_.times(*of(event));
  if (!with_queued) times.queued = 0;
  return times;
}

void CudaSubmission::call_when_complete(EventHandle event, CompletionCallback& callback) {
  device_.make_current();
  device_.cuda.synchronize_event(of(event)->end);
  callback.completed(callback, event, events_.state(*of(event)));
}

void CudaSubmission::release(EventHandle event) { events_.release(of(event)); }

}  // namespace wm::runtime::cuda
