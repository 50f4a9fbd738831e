// The driver's functions that allocate and free device memory, and those that tell how much there is: under a limit
// (`wm run --memory`) the program sees a device of that size.
#include "runtime/client/forward/memory_calls.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
#include <type_traits>

#include "runtime/client/forward/arbitration.h"
#include "runtime/client/forward/daemon_page.h"
#include "runtime/client/forward/green_contexts.h"
#include "runtime/client/forward/memory_account.h"
#include "runtime/client/forward/real_driver.h"

namespace wm::forward {
namespace {

using Kind = MemoryAccount::Kind;

MemoryAccount& account() {
  static auto* only = new MemoryAccount;
  return *only;
}

// Bytes; 0: no limit.
std::uint64_t limit() {
  static const std::uint64_t bytes = [] {
    const char* text = std::getenv("WARPMUX_MEMORY_LIMIT");
    return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  }();
  return bytes;
}

// Memory is counted where there is a limit or a daemon that shows it.
bool is_counted() { return limit() != 0 || is_managed(); }

void show() {
  page().counters.memory_bytes.store(account().used(), std::memory_order_relaxed);
  page().counters.memory_limit.store(limit(), std::memory_order_relaxed);
}

// The primary contexts of devices.
struct PrimaryContexts {
  std::mutex mutex;
  std::map<CUdevice, CUcontext> contexts;
};
PrimaryContexts& primaries() {
  static auto* only = new PrimaryContexts;
  return *only;
}

CUcontext current_context() {
  CUcontext context = nullptr;
  const auto call = real().cuCtxGetCurrent;
  return call != nullptr && call(&context) == CUDA_SUCCESS ? context : nullptr;
}

template <typename Name>
std::uint64_t number_of(Name name) {
  if constexpr (std::is_pointer_v<Name>) {
    return reinterpret_cast<std::uint64_t>(name);
  } else {
    return name;
  }
}

// An allocation whose result is in `*name` when `call` has succeeded.
template <typename Name, typename Call>
CUresult allocate(Kind kind, std::uint64_t bytes, const Name* name, Call&& call) {
  if (!is_counted()) return call();
  if (!account().reserve(bytes, limit())) return CUDA_ERROR_OUT_OF_MEMORY;
  const CUresult result = call();
  if (result == CUDA_SUCCESS) {
    account().add(kind, number_of(*name), bytes, current_context());
  } else {
    account().cancel(bytes);
  }
  show();
  return result;
}

template <typename Call, typename Name, typename... More>
CUresult release(Call call, Kind kind, Name name, More... more) {
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(name, more...);
  if (result == CUDA_SUCCESS && is_counted()) {
    account().remove(kind, number_of(name));
    show();
  }
  return result;
}

// Bytes of an array of CU_AD_FORMAT elements; an unknown format counts as four bytes.
std::uint64_t array_bytes(std::uint64_t width, std::uint64_t height, std::uint64_t depth, unsigned format,
                          unsigned channels) {
  unsigned element = 4;
  if (format == 0x01 || format == 0x08) element = 1;
  if (format == 0x02 || format == 0x09 || format == 0x10) element = 2;
  return std::max<std::uint64_t>(width, 1) * std::max<std::uint64_t>(height, 1) * std::max<std::uint64_t>(depth, 1) *
         element * channels;
}

}  // namespace

void forget_memory_of(CUcontext context) {
  if (!is_counted()) return;
  account().remove_context(context);
  show();
}

void forget_memory_of_primary(CUdevice device) {
  const std::lock_guard lock(primaries().mutex);
  const auto at = primaries().contexts.find(device);
  if (at != primaries().contexts.end()) forget_memory_of(at->second);
}

}  // namespace wm::forward

using wm::forward::account;
using wm::forward::allocate;
using wm::forward::is_counted;
using wm::forward::Kind;
using wm::forward::limit;
using wm::forward::real;
using wm::forward::release;

#define WM_REAL(name)            \
  const auto call = real().name; \
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  WM_REAL(cuDevicePrimaryCtxRetain);
  const CUresult result = call(context, device);
  if (result != CUDA_SUCCESS || context == nullptr) return result;
  wm::forward::GreenContexts::get().primary_retained(device, *context);
  wm::forward::prepare_sms_soon();
  const std::lock_guard lock(wm::forward::primaries().mutex);
  wm::forward::primaries().contexts[device] = *context;
  return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  WM_REAL(cuMemAlloc_v2);
  return allocate(Kind::address, bytes, address, [&] { return call(address, bytes); });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch, std::size_t width, std::size_t height,
                            unsigned element) {
  WM_REAL(cuMemAllocPitch_v2);
  // The driver rounds rows up; every pitch that it uses is a multiple of this at most.
  constexpr std::size_t kLargestAlignment = 512;
  const std::size_t row = (width + kLargestAlignment - 1) / kLargestAlignment * kLargestAlignment;
  return allocate(Kind::address, row * height, address, [&] { return call(address, pitch, width, height, element); });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes, unsigned flags) {
  WM_REAL(cuMemAllocManaged);
  return allocate(Kind::address, bytes, address, [&] { return call(address, bytes, flags); });
}

#define WM_STREAM_ORDERED(suffix)                                                                       \
  CUresult cuMemAllocAsync##suffix(CUdeviceptr* address, std::size_t bytes, CUstream stream) {          \
    WM_REAL(cuMemAllocAsync##suffix);                                                                   \
    return allocate(Kind::address, bytes, address, [&] { return call(address, bytes, stream); });       \
  }                                                                                                     \
  CUresult cuMemAllocFromPoolAsync##suffix(CUdeviceptr* address, std::size_t bytes, CUmemoryPool pool,  \
                                           CUstream stream) {                                           \
    WM_REAL(cuMemAllocFromPoolAsync##suffix);                                                           \
    return allocate(Kind::address, bytes, address, [&] { return call(address, bytes, pool, stream); }); \
  }                                                                                                     \
  CUresult cuMemFreeAsync##suffix(CUdeviceptr address, CUstream stream) {                               \
    return release(real().cuMemFreeAsync##suffix, Kind::address, address, stream);                      \
  }
WM_STREAM_ORDERED()
WM_STREAM_ORDERED(_ptsz)

CUresult cuMemFree_v2(CUdeviceptr address) { return release(real().cuMemFree_v2, Kind::address, address); }

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* descriptor) {
  WM_REAL(cuArrayCreate_v2);
  if (array == nullptr || descriptor == nullptr) return call(array, descriptor);
  const auto& d = *descriptor;
  return allocate(Kind::array, wm::forward::array_bytes(d.Width, d.Height, 1, d.Format, d.NumChannels), array,
                  [&] { return call(array, descriptor); });
}

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  WM_REAL(cuArray3DCreate_v2);
  if (array == nullptr || descriptor == nullptr) return call(array, descriptor);
  const auto& d = *descriptor;
  return allocate(Kind::array, wm::forward::array_bytes(d.Width, d.Height, d.Depth, d.Format, d.NumChannels), array,
                  [&] { return call(array, descriptor); });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor, unsigned levels) {
  WM_REAL(cuMipmappedArrayCreate);
  if (array == nullptr || descriptor == nullptr) return call(array, descriptor, levels);
  const auto& d = *descriptor;
  // All further levels of a two-dimensional array together have at most a third of the first.
  const std::uint64_t first = wm::forward::array_bytes(d.Width, d.Height, d.Depth, d.Format, d.NumChannels);
  return allocate(Kind::array, first + (levels > 1 ? first / 3 : 0), array,
                  [&] { return call(array, descriptor, levels); });
}

CUresult cuArrayDestroy(CUarray array) { return release(real().cuArrayDestroy, Kind::array, array); }

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return release(real().cuMipmappedArrayDestroy, Kind::array, array);
}

CUresult cuMemCreate(unsigned long long* handle, std::size_t bytes, const void* properties, unsigned long long flags) {
  WM_REAL(cuMemCreate);
  return allocate(Kind::handle, bytes, handle, [&] { return call(handle, bytes, properties, flags); });
}

CUresult cuMemRelease(unsigned long long handle) { return release(real().cuMemRelease, Kind::handle, handle); }

CUresult cuMemRetainAllocationHandle(unsigned long long* handle, void* address) {
  WM_REAL(cuMemRetainAllocationHandle);
  const CUresult result = call(handle, address);
  if (result == CUDA_SUCCESS && is_counted()) account().retained(*handle);
  return result;
}

CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, unsigned long long handle,
                  unsigned long long flags) {
  WM_REAL(cuMemMap);
  const CUresult result = call(address, bytes, offset, handle, flags);
  if (result == CUDA_SUCCESS && is_counted()) account().mapped(address, handle);
  return result;
}

CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  WM_REAL(cuMemUnmap);
  const CUresult result = call(address, bytes);
  if (result == CUDA_SUCCESS && is_counted()) {
    account().unmapped(address, bytes);
    wm::forward::show();
  }
  return result;
}

CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  WM_REAL(cuMemGetInfo_v2);
  const CUresult result = call(free, total);
  if (result != CUDA_SUCCESS || limit() == 0) return result;
  const std::uint64_t used = std::min(account().used(), limit());
  *free = std::min<std::size_t>(*free, limit() - used);
  *total = std::min<std::size_t>(*total, limit());
  return result;
}

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  WM_REAL(cuDeviceTotalMem_v2);
  const CUresult result = call(bytes, device);
  if (result == CUDA_SUCCESS && limit() != 0) *bytes = std::min<std::size_t>(*bytes, limit());
  return result;
}
