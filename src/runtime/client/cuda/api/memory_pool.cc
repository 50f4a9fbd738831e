// Allocation in the order of a stream, and memory pools.
#include <cstring>

#include "runtime/client/cuda/api/node_operations.h"

namespace wm::cuda {
namespace {

constexpr int kPinned = 1, kLocatedOnDevice = 1;  // the only kind of memory, and of its place, that a pool has here

// The pool that allocations without one use; it lives as long as the process.
std::shared_ptr<MemoryPool> default_pool(Driver& driver) {
  static const auto pool = [&] {
    auto made = std::make_shared<MemoryPool>();
    driver.pools.add(made);
    return made;
  }();
  return pool;
}

std::atomic<MemoryPool*>& device_pool() {
  static std::atomic<MemoryPool*> pool{nullptr};
  return pool;
}

// The pool that allocations without one use.
std::shared_ptr<MemoryPool> current_pool(Driver& driver) {
  if (auto chosen = driver.pools.find(device_pool())) return chosen;
  return default_pool(driver);
}

// Attributes of reuse are ints, the others 64-bit numbers.
std::size_t bytes_of(int attribute) {
  const bool is_int = attribute >= MemoryPool::kReuseFirst && attribute <= MemoryPool::kReuseLast;
  return is_int ? sizeof(int) : sizeof(std::uint64_t);
}

// The address is known at once; a use before the allocation's place in the stream is an error of the application.
CUresult allocate_async(CUdeviceptr* address, std::size_t bytes, std::shared_ptr<MemoryPool> pool, CUstream stream) {
  return with_work_stream(stream, [&](Context& context, Stream& s) {
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = 0;
    if (bytes == 0) return CUDA_SUCCESS;
    if (Context::is_capturing(s)) {
      Operation operation;
      const CUresult made = allocate_node(context, bytes, *address, operation);
      if (made == CUDA_SUCCESS) context.enqueue(s, operation);
      return made;
    }
    Driver& driver = driver_of(context);
    if (pool == nullptr) pool = current_pool(driver);
    auto used = MemoryPool::use(pool, bytes);
    if (used == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    const auto allocated = driver.memory().allocate(bytes, "memory of a pool", &context);
    if (!allocated) return CUDA_ERROR_OUT_OF_MEMORY;
    driver.memory().attach(*allocated, std::move(used));
    *address = *allocated;
    return CUDA_SUCCESS;
  });
}

template <typename Body>
CUresult with_pool(CUmemoryPool handle, Body&& body) {
  return with_driver([&](Driver& driver) {
    const auto pool = driver.pools.find(handle);
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return std::forward<Body>(body)(driver, pool);
  });
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Captures;
using wm::cuda::Context;
using wm::cuda::Driver;
using wm::cuda::driver_of;
using wm::cuda::GraphMemory;
using wm::cuda::MemoryPool;
using wm::cuda::Operation;
using wm::cuda::Stream;
using wm::cuda::with_driver;
using wm::cuda::with_pool;
using wm::cuda::with_work_stream;

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice device) {
  return with_driver([&](Driver& driver) {
    if (device != wm::cuda::kDevice) return CUDA_ERROR_INVALID_DEVICE;
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *pool = wm::cuda::default_pool(driver).get();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice device) {
  if (const CUresult result = cuDeviceGetDefaultMemPool(pool, device); result != CUDA_SUCCESS) return result;
  if (MemoryPool* chosen = wm::cuda::device_pool()) *pool = chosen;
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool) {
  return with_pool(pool, [&](Driver&, const std::shared_ptr<MemoryPool>& chosen) {
    if (device != wm::cuda::kDevice) return CUDA_ERROR_INVALID_DEVICE;
    wm::cuda::device_pool() = chosen.get();
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes, CUstream stream) {
  return wm::cuda::allocate_async(address, bytes, nullptr, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool, CUstream stream) {
  return with_pool(pool, [&](Driver&, const std::shared_ptr<MemoryPool>& p) {
    return wm::cuda::allocate_async(address, bytes, p, stream);
  });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return with_work_stream(stream, [&](Context& context, Stream& s) {
    if (address == 0) return CUDA_SUCCESS;
    if (const auto at = Captures::instance().position(s); at.capture != nullptr) {
      Operation operation;
      const CUresult made = wm::cuda::free_node(*at.capture->graph, address, operation);
      if (made == CUDA_SUCCESS) context.enqueue(s, operation);
      return made;
    }
    if (const auto memory = GraphMemory::find(address))
      return memory->give_back() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    Driver& driver = driver_of(context);
    if (!driver.memory().claim(address)) return CUDA_ERROR_INVALID_VALUE;
    context.enqueue(
        s, {wm::runtime::WorkKind::transfer,
            [&driver, address] { return driver.memory().free(address) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; },
            {}});
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return with_driver([&](Driver& driver) {
    if (pool == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto& location = properties->location;
    if (properties->allocType == 0 || location.type == 0) return CUDA_ERROR_INVALID_VALUE;
    if (properties->allocType != wm::cuda::kPinned || location.type != wm::cuda::kLocatedOnDevice)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (location.id != wm::cuda::kDevice) return CUDA_ERROR_INVALID_VALUE;
    if (properties->handleTypes != 0) return CUDA_ERROR_NOT_SUPPORTED;
    *pool = driver.pools.add(std::make_shared<MemoryPool>(properties->maxSize));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return with_driver([&](Driver& driver) {
    if (pool == wm::cuda::default_pool(driver).get()) return CUDA_ERROR_INVALID_VALUE;
    MemoryPool* chosen = pool;
    wm::cuda::device_pool().compare_exchange_strong(chosen, nullptr);
    return driver.pools.remove(pool) == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t) {
  return with_pool(pool, [](Driver&, const auto&) { return CUDA_SUCCESS; });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return with_pool(pool, [&](Driver&, const std::shared_ptr<MemoryPool>& p) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t number = 0;
    std::memcpy(&number, value, wm::cuda::bytes_of(attribute));
    return p->set_attribute(attribute, number) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, int attribute, void* value) {
  return with_pool(pool, [&](Driver&, const std::shared_ptr<MemoryPool>& p) {
    const auto number = p->attribute(attribute);
    if (value == nullptr || !number) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(value, &*number, wm::cuda::bytes_of(attribute));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const void*, std::size_t) {
  return with_pool(pool, [](Driver&, const auto&) { return CUDA_SUCCESS; });
}

CUresult cuMemPoolGetAccess(unsigned* flags, CUmemoryPool pool, CUmemLocation*) {
  return with_pool(pool, [&](Driver&, const auto&) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = 3;  // read and write
    return CUDA_SUCCESS;
  });
}

// Attributes 0 and 2 are the bytes that graphs use and reserve, 1 and 3 the most of them; they are the same here.
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void* value) {
  return with_driver([&](Driver&) {
    if (device != wm::cuda::kDevice) return CUDA_ERROR_INVALID_DEVICE;
    if (value == nullptr || attribute < 0 || attribute > 3) return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t bytes = attribute % 2 == 0 ? GraphMemory::total_bytes() : GraphMemory::peak_bytes();
    std::memcpy(value, &bytes, sizeof bytes);
    return CUDA_SUCCESS;
  });
}
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, int attribute, void* value) {
  return with_driver([&](Driver&) {
    if (device != wm::cuda::kDevice) return CUDA_ERROR_INVALID_DEVICE;
    std::uint64_t bytes = 1;
    if (value != nullptr) std::memcpy(&bytes, value, sizeof bytes);
    if ((attribute != 1 && attribute != 3) || bytes != 0) return CUDA_ERROR_INVALID_VALUE;  // only reset to 0
    GraphMemory::forget_peak();
    return CUDA_SUCCESS;
  });
}
CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return with_driver([&](Driver&) { return device != wm::cuda::kDevice ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS; });
}
