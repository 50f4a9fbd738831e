// Sets of SMs and green contexts. A set is a range of SMs from the first one of the device on, as far as it was split;
// the device of a configuration has no clusters of SMs, so that the groups of a split follow each other.
#include <algorithm>
#include <cstring>

#include "runtime/client/cuda/api/call.h"

namespace wm::cuda {
namespace {

constexpr unsigned kSplitUnit = 8, kSmallUnit = 2, kIgnoreCoscheduling = 1;

CUdevResource make_resource(std::uint32_t first, std::uint32_t count) {
  CUdevResource resource{};
  resource.type = CU_DEV_RESOURCE_TYPE_SM;
  std::memcpy(resource._internal_padding, &first, sizeof first);
  resource.sm = {count, kSplitUnit, kSplitUnit, 0};
  return resource;
}

std::uint32_t first_of(const CUdevResource& resource) {
  std::uint32_t first = 0;
  std::memcpy(&first, resource._internal_padding, sizeof first);
  return first;
}

bool is_range_of(const CUdevResource& resource, const Driver& driver) {
  return resource.type == CU_DEV_RESOURCE_TYPE_SM && resource.sm.smCount != 0 &&
         first_of(resource) + std::uint64_t{resource.sm.smCount} <= driver.config().sm.count;
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Driver;
using wm::cuda::GreenContext;
using wm::cuda::SmSet;
using wm::cuda::with_driver;

CUresult cuDeviceGetDevResource(CUdevice device, CUdevResource* resource, unsigned type) {
  return with_driver([&](Driver& driver) {
    if (device != wm::cuda::kDevice) return CUDA_ERROR_INVALID_DEVICE;
    if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *resource = wm::cuda::make_resource(0, driver.config().sm.count);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* groups, unsigned* count, const CUdevResource* input,
                                     CUdevResource* rest, unsigned flags, unsigned min_sms) {
  return with_driver([&](Driver& driver) {
    if (count == nullptr || input == nullptr || !wm::cuda::is_range_of(*input, driver)) return CUDA_ERROR_INVALID_VALUE;
    const unsigned unit = (flags & wm::cuda::kIgnoreCoscheduling) != 0 ? wm::cuda::kSmallUnit : wm::cuda::kSplitUnit;
    if (min_sms > input->sm.smCount) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    const unsigned sms = std::max((min_sms + unit - 1) / unit, 1U) * unit;
    const unsigned all = input->sm.smCount / sms;
    if (all == 0) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    if (groups == nullptr) {
      *count = all;
      return CUDA_SUCCESS;
    }
    const unsigned made = std::min(all, *count);
    const std::uint32_t first = wm::cuda::first_of(*input), total = input->sm.smCount;
    for (unsigned i = 0; i < made; ++i) groups[i] = wm::cuda::make_resource(first + i * sms, sms);
    if (rest != nullptr) *rest = wm::cuda::make_resource(first + made * sms, total - made * sms);
    *count = made;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* description, CUdevResource* resources, unsigned count) {
  return with_driver([&](Driver& driver) {
    if (description == nullptr || resources == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    std::vector<std::uint32_t> sms;
    for (unsigned i = 0; i < count; ++i) {
      if (!wm::cuda::is_range_of(resources[i], driver)) return CUDA_ERROR_INVALID_VALUE;
      for (unsigned k = 0; k < resources[i].sm.smCount; ++k) sms.push_back(wm::cuda::first_of(resources[i]) + k);
    }
    std::sort(sms.begin(), sms.end());
    if (std::adjacent_find(sms.begin(), sms.end()) != sms.end()) return CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION;
    *description = driver.sm_sets.add(std::make_shared<SmSet>(std::move(sms)));
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxCreate(CUgreenCtx* context, CUdevResourceDesc description, CUdevice device, unsigned flags) {
  return with_driver([&](Driver& driver) {
    if (device != wm::cuda::kDevice) return CUDA_ERROR_INVALID_DEVICE;
    const auto sms = driver.sm_sets.find(description);
    if (context == nullptr || sms == nullptr || flags != CU_GREEN_CTX_DEFAULT_STREAM) return CUDA_ERROR_INVALID_VALUE;
    *context = driver.green_contexts.add(std::make_shared<GreenContext>(driver.retain_primary(), *sms));
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxDestroy(CUgreenCtx context) {
  return with_driver([&](Driver& driver) {
    return driver.green_contexts.remove(context) == nullptr ? CUDA_ERROR_INVALID_CONTEXT : driver.release_primary();
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx context, CUdevResource* resource, unsigned type) {
  return with_driver([&](Driver& driver) {
    const auto green = driver.green_contexts.find(context);
    if (green == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (resource == nullptr || type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
    const auto& sms = *green->sms().sms();
    *resource = wm::cuda::make_resource(sms.front(), static_cast<std::uint32_t>(sms.size()));
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx context, unsigned flags, int priority) {
  return with_driver([&](Driver& driver) {
    const auto green = driver.green_contexts.find(context);
    if (green == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (stream == nullptr || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
    auto made = green->primary().make_stream(flags, std::clamp(priority, -5, 0));
    made->green = context;
    made->sms = green->sms().sms();
    *stream = driver.streams.add(std::move(made));
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* context) {
  return wm::cuda::with_stream(handle, [&](wm::cuda::Context&, wm::cuda::Stream& stream) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = stream.green;
    return CUDA_SUCCESS;
  });
}
