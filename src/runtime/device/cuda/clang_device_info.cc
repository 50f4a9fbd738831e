#include "runtime/device/cuda/clang_device_info.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "rewrite/compile_request.h"
#include "runtime/device/cuda/info_answer.h"
#include "runtime/device/opencl_native.h"

namespace wm::runtime::cuda {
namespace {

// Queries of the extension cl_nv_device_attribute_query.
constexpr PropertyName kComputeMajor = 0x4000, kComputeMinor = 0x4001, kRegistersPerBlock = 0x4002, kWarpSize = 0x4003;
constexpr std::size_t kMaxParameterBytes = 4096 - 64;  // a launch has 4 KB, a part of which the backend uses
constexpr cl_ulong kConstantBytes = 64 << 10;

// libclc's functions of single precision give 0 for results that are subnormal.
constexpr cl_device_fp_config kFloat = CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST | CL_FP_ROUND_TO_ZERO |
                                       CL_FP_ROUND_TO_INF | CL_FP_FMA | CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
constexpr cl_device_fp_config kDouble =
    (kFloat | CL_FP_DENORM) & ~static_cast<cl_device_fp_config>(CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT);

std::optional<std::string> text_answer(const DeviceFacts& facts, PropertyName name) {
  switch (name) {
    case CL_DEVICE_NAME:
      return facts.name;
    case CL_DEVICE_VENDOR:
      return "NVIDIA Corporation";
    case CL_DRIVER_VERSION:
      return fmt::format("CUDA {}.{}", facts.driver_version / 1000, facts.driver_version % 1000 / 10);
    case CL_DEVICE_PROFILE:
      return "FULL_PROFILE";
    case CL_DEVICE_VERSION:
      return "OpenCL 1.2 warpmux on CUDA";
    case CL_DEVICE_OPENCL_C_VERSION:
      return "OpenCL C 1.2 clang";
    case CL_DEVICE_EXTENSIONS:
      return std::string(rewrite::kCompiledExtensions) + " cl_nv_device_attribute_query";
    case CL_DEVICE_BUILT_IN_KERNELS:
      return "";
    default:
      return std::nullopt;
  }
}

std::optional<cl_uint> fact_answer(const DeviceFacts& facts, PropertyName name) {
  const auto count = [](int n) { return static_cast<cl_uint>(n); };
  switch (name) {
    case CL_DEVICE_MAX_COMPUTE_UNITS:
      return count(facts.multiprocessors);
    case CL_DEVICE_MAX_CLOCK_FREQUENCY:
      return count(facts.clock_kilohertz / 1000);
    case kComputeMajor:
      return count(facts.compute_major);
    case kComputeMinor:
      return count(facts.compute_minor);
    case kRegistersPerBlock:
      return count(facts.registers_per_multiprocessor);
    default:
      return std::nullopt;
  }
}

// Numbers of 32 bits that are the same for all of these devices.
std::optional<cl_uint> constant_answer(PropertyName name) {
  static const std::map<PropertyName, cl_uint> kAnswers{{CL_DEVICE_VENDOR_ID, 0x10de},
                                                        {CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3},
                                                        {CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, 1},
                                                        {CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, 1},
                                                        {CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, 1},
                                                        {CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, 1},
                                                        {CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, 1},
                                                        {CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, 1},
                                                        {CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, 0},
                                                        {CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, 1},
                                                        {CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, 1},
                                                        {CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, 1},
                                                        {CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, 1},
                                                        {CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, 1},
                                                        {CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, 1},
                                                        {CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, 0},
                                                        {CL_DEVICE_ADDRESS_BITS, 64},
                                                        {CL_DEVICE_MAX_READ_IMAGE_ARGS, 0},
                                                        {CL_DEVICE_MAX_WRITE_IMAGE_ARGS, 0},
                                                        {CL_DEVICE_MAX_SAMPLERS, 0},
                                                        {CL_DEVICE_MEM_BASE_ADDR_ALIGN, 2048},
                                                        {CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, 128},
                                                        {CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, CL_READ_WRITE_CACHE},
                                                        {CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, 128},
                                                        {CL_DEVICE_MAX_CONSTANT_ARGS, 9},
                                                        {CL_DEVICE_LOCAL_MEM_TYPE, CL_LOCAL},
                                                        {CL_DEVICE_ERROR_CORRECTION_SUPPORT, CL_FALSE},
                                                        {CL_DEVICE_HOST_UNIFIED_MEMORY, CL_FALSE},
                                                        {CL_DEVICE_ENDIAN_LITTLE, CL_TRUE},
                                                        {CL_DEVICE_AVAILABLE, CL_TRUE},
                                                        {CL_DEVICE_COMPILER_AVAILABLE, CL_TRUE},
                                                        {CL_DEVICE_LINKER_AVAILABLE, CL_TRUE},
                                                        {CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, CL_TRUE},
                                                        {kWarpSize, 32}};
  const auto it = kAnswers.find(name);
  return it == kAnswers.end() ? std::nullopt : std::optional(it->second);
}

std::optional<cl_ulong> wide_answer(const DeviceFacts& facts, PropertyName name) {
  switch (name) {
    case CL_DEVICE_TYPE:
      return CL_DEVICE_TYPE_GPU;
    case CL_DEVICE_GLOBAL_MEM_SIZE:
      return facts.memory_bytes;
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
      return facts.memory_bytes / 4;
    case CL_DEVICE_GLOBAL_MEM_CACHE_SIZE:
      return 0;
    case CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE:
      return kConstantBytes;
    case CL_DEVICE_LOCAL_MEM_SIZE:
      return static_cast<cl_ulong>(facts.shared_per_block);
    case CL_DEVICE_SINGLE_FP_CONFIG:
      return kFloat;
    case CL_DEVICE_DOUBLE_FP_CONFIG:
      return kDouble;
    case CL_DEVICE_EXECUTION_CAPABILITIES:
      return CL_EXEC_KERNEL;
    case CL_DEVICE_QUEUE_PROPERTIES:
      return CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    default:
      return std::nullopt;
  }
}

std::optional<std::size_t> size_answer(const DeviceFacts& facts, PropertyName name) {
  switch (name) {
    case CL_DEVICE_MAX_WORK_GROUP_SIZE:
      return static_cast<std::size_t>(facts.max_threads_per_block);
    case CL_DEVICE_MAX_PARAMETER_SIZE:
      return kMaxParameterBytes;
    case CL_DEVICE_PROFILING_TIMER_RESOLUTION:
      return 1000;
    case CL_DEVICE_PRINTF_BUFFER_SIZE:
      return 1 << 20;
    case CL_DEVICE_IMAGE2D_MAX_WIDTH:
    case CL_DEVICE_IMAGE2D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_WIDTH:
    case CL_DEVICE_IMAGE3D_MAX_HEIGHT:
    case CL_DEVICE_IMAGE3D_MAX_DEPTH:
    case CL_DEVICE_IMAGE_MAX_BUFFER_SIZE:
    case CL_DEVICE_IMAGE_MAX_ARRAY_SIZE:
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace

Status clang_device_info(const DeviceFacts& facts, PropertyName name, std::vector<std::byte>& answer) {
  if (name == CL_DEVICE_MAX_WORK_ITEM_SIZES) {
    const auto items = static_cast<std::size_t>(facts.max_threads_per_block);
    return put_value(answer, Size3{items, items, std::min<std::size_t>(items, 64)});
  }
  if (const auto text = text_answer(facts, name)) return put_text(answer, *text);
  if (const auto number = fact_answer(facts, name)) return put_value(answer, *number);
  if (const auto number = constant_answer(name)) return put_value(answer, *number);
  if (const auto number = wide_answer(facts, name)) return put_value(answer, *number);
  if (const auto size = size_answer(facts, name)) return put_value(answer, *size);
  return status::kInvalidValue;
}

}  // namespace wm::runtime::cuda
