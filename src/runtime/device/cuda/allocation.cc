#include "runtime/device/cuda/allocation.h"

namespace wm::runtime::cuda {

// A stream runs its work in order; a queue out of order may do so too.
Made<QueueHandle> CudaAllocation::create_queue(bool /*in_order*/, bool timed) {
  device_.make_current();
  auto queue = std::make_shared<CudaQueue>(device_, timed);
  if (queue->current() == nullptr) return {status::kOutOfResources, nullptr};
  return {status::kSuccess, std::move(queue)};
}

// Memory is wiped when it is released, so that new objects need no zeros.
Made<MemoryHandle> CudaAllocation::create_buffer(const BufferRequest& request) {
  Address address = 0;
  const Code code = device_.allocate(address, std::max<std::size_t>(request.bytes, 1));
  if (code != kSuccess) return {status_of(code), nullptr};
  return {status::kSuccess, std::make_shared<CudaMemory>(device_, address, request.bytes)};
}

Made<MemoryHandle> CudaAllocation::create_sub_buffer(const MemoryHandle& parent, std::uint64_t /*flags*/,
                                                     std::size_t origin, std::size_t bytes) {
  const CudaMemory& buffer = of(*parent);
  if (origin > buffer.bytes || bytes > buffer.bytes - origin) return {status::kInvalidValue, nullptr};
  auto part = std::make_shared<CudaMemory>(device_, buffer.address + origin, bytes);
  part->parent = parent;
  return {status::kSuccess, std::move(part)};
}

MemoryHandle CudaAllocation::pin(const QueueObject& /*queue*/, std::span<std::byte> bytes) {
  device_.make_current();
  if (device_.cuda.register_host(bytes.data(), bytes.size(), 0) != kSuccess) return nullptr;
  host_.add_registered(bytes);
  std::shared_ptr<CudaPinned> pinned(new CudaPinned(device_, bytes), [&host = host_](CudaPinned* p) {
    host.remove_registered(p->bytes);
    delete p;
  });
  return pinned;
}

void CudaAllocation::wipe(const QueueObject& queue, const MemoryObject& memory) {
  device_.make_current();
  const CudaMemory& m = of(memory);
  const Stream stream = of(queue).current();
  device_.cuda.fill_8(m.address, 0, m.bytes, stream);
  device_.cuda.synchronize_stream(stream);
}

}  // namespace wm::runtime::cuda
