// The properties of the device. Their structure differs between CUDA 12 and 13, so it is filled by place.
#include <cstring>

#include "runtime/client/cudart/runtime.h"

namespace wm::cudart {
namespace {

// A field of cudaDeviceProp: its places in the two structures (0: it has none), its size, and the attribute that fills
// it.
struct PropertyField {
  std::uint16_t place12, place13;
  std::uint8_t bytes;
  std::uint8_t attribute;
};
constexpr PropertyField kFields[] = {
    {296, 296, 8, 8},    // shared memory of a block
    {304, 304, 4, 12},   // registers of a block
    {308, 308, 4, 10},   // warp
    {312, 312, 8, 11},   // pitch
    {320, 320, 4, 1},    // threads of a block
    {324, 324, 4, 2},    // block x, y, z
    {328, 328, 4, 3},    //
    {332, 332, 4, 4},    //
    {336, 336, 4, 5},    // grid x, y, z
    {340, 340, 4, 6},    //
    {344, 344, 4, 7},    //
    {348, 0, 4, 13},     // clock
    {352, 352, 8, 9},    // constant memory
    {360, 360, 4, 75},   // compute capability
    {364, 364, 4, 76},   //
    {368, 368, 8, 14},   // texture alignment
    {376, 376, 8, 51},   // texture pitch alignment
    {384, 0, 4, 15},     // copies beside kernels
    {388, 384, 4, 16},   // SMs
    {400, 392, 4, 19},   // can map host memory
    {568, 552, 8, 30},   // surface alignment
    {576, 560, 4, 31},   // concurrent kernels
    {584, 568, 4, 33},   // PCI bus
    {600, 584, 4, 40},   // copy engines
    {604, 588, 4, 41},   // unified addressing
    {608, 0, 4, 36},     // memory clock
    {612, 592, 4, 37},   // memory bus
    {616, 596, 4, 38},   // L2
    {624, 604, 4, 39},   // threads of an SM
    {628, 608, 4, 78},   // stream priorities
    {632, 612, 4, 79},   // global memory in L1
    {636, 616, 4, 80},   // local memory in L1
    {640, 624, 8, 81},   // shared memory of an SM
    {648, 632, 4, 82},   // registers of an SM
    {652, 636, 4, 83},   // managed memory
    {668, 0, 4, 87},     // single to double precision
    {676, 656, 4, 89},   // concurrent access to managed memory
    {688, 668, 4, 95},   // cooperative launches
    {696, 672, 8, 97},   // shared memory of a block with opt-in
    {712, 688, 4, 106},  // blocks of an SM
    {720, 696, 8, 111},  // reserved shared memory
    {728, 704, 4, 99},   // registration of host memory
    {744, 720, 4, 115},  // memory pools
};
constexpr std::size_t kBytes12 = 1032;
constexpr std::size_t kBytes13 = 1008;
constexpr std::size_t kNameBytes = 256;
constexpr std::size_t kTotalMemory = 288;

cudaError_t fill(char* properties, std::size_t bytes, bool is_13, int device) {
  if (properties == nullptr) return remember(cudaErrorInvalidValue);
  if (device != 0) return remember(cudaErrorInvalidDevice);
  if (const CUresult ready = prepare(); ready != CUDA_SUCCESS) return remember(ready);
  std::memset(properties, 0, bytes);
  std::size_t total = 0;
  if (const CUresult got = cuDeviceGetName(properties, kNameBytes, device); got != CUDA_SUCCESS) return remember(got);
  if (const CUresult got = cuDeviceTotalMem_v2(&total, device); got != CUDA_SUCCESS) return remember(got);
  std::memcpy(properties + kTotalMemory, &total, sizeof total);
  for (const PropertyField& field : kFields) {
    const std::size_t place = is_13 ? field.place13 : field.place12;
    if (place == 0) continue;
    int value = 0;
    if (const CUresult got = cuDeviceGetAttribute(&value, field.attribute, device); got != CUDA_SUCCESS)
      return remember(got);
    const auto wide = static_cast<std::uint64_t>(static_cast<unsigned>(value));
    std::memcpy(properties + place, &wide, field.bytes);
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace wm::cudart

WM_RUNTIME_API cudaError_t cudaGetDeviceProperties_v2(char* properties, int device) {
  return wm::cudart::fill(properties, wm::cudart::kBytes12, false, device);
}
WM_RUNTIME_API cudaError_t cudaGetDeviceProperties(char* properties, int device) {
  return wm::cudart::fill(properties, wm::cudart::kBytes13, true, device);
}
