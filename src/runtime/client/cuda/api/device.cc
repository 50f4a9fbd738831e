// Initialisation, errors and devices.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <set>

#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/api/device_attributes.h"

namespace wm::cuda {

void explain(const std::string& text) {
  static std::mutex mutex;
  static auto* printed = new std::set<std::string>();
  const std::lock_guard lock(mutex);
  if (printed->insert(text).second) std::fprintf(stderr, "wm: %s\n", text.c_str());
}

namespace {

struct ResultText {
  CUresult result;
  const char* name;
  const char* description;
};

constexpr ResultText kResults[] = {
#define WM_CUDA_RESULT(name, value, description) {name, #name, description},
#include "runtime/client/cuda/interface/results.def"
#undef WM_CUDA_RESULT
};

const ResultText* text_of(CUresult result) {
  const auto* at =
      std::find_if(std::begin(kResults), std::end(kResults), [&](const auto& r) { return r.result == result; });
  return at == std::end(kResults) ? nullptr : at;
}

template <typename Body>
CUresult with_device(CUdevice device, Body&& body) {
  return with_driver([&](Driver& driver) {
    if (device != kDevice) return CUDA_ERROR_INVALID_DEVICE;
    return std::forward<Body>(body)(driver);
  });
}

constexpr const char* kBusId = "0000:01:00.0";

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Driver;
using wm::cuda::with_device;
using wm::cuda::with_driver;

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* found = wm::cuda::text_of(error);
  *text = found == nullptr ? nullptr : found->description;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto* found = wm::cuda::text_of(error);
  *text = found == nullptr ? nullptr : found->name;
  return found == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuInit(unsigned flags) { return flags != 0 ? CUDA_ERROR_INVALID_VALUE : Driver::initialize(); }

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = wm::cuda::kDriverVersion;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return with_driver([&](Driver&) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (ordinal != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = wm::cuda::kDevice;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return with_driver([&](Driver&) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = 1;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return with_device(device, [&](Driver& driver) {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<std::size_t>(length), "warpmux %s (simulated)", driver.config().name.c_str());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return with_device(device, [&](Driver& driver) {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::memset(uuid->bytes, 0, sizeof uuid->bytes);
    std::memcpy(uuid->bytes, driver.config().name.data(), std::min(driver.config().name.size(), sizeof uuid->bytes));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) { return cuDeviceGetUuid(uuid, device); }

CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  return with_device(device, [&](Driver& driver) {
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *bytes = driver.memory().total_bytes();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, int attribute, CUdevice device) {
  return with_device(device, [&](Driver& driver) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto found = wm::cuda::device_attribute(driver.config(), attribute);
    if (!found) return CUDA_ERROR_INVALID_VALUE;
    *value = *found;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return with_device(device, [&](Driver& driver) {
    if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const int capability = wm::cuda::compute_capability(driver.config());
    *major = capability / 10;
    *minor = capability % 10;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetByPCIBusId(CUdevice* device, const char* id) {
  return with_driver([&](Driver&) {
    if (device == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (std::strcmp(id, wm::cuda::kBusId) != 0) return CUDA_ERROR_INVALID_DEVICE;
    *device = wm::cuda::kDevice;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  return with_device(device, [&](Driver&) {
    if (id == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(id, static_cast<std::size_t>(length), "%s", wm::cuda::kBusId);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  return with_device(device, [&](Driver&) {
    if (peer != wm::cuda::kDevice) return CUDA_ERROR_INVALID_DEVICE;
    if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *can = 0;
    return CUDA_SUCCESS;
  });
}

// There is one device, and a device is not its own peer.
CUresult cuDeviceGetP2PAttribute(int*, int, CUdevice device, CUdevice) {
  return with_device(device, [&](Driver&) { return CUDA_ERROR_INVALID_DEVICE; });
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, int, CUdevice device) {
  return with_device(device, [&](Driver&) {
    if (supported == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *supported = 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }
