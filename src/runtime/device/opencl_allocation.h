// Queues and memory objects of an OpenCL context.
#pragma once

#include "runtime/device/opencl_objects.h"

namespace wm::runtime {

class OpenClAllocation final : public Allocation {
 public:
  // Objects of up to `zeroed_bytes` are created with zeros: their memory may be another client's that was freed in this
  // process. Larger ones are expected to come from the operating system, or to be wiped before they are released.
  OpenClAllocation(const Native& native, std::size_t zeroed_bytes)
      : native_(native), cl_(native.cl), zeroed_bytes_(zeroed_bytes) {}

  Made<QueueHandle> create_queue(bool in_order, bool timed) override;
  Made<MemoryHandle> create_buffer(const BufferRequest& request) override;
  Made<MemoryHandle> create_sub_buffer(const MemoryHandle& parent, std::uint64_t flags, std::size_t origin,
                                       std::size_t bytes) override;
  Made<MemoryHandle> create_image(const ImageRequest& request) override;
  Made<SamplerHandle> create_sampler(bool normalized, std::uint32_t addressing, std::uint32_t filter) override;
  MemoryHandle pin(const QueueObject& queue, std::span<std::byte> bytes) override;
  void wipe(const QueueObject& queue, const MemoryObject& memory) override;
  Status image_info(const MemoryObject& image, std::uint32_t name, std::vector<std::byte>& answer) override;
  Status image_formats(std::uint64_t flags, std::uint32_t type, std::vector<std::byte>& answer) override;
  std::size_t element_bytes(const MemoryObject& image) override;

 private:
  [[nodiscard]] MemoryHandle own(cl_mem made, MemoryHandle parent = nullptr, std::byte* address = nullptr) const;
  // Whether rows and slices fit into their pitches, and into the buffer below. Not all drivers check: PoCL 3.1 writes
  // behind the memory it has allocated.
  [[nodiscard]] bool pitches_fit(cl_mem image, const ImageRequest& request) const;

  const Native& native_;
  const NativeCalls& cl_;
  const std::size_t zeroed_bytes_;
};

// The formats that the driver has.
Status image_formats(const Native& native, std::uint64_t flags, std::uint32_t type, std::vector<std::byte>& answer);

}  // namespace wm::runtime
