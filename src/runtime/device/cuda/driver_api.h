// The CUDA driver, loaded at run time: neither its headers nor a toolkit are needed to build, and wm also runs on
// machines without it.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"

namespace wm::runtime::cuda {

using Code = int;  // a CUresult
inline constexpr Code kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kNotReady = 600;

using Address = unsigned long long;  // in device memory
struct ContextObject;
struct StreamObject;
struct EventObject;
struct ModuleObject;
struct FunctionObject;
struct PoolObject;
struct ArrayObject;
using Context = ContextObject*;
using Stream = StreamObject*;
using Event = EventObject*;
using Module = ModuleObject*;
using Function = FunctionObject*;
using Pool = PoolObject*;
using Array = ArrayObject*;

// CU_MEMCPY3D, as cuMemcpy3DAsync_v2 takes it.
struct Copy3D {
  std::size_t from_x = 0, from_y = 0, from_z = 0, from_level = 0;
  int from_type = 0;  // 1: host, 2: device, 3: array
  const void* from_host = nullptr;
  Address from_device = 0;
  Array from_array = nullptr;
  void* reserved0 = nullptr;
  std::size_t from_pitch = 0, from_height = 0;
  std::size_t to_x = 0, to_y = 0, to_z = 0, to_level = 0;
  int to_type = 0;
  void* to_host = nullptr;
  Address to_device = 0;
  Array to_array = nullptr;
  void* reserved1 = nullptr;
  std::size_t to_pitch = 0, to_height = 0;
  std::size_t width = 0, height = 0, depth = 0;
};

// CUDA_ARRAY3D_DESCRIPTOR.
struct ArrayDescription {
  std::size_t width = 0, height = 0, depth = 0;
  int format = 0;  // CUarray_format
  unsigned channels = 0, flags = 0;
  friend auto operator<=>(const ArrayDescription&, const ArrayDescription&) = default;
};

// CUDA_RESOURCE_DESC.
struct ResourceDescription {
  static constexpr int kArray = 0, kLinear = 2;
  struct Linear {
    Address address;
    int format;
    unsigned channels;
    std::size_t bytes;
  };
  int type = kArray;
  union {
    Array array;
    Linear linear;
    int reserved[32];
  } resource{};
  unsigned flags = 0;
};

// CUDA_TEXTURE_DESC.
struct TextureDescription {
  std::array<int, 3> address{};  // CUaddress_mode
  int filter = 0;                // 1: linear
  unsigned flags = 0, max_anisotropy = 0;
  int level_filter = 0;
  float level_bias = 0, min_level = 0, max_level = 0;
  std::array<float, 4> border{};
  std::array<int, 12> reserved{};
};
static_assert(sizeof(ArrayDescription) == 40 && sizeof(ResourceDescription) == 144 &&
              sizeof(TextureDescription) == 104);

// Numbers of the driver's enumerations.
namespace attribute {
inline constexpr int kMaxThreadsPerBlock = 1, kMaxBlockX = 2, kMaxBlockY = 3, kMaxBlockZ = 4, kMaxGridX = 5,
                     kMaxGridY = 6, kMaxGridZ = 7, kSharedPerBlock = 8, kConstantBytes = 9, kClockKilohertz = 13,
                     kMultiprocessors = 16, kGlobalMemoryBus = 37, kL2Bytes = 38, kThreadsPerMultiprocessor = 39,
                     kComputeMajor = 75, kComputeMinor = 76, kSharedPerMultiprocessor = 81,
                     kRegistersPerMultiprocessor = 82, kSharedPerBlockOptin = 97, kBlocksPerMultiprocessor = 106,
                     kReservedSharedPerBlock = 111, kMemoryPools = 115;
}  // namespace attribute
namespace function_attribute {
inline constexpr int kMaxThreads = 0, kSharedBytes = 1, kLocalBytes = 3, kRegisters = 4, kMaxDynamicShared = 8,
                     kSharedCarveout = 9;
}  // namespace function_attribute

// X(member, name of the function in the library, parameters)
#define WM_CUDA_CALLS(X)                                                                                          \
  X(init, "cuInit", (unsigned))                                                                                   \
  X(driver_version, "cuDriverGetVersion", (int*))                                                                 \
  X(device_count, "cuDeviceGetCount", (int*))                                                                     \
  X(device_get, "cuDeviceGet", (int*, int))                                                                       \
  X(device_name, "cuDeviceGetName", (char*, int, int))                                                            \
  X(device_memory, "cuDeviceTotalMem_v2", (std::size_t*, int))                                                    \
  X(device_attribute, "cuDeviceGetAttribute", (int*, int, int))                                                   \
  X(retain_context, "cuDevicePrimaryCtxRetain", (Context*, int))                                                  \
  X(set_context, "cuCtxSetCurrent", (Context))                                                                    \
  X(priority_range, "cuCtxGetStreamPriorityRange", (int*, int*))                                                  \
  X(create_stream, "cuStreamCreateWithPriority", (Stream*, unsigned, int))                                        \
  X(destroy_stream, "cuStreamDestroy_v2", (Stream))                                                               \
  X(synchronize_stream, "cuStreamSynchronize", (Stream))                                                          \
  X(wait_event, "cuStreamWaitEvent", (Stream, Event, unsigned))                                                   \
  X(write_value, "cuStreamWriteValue32_v2", (Stream, Address, std::uint32_t, unsigned))                           \
  X(create_event, "cuEventCreate", (Event*, unsigned))                                                            \
  X(destroy_event, "cuEventDestroy_v2", (Event))                                                                  \
  X(record_event, "cuEventRecord", (Event, Stream))                                                               \
  X(query_event, "cuEventQuery", (Event))                                                                         \
  X(synchronize_event, "cuEventSynchronize", (Event))                                                             \
  X(elapsed, "cuEventElapsedTime", (float*, Event, Event))                                                        \
  X(allocate_words, "cuMemAlloc_v2", (Address*, std::size_t))                                                     \
  X(free_words, "cuMemFree_v2", (Address))                                                                        \
  X(allocate, "cuMemAllocAsync", (Address*, std::size_t, Stream))                                                 \
  X(free, "cuMemFreeAsync", (Address, Stream))                                                                    \
  X(default_pool, "cuDeviceGetDefaultMemPool", (Pool*, int))                                                      \
  X(set_pool_attribute, "cuMemPoolSetAttribute", (Pool, int, void*))                                              \
  X(allocate_host, "cuMemHostAlloc", (void**, std::size_t, unsigned))                                             \
  X(free_host, "cuMemFreeHost", (void*))                                                                          \
  X(register_host, "cuMemHostRegister_v2", (void*, std::size_t, unsigned))                                        \
  X(unregister_host, "cuMemHostUnregister", (void*))                                                              \
  X(copy_to_device, "cuMemcpyHtoDAsync_v2", (Address, const void*, std::size_t, Stream))                          \
  X(copy_to_host, "cuMemcpyDtoHAsync_v2", (void*, Address, std::size_t, Stream))                                  \
  X(copy, "cuMemcpyDtoDAsync_v2", (Address, Address, std::size_t, Stream))                                        \
  X(copy_3d, "cuMemcpy3DAsync_v2", (const Copy3D*, Stream))                                                       \
  X(fill_8, "cuMemsetD8Async", (Address, unsigned char, std::size_t, Stream))                                     \
  X(fill_16, "cuMemsetD16Async", (Address, unsigned short, std::size_t, Stream))                                  \
  X(fill_32, "cuMemsetD32Async", (Address, unsigned, std::size_t, Stream))                                        \
  X(fill_rows_32, "cuMemsetD2D32Async", (Address, std::size_t, unsigned, std::size_t, std::size_t, Stream))       \
  X(create_array, "cuArray3DCreate_v2", (Array*, const ArrayDescription*))                                        \
  X(destroy_array, "cuArrayDestroy", (Array))                                                                     \
  X(create_texture, "cuTexObjectCreate",                                                                          \
    (Address*, const ResourceDescription*, const TextureDescription*, const void*))                               \
  X(destroy_texture, "cuTexObjectDestroy", (Address))                                                             \
  X(create_surface, "cuSurfObjectCreate", (Address*, const ResourceDescription*))                                 \
  X(destroy_surface, "cuSurfObjectDestroy", (Address))                                                            \
  X(load_module, "cuModuleLoadDataEx", (Module*, const void*, unsigned, int*, void**))                            \
  X(unload_module, "cuModuleUnload", (Module))                                                                    \
  X(get_function, "cuModuleGetFunction", (Function*, Module, const char*))                                        \
  X(get_global, "cuModuleGetGlobal_v2", (Address*, std::size_t*, Module, const char*))                            \
  X(get_function_attribute, "cuFuncGetAttribute", (int*, int, Function))                                          \
  X(set_function_attribute, "cuFuncSetAttribute", (Function, int, int))                                           \
  X(blocks_per_multiprocessor, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int*, Function, int, std::size_t)) \
  X(launch, "cuLaunchKernel",                                                                                     \
    (Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void**, void**))

struct DriverCalls {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define WM_CUDA_CALL(member, name, parameters) Code(*member) parameters = nullptr;
  WM_CUDA_CALLS(WM_CUDA_CALL)
#undef WM_CUDA_CALL
};

// Loads the library, which stays loaded. An error names what is missing.
Result<DriverCalls> load_driver(const std::string& library = "libcuda.so.1");

}  // namespace wm::runtime::cuda
