#include "runtime/session/image_size.h"

#include <algorithm>

namespace wm::runtime {
namespace {

// The numbers of OpenCL (cl_channel_order, cl_channel_type and cl_mem_object_type), which the protocol carries.
enum ChannelOrder : std::uint32_t {
  kR = 0x10B0,
  kA = 0x10B1,
  kRG = 0x10B2,
  kRA = 0x10B3,
  kIntensity = 0x10B8,
  kLuminance = 0x10B9,
  kRx = 0x10BA,
  kRGx = 0x10BB,
  kDepth = 0x10BD,
};
enum ChannelType : std::uint32_t {
  kSnormInt8 = 0x10D0,
  kSnormInt16 = 0x10D1,
  kUnormInt8 = 0x10D2,
  kUnormInt16 = 0x10D3,
  kSignedInt8 = 0x10D7,
  kSignedInt16 = 0x10D8,
  kUnsignedInt8 = 0x10DA,
  kUnsignedInt16 = 0x10DB,
  kHalfFloat = 0x10DD,
};
enum ObjectType : std::uint32_t {
  kImage2D = 0x10F1,
  kImage3D = 0x10F2,
  kImage2DArray = 0x10F3,
  kImage1DArray = 0x10F5,
};

std::uint64_t element_bytes(std::uint32_t order, std::uint32_t type) {
  std::uint64_t channel = 4;
  switch (type) {
    case kSnormInt8:
    case kUnormInt8:
    case kSignedInt8:
    case kUnsignedInt8:
      channel = 1;
      break;
    case kSnormInt16:
    case kUnormInt16:
    case kSignedInt16:
    case kUnsignedInt16:
    case kHalfFloat:
      channel = 2;
      break;
    default:
      break;
  }
  switch (order) {
    case kR:
    case kA:
    case kRx:
    case kIntensity:
    case kLuminance:
    case kDepth:
      return channel;
    case kRG:
    case kRA:
    case kRGx:
      return 2 * channel;
    default:
      return 4 * channel;
  }
}

std::uint64_t rows_of(const CreateImage& m) {
  const bool has_rows = m.object_type == kImage2D || m.object_type == kImage3D || m.object_type == kImage2DArray;
  return has_rows ? m.height : 1;
}

std::uint64_t slices_of(const CreateImage& m) {
  if (m.object_type == kImage3D) return m.depth;
  return m.object_type == kImage1DArray || m.object_type == kImage2DArray ? m.array_size : 1;
}

}  // namespace

std::optional<std::uint64_t> image_bytes(const CreateImage& m) {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(element_bytes(m.order, m.type), m.width, &bytes)) return std::nullopt;
  if (__builtin_mul_overflow(std::max(bytes, m.row_pitch), rows_of(m), &bytes)) return std::nullopt;
  if (__builtin_mul_overflow(std::max(bytes, m.slice_pitch), slices_of(m), &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace wm::runtime
