#include "runtime/client/forward/kernel_attributes.h"

#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

// By their numbers in the driver's interface.
constexpr auto kClusterSizeMustBeSet = static_cast<CUfunction_attribute>(10);
constexpr auto kClusterWidth = static_cast<CUfunction_attribute>(11);

}  // namespace

bool KernelOnDevice::can_query() {
  const RealFunctions& f = real();
  return f.cuFuncGetAttribute != nullptr && f.cuFuncSetAttribute != nullptr &&
         f.cuOccupancyMaxActiveBlocksPerMultiprocessor != nullptr && f.cuCtxGetDevice != nullptr;
}

std::optional<KernelOnDevice> KernelOnDevice::find(CUfunction function) {
  CUdevice device = 0;
  const auto kind = FunctionTable::get().kind(function);
  if (!kind || !can_query() || real().cuCtxGetDevice(&device) != CUDA_SUCCESS) return std::nullopt;
  return KernelOnDevice(function, *kind, device);
}

std::optional<int> KernelOnDevice::attribute(CUfunction_attribute attribute) const {
  int value = 0;
  const RealFunctions& f = real();
  const bool is_kernel = kind_ == HandleKind::kernel && f.cuKernelGetAttribute != nullptr;
  const CUresult result = is_kernel ? f.cuKernelGetAttribute(&value, attribute, function_, device_)
                                    : f.cuFuncGetAttribute(&value, attribute, function_);
  if (result != CUDA_SUCCESS) return std::nullopt;
  return value;
}

bool KernelOnDevice::set(CUfunction_attribute attribute, int value) const {
  const RealFunctions& f = real();
  const bool is_kernel = kind_ == HandleKind::kernel && f.cuKernelSetAttribute != nullptr;
  return (is_kernel ? f.cuKernelSetAttribute(attribute, value, function_, device_)
                    : f.cuFuncSetAttribute(function_, attribute, value)) == CUDA_SUCCESS;
}

int KernelOnDevice::occupancy(unsigned threads, unsigned shared_bytes) const {
  int blocks = 0;
  const CUresult result =
      real().cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function_, static_cast<int>(threads), shared_bytes);
  return result == CUDA_SUCCESS ? blocks : 0;
}

bool KernelOnDevice::runs_in_clusters() const {
  return attribute(kClusterSizeMustBeSet).value_or(0) != 0 || attribute(kClusterWidth).value_or(0) != 0;
}

}  // namespace wm::forward
