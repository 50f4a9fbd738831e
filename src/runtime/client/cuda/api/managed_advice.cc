// Advice, prefetching and attachment of managed memory, which change no result: host and device share one memory here.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/state/range_advice.h"

namespace wm::cuda {
namespace {

constexpr int kHostDevice = -1;     // CU_DEVICE_CPU
constexpr int kInvalidDevice = -2;  // CU_DEVICE_INVALID

enum LocationType : int { kNoLocation = 0, kAtDevice = 1, kAtHost = 2, kAtHostNode = 3, kAtCurrentHostNode = 4 };
enum Advice : int { kReadMostly = 1, kNotReadMostly, kPreferred, kNotPreferred, kAccessedBy, kNotAccessedBy };
enum RangeAttribute : int {
  kAskReadMostly = 1,
  kAskPreferred,
  kAskAccessedBy,
  kAskPrefetched,
  kAskPreferredType,
  kAskPreferredId,
  kAskPrefetchedType,
  kAskPrefetchedId
};

CUmemLocation location_of(CUdevice device) { return {device == kHostDevice ? kAtHost : kAtDevice, device}; }

CUresult check_location(const CUmemLocation& location) {
  if (location.type == kAtDevice) return location.id == kDevice ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
  if (location.type >= kAtHost && location.type <= kAtCurrentHostNode) return CUDA_SUCCESS;
  return CUDA_ERROR_INVALID_VALUE;
}

// The advice for the range, which must lie in one allocation of managed memory; nullptr where it does not.
std::shared_ptr<RangeAdvice> advice_for(Driver& driver, CUdeviceptr address, std::size_t bytes) {
  const auto range = driver.memory().find(address);
  if (!range || range->kind != runtime::MemoryKind::managed) return nullptr;
  if (bytes == 0 || bytes > range->bytes - (address - range->address)) return nullptr;
  return std::static_pointer_cast<RangeAdvice>(driver.memory().attach(range->address, std::make_shared<RangeAdvice>()));
}

CUresult advise(Driver& driver, CUdeviceptr address, std::size_t bytes, int advice, const CUmemLocation& location) {
  if (advice < kReadMostly || advice > kNotAccessedBy) return CUDA_ERROR_INVALID_VALUE;
  const auto parts = advice_for(driver, address, bytes);
  if (parts == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool needs_location = advice == kPreferred || advice >= kAccessedBy;
  if (needs_location) {
    if (const CUresult checked = check_location(location); checked != CUDA_SUCCESS) return checked;
  }
  parts->apply(address, bytes, [&](RangeAdvice::Part& part) {
    if (advice <= kNotReadMostly) {
      part.is_read_mostly = advice == kReadMostly;
    } else if (advice <= kNotPreferred) {
      part.preferred = advice == kPreferred ? location : CUmemLocation{};
    } else {
      (location.type == kAtDevice ? part.is_accessed_by_device : part.is_accessed_by_host) = advice == kAccessedBy;
    }
  });
  return CUDA_SUCCESS;
}

CUresult prefetch(Driver& driver, CUdeviceptr address, std::size_t bytes, const CUmemLocation& location) {
  const auto parts = advice_for(driver, address, bytes);
  if (parts == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult checked = check_location(location); checked != CUDA_SUCCESS) return checked;
  parts->apply(address, bytes, [&](RangeAdvice::Part& part) { part.prefetched = location; });
  return CUDA_SUCCESS;
}

// The place of all pages of a range, as a device number; pages at several places have none.
int device_number(const CUmemLocation& location) {
  if (location.type == kNoLocation) return kInvalidDevice;
  return location.type == kAtDevice ? location.id : kHostDevice;
}

CUresult advice_attribute(const RangeAdvice& parts, CUdeviceptr address, std::size_t bytes, int attribute, void* data,
                          std::size_t data_bytes) {
  const auto common = [&](auto&& of) { return parts.common(address, bytes, of); };
  const auto place = [&](CUmemLocation RangeAdvice::Part::*member) {
    const auto type = common([&](const RangeAdvice::Part& p) { return (p.*member).type; });
    const auto id = common([&](const RangeAdvice::Part& p) { return (p.*member).id; });
    return type && id ? CUmemLocation{*type, *id} : CUmemLocation{};
  };
  if (attribute == kAskAccessedBy) {
    if (data_bytes == 0 || data_bytes % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
    std::vector<int> devices;
    if (common([](const RangeAdvice::Part& p) { return p.is_accessed_by_device; }).value_or(false))
      devices.push_back(kDevice);
    if (common([](const RangeAdvice::Part& p) { return p.is_accessed_by_host; }).value_or(false))
      devices.push_back(kHostDevice);
    devices.resize(data_bytes / sizeof(int), kInvalidDevice);
    std::memcpy(data, devices.data(), data_bytes);
    return CUDA_SUCCESS;
  }
  if (data_bytes != sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
  int value = 0;
  switch (attribute) {
    case kAskReadMostly:
      value = common([](const RangeAdvice::Part& p) { return p.is_read_mostly; }).value_or(false) ? 1 : 0;
      break;
    case kAskPreferred:
      value = device_number(place(&RangeAdvice::Part::preferred));
      break;
    case kAskPrefetched:
      value = device_number(place(&RangeAdvice::Part::prefetched));
      break;
    case kAskPreferredType:
      value = place(&RangeAdvice::Part::preferred).type;
      break;
    case kAskPreferredId:
      value = place(&RangeAdvice::Part::preferred).id;
      break;
    case kAskPrefetchedType:
      value = place(&RangeAdvice::Part::prefetched).type;
      break;
    case kAskPrefetchedId:
      value = place(&RangeAdvice::Part::prefetched).id;
      break;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(data, &value, sizeof value);
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Context;
using wm::cuda::driver_of;
using wm::cuda::with_context;
using wm::cuda::with_work_stream;

CUresult cuMemAdvise(CUdeviceptr address, std::size_t bytes, int advice, CUdevice device) {
  return cuMemAdvise_v2(address, bytes, advice, wm::cuda::location_of(device));
}
CUresult cuMemAdvise_v2(CUdeviceptr address, std::size_t bytes, int advice, CUmemLocation location) {
  return with_context(
      [&](Context& context) { return wm::cuda::advise(driver_of(context), address, bytes, advice, location); });
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, std::size_t bytes, CUdevice device, CUstream stream) {
  return cuMemPrefetchAsync_v2(address, bytes, wm::cuda::location_of(device), 0, stream);
}
CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes, CUmemLocation location, unsigned flags,
                               CUstream stream) {
  return with_work_stream(stream, [&](Context& context, auto&) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return wm::cuda::prefetch(driver_of(context), address, bytes, location);
  });
}

CUresult cuMemRangeGetAttribute(void* data, std::size_t data_bytes, int attribute, CUdeviceptr address,
                                std::size_t bytes) {
  return with_context([&](Context& context) {
    if (data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto parts = wm::cuda::advice_for(driver_of(context), address, bytes);
    if (parts == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return wm::cuda::advice_attribute(*parts, address, bytes, attribute, data, data_bytes);
  });
}
CUresult cuMemRangeGetAttributes(void** data, std::size_t* data_bytes, int* attributes, std::size_t count,
                                 CUdeviceptr address, std::size_t bytes) {
  if (data == nullptr || data_bytes == nullptr || attributes == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    const CUresult given = cuMemRangeGetAttribute(data[i], data_bytes[i], attributes[i], address, bytes);
    if (given != CUDA_SUCCESS) return given;
  }
  return CUDA_SUCCESS;
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, std::size_t bytes, unsigned flags) {
  return with_work_stream(stream, [&](Context& context, auto&) {
    constexpr unsigned kOneStream = 4;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != kOneStream)
      return CUDA_ERROR_INVALID_VALUE;
    const auto range = driver_of(context).memory().find(address);
    const bool is_known = range && range->kind == wm::runtime::MemoryKind::managed;
    return is_known && (bytes == 0 || bytes == range->bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}
