// Allocation and the attributes of pointers.
#include <algorithm>
#include <cstring>

#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/state/graph_memory.h"
#include "runtime/simulated/shared_pages.h"

namespace wm::cuda {
namespace {

using runtime::MemoryKind;
using runtime::MemoryRange;

constexpr std::size_t kPitch = 512;

CUresult out_of_memory(const Error& error) {
  explain(error.what);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult allocate_device(Context& context, CUdeviceptr* address, std::size_t bytes) {
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  const auto allocated = driver_of(context).memory().allocate(bytes, "memory", &context);
  if (!allocated) return out_of_memory(allocated.error());
  *address = *allocated;
  return CUDA_SUCCESS;
}

CUresult allocate_host(Context& context, void** pointer, std::size_t bytes, unsigned flags) {
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (bytes == 0) {
    *pointer = nullptr;
    return CUDA_ERROR_INVALID_VALUE;
  }
  const auto allocated = driver_of(context).memory().allocate_shared(bytes, MemoryKind::pinned, flags, &context);
  if (!allocated) return out_of_memory(allocated.error());
  *pointer = reinterpret_cast<void*>(*allocated);
  return CUDA_SUCCESS;
}

CUresult free_range(Driver& driver, std::uint64_t address) {
  return driver.memory().free(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

template <typename T>
CUresult give(void* value, T answer) {
  std::memcpy(value, &answer, sizeof answer);
  return CUDA_SUCCESS;
}

// Programs see registered memory at the host's address, which kernels may use.
std::uint64_t first_address(const MemoryRange& range) {
  return range.kind == MemoryKind::registered ? reinterpret_cast<std::uint64_t>(range.host_access) : range.address;
}

// An attribute of memory that the driver knows.
CUresult range_attribute(Driver& driver, const MemoryRange& range, CUdeviceptr address, CUpointer_attribute attribute,
                         void* value) {
  const bool is_host = range.kind == MemoryKind::pinned || range.kind == MemoryKind::registered;
  const std::uint64_t offset = *driver.memory().device_address(address) - range.address;
  const std::uint64_t first = first_address(range);
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(value, range.owner);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(value, static_cast<unsigned>(is_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(value, CUdeviceptr{first + offset});
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (range.host_access == nullptr) return CUDA_ERROR_INVALID_VALUE;
      return give(value, static_cast<void*>(range.host_access + offset));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give(value, 0U);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return give(value, static_cast<unsigned long long>(range.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(value, range.kind == MemoryKind::managed ? 1U : 0U);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(value, kDevice);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give(value, CUdeviceptr{first});
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return give(value, static_cast<std::size_t>(range.bytes));
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give(value, 1U);
    default:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
}

// The value that cuPointerGetAttributes gives for memory that the driver does not know.
void clear_attribute(CUpointer_attribute attribute, void* value) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      give(value, -2);
      return;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      give(value, 0U);
      return;
    default:
      give(value, std::uint64_t{0});
  }
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Context;
using wm::cuda::Driver;
using wm::cuda::driver_of;
using wm::cuda::with_context;
using wm::cuda::with_driver;
using wm::cuda::with_unsafe_context;
using wm::runtime::MemoryKind;

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return with_context([&](Context& context) {
    if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *free = driver_of(context).memory().free_bytes();
    *total = driver_of(context).memory().total_bytes();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return with_unsafe_context([&](Context& context) { return wm::cuda::allocate_device(context, address, bytes); });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                            unsigned element) {
  return with_unsafe_context([&](Context& context) {
    if (pitch == nullptr || width == 0 || height == 0) return CUDA_ERROR_INVALID_VALUE;
    if (element != 4 && element != 8 && element != 16) return CUDA_ERROR_INVALID_VALUE;
    if (width > ~std::size_t{0} - wm::cuda::kPitch) return CUDA_ERROR_OUT_OF_MEMORY;
    *pitch = (width + wm::cuda::kPitch - 1) / wm::cuda::kPitch * wm::cuda::kPitch;
    if (height > ~std::size_t{0} / *pitch) return CUDA_ERROR_OUT_OF_MEMORY;
    return wm::cuda::allocate_device(context, address, *pitch * height);
  });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return with_unsafe_context([&](Context& context) {
    if (address == 0) return CUDA_SUCCESS;
    if (const auto memory = wm::cuda::GraphMemory::find(address))
      return memory->give_back() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    const auto claimed = driver_of(context).memory().find(address);
    if (!claimed || claimed->is_claimed) return CUDA_ERROR_INVALID_VALUE;
    // Freeing waits for the context's work, which may use the memory.
    if (const CUresult done = context.drain(); done != CUDA_SUCCESS) return done;
    const auto range = driver_of(context).memory().find(address);
    const bool is_ours =
        range && range->address == address && (range->kind == MemoryKind::device || range->kind == MemoryKind::managed);
    return is_ours ? wm::cuda::free_range(driver_of(context), address) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* base, std::size_t* bytes, CUdeviceptr address) {
  return with_context([&](Context& context) {
    const auto range = driver_of(context).memory().find(address);
    if (!range) return CUDA_ERROR_NOT_FOUND;
    if (base != nullptr) *base = wm::cuda::first_address(*range);
    if (bytes != nullptr) *bytes = range->bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocHost_v2(void** pointer, std::size_t bytes) {
  return with_unsafe_context([&](Context& context) { return wm::cuda::allocate_host(context, pointer, bytes, 0); });
}

CUresult cuMemHostAlloc(void** pointer, std::size_t bytes, unsigned flags) {
  return with_unsafe_context([&](Context& context) { return wm::cuda::allocate_host(context, pointer, bytes, flags); });
}

CUresult cuMemFreeHost(void* pointer) {
  return with_unsafe_context([&](Context& context) {
    const auto range = driver_of(context).memory().find(reinterpret_cast<std::uint64_t>(pointer));
    if (!range || range->kind != MemoryKind::pinned || range->host_access != pointer) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult done = context.drain(); done != CUDA_SUCCESS) return done;
    return wm::cuda::free_range(driver_of(context), range->address);
  });
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned flags) {
  return with_context([&](Context& context) {
    if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    // Kernels use registered memory by the host's address, as they use pinned memory.
    const auto range = driver_of(context).memory().find(reinterpret_cast<std::uint64_t>(pointer));
    if (!range || range->host_access == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = reinterpret_cast<CUdeviceptr>(pointer);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostGetFlags(unsigned* flags, void* pointer) {
  return with_context([&](Context& context) {
    const auto range = driver_of(context).memory().find(reinterpret_cast<std::uint64_t>(pointer));
    if (flags == nullptr || !range || range->host_access == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = range->flags | CU_MEMHOSTALLOC_DEVICEMAP;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostRegister_v2(void* pointer, std::size_t bytes, unsigned flags) {
  return with_unsafe_context([&](Context& context) {
    if (pointer == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (!wm::runtime::HostPages::are_mapped(pointer, bytes)) return CUDA_ERROR_INVALID_VALUE;
    wm::runtime::DeviceMemory& memory = driver_of(context).memory();
    if (memory.find(reinterpret_cast<std::uint64_t>(pointer))) return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    const auto registered = memory.register_host(pointer, bytes, flags, &context);
    if (registered) return CUDA_SUCCESS;
    wm::cuda::explain(registered.error().what);
    return CUDA_ERROR_NOT_SUPPORTED;
  });
}

CUresult cuMemHostUnregister(void* pointer) {
  return with_unsafe_context([&](Context& context) {
    const auto range = driver_of(context).memory().find(reinterpret_cast<std::uint64_t>(pointer));
    if (!range || range->kind != MemoryKind::registered || range->host_access != pointer) {
      return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    }
    if (const CUresult done = context.drain(); done != CUDA_SUCCESS) return done;
    return wm::cuda::free_range(driver_of(context), range->address);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  return with_unsafe_context([&](Context& context) {
    if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
    const auto allocated = driver_of(context).memory().allocate_shared(bytes, MemoryKind::managed, flags, &context);
    if (!allocated) return wm::cuda::out_of_memory(allocated.error());
    *address = *allocated;
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return with_context([&](Context& context) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto range = driver_of(context).memory().find(address);
    if (!range) return CUDA_ERROR_INVALID_VALUE;
    return wm::cuda::range_attribute(driver_of(context), *range, address, attribute, value);
  });
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** values, CUdeviceptr address) {
  return with_context([&](Context& context) {
    if (attributes == nullptr || values == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto range = driver_of(context).memory().find(address);
    if (std::find(values, values + count, nullptr) != values + count) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; ++i) {
      if (range &&
          wm::cuda::range_attribute(driver_of(context), *range, address, attributes[i], values[i]) == CUDA_SUCCESS)
        continue;
      wm::cuda::clear_attribute(attributes[i], values[i]);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr address) {
  return with_context([&](Context& context) {
    if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
    return driver_of(context).memory().find(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  });
}
