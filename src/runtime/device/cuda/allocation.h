// Queues and memory of the CUDA driver.
#pragma once

#include "runtime/device/cuda/front_end.h"
#include "runtime/device/cuda/host_memory.h"
#include "runtime/device/cuda/objects.h"

namespace wm::runtime::cuda {

class CudaAllocation final : public Allocation {
 public:
  CudaAllocation(Device& device, HostMemory& host, const FrontEnd& front_end)
      : device_(device), host_(host), front_end_(front_end) {}

  Made<QueueHandle> create_queue(bool in_order, bool timed) override;
  Made<MemoryHandle> create_buffer(const BufferRequest& request) override;
  Made<MemoryHandle> create_sub_buffer(const MemoryHandle& parent, std::uint64_t flags, std::size_t origin,
                                       std::size_t bytes) override;
  MemoryHandle pin(const QueueObject& queue, std::span<std::byte> bytes) override;
  void wipe(const QueueObject& queue, const MemoryObject& memory) override;

  Made<MemoryHandle> create_image(const ImageRequest& request) override;
  Made<SamplerHandle> create_sampler(bool normalized, std::uint32_t addressing, std::uint32_t filter) override;
  Status image_info(const MemoryObject& image, std::uint32_t name, std::vector<std::byte>& answer) override;
  Status image_formats(std::uint64_t flags, std::uint32_t type, std::vector<std::byte>& answer) override;
  std::size_t element_bytes(const MemoryObject& image) override;

 private:
  bool offers_format(const ImageRequest& request);

  Device& device_;
  HostMemory& host_;
  const FrontEnd& front_end_;
};

}  // namespace wm::runtime::cuda
