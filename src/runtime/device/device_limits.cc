#include "runtime/device/device_limits.h"

#include <algorithm>

namespace wm::runtime {
namespace {

// Queries of the extension cl_nv_device_attribute_query.
constexpr cl_device_info kComputeMajor = 0x4000, kComputeMinor = 0x4001;

struct PerSm {
  std::uint32_t threads, groups, local_bytes;
};

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
PerSm nvidia_limits(cl_uint major, cl_uint minor) {
  if (major == 7 && minor == 5) return {1024, 16, 64 << 10};
  if (major == 8 && minor != 0) return {1536, minor == 9 ? 24U : 16U, 100 << 10};
  if (major == 8) return {2048, 32, 164 << 10};
  if (major == 9) return {2048, 32, 228 << 10};
  if (major >= 10) return {2048, 32, 228 << 10};
  return {2048, 32, 96 << 10};
}

PerSm compute_unit_limits(const Native& native) {
  const auto items = static_cast<std::uint32_t>(native.fact<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE));
  const auto local = static_cast<std::uint32_t>(native.fact<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE));
  if ((native.fact<cl_device_type>(CL_DEVICE_TYPE) & CL_DEVICE_TYPE_GPU) == 0) return {items, 1, local};
  const auto major = native.fact<cl_uint>(kComputeMajor);
  if (major != 0) return nvidia_limits(major, native.fact<cl_uint>(kComputeMinor));
  return {std::max(items, 1024U) * 2, 16, local * 2};  // another vendor: room for two groups of the largest size
}

std::uint32_t times(std::uint32_t n, std::uint32_t units) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{n} * units, 0xffffffffU));
}

}  // namespace

gpu::SmLimits device_limits(const Native& native) {
  const auto units = std::max(native.fact<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS), cl_uint{1});
  const PerSm one = compute_unit_limits(native);
  gpu::SmLimits limits;
  limits.total = {times(one.threads, units), times(65'536, units), times(one.local_bytes, units),
                  times(one.groups, units)};
  limits.warp_threads = one.groups == 1 ? 1 : 32;
  limits.register_unit = one.groups == 1 ? 1 : 256;
  limits.shared_unit = one.groups == 1 ? 1 : 128;
  return limits;
}

// One kilobyte from compute capability 8.0 on (the same guide, section on shared memory).
std::uint32_t local_reserve(const Native& native) { return native.fact<cl_uint>(kComputeMajor) >= 8 ? 1024 : 0; }

}  // namespace wm::runtime
