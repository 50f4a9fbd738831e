// Queues and memory of the CUDA driver.
#pragma once

#include "runtime/device/cuda/host_memory.h"
#include "runtime/device/cuda/objects.h"

namespace wm::runtime::cuda {

class CudaAllocation final : public Allocation {
 public:
  CudaAllocation(Device& device, HostMemory& host) : device_(device), host_(host) {}

  Made<QueueHandle> create_queue(bool in_order, bool timed) override;
  Made<MemoryHandle> create_buffer(const BufferRequest& request) override;
  Made<MemoryHandle> create_sub_buffer(const MemoryHandle& parent, std::uint64_t flags, std::size_t origin,
                                       std::size_t bytes) override;
  MemoryHandle pin(const QueueObject& queue, std::span<std::byte> bytes) override;
  void wipe(const QueueObject& queue, const MemoryObject& memory) override;

  // There are no images on this backend: clients are told so.
  Made<MemoryHandle> create_image(const ImageRequest&) override { return {status::kInvalidOperation, nullptr}; }
  Made<SamplerHandle> create_sampler(bool, std::uint32_t, std::uint32_t) override {
    return {status::kInvalidOperation, nullptr};
  }
  Status image_info(const MemoryObject&, std::uint32_t, std::vector<std::byte>&) override {
    return status::kInvalidMemoryObject;
  }
  Status image_formats(std::uint64_t, std::uint32_t, std::vector<std::byte>& answer) override {
    answer.clear();
    return status::kSuccess;
  }
  std::size_t element_bytes(const MemoryObject&) override { return 0; }

 private:
  Device& device_;
  HostMemory& host_;
};

}  // namespace wm::runtime::cuda
