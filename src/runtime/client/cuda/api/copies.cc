#include "runtime/client/cuda/api/copies.h"

#include <cstring>
#include <type_traits>

#include "runtime/client/cuda/state/node_parameters.h"

namespace wm::cuda {
namespace {

// One side of a copy as a structure of the API gives it.
struct GivenSide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::uint64_t x, y, z;        // x in bytes
  std::uint64_t pitch, height;  // between rows, and rows between planes; 0: those of the copy
};
// The extent of a copy: bytes, rows, planes.
struct Extent {
  std::uint64_t bytes, rows, planes;
};
struct Side {
  std::uint64_t first, pitch, plane;
};

// Empty: it is larger than any memory.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 48;
  if (a != 0 && b > kMax / a) return std::nullopt;
  return a * b;
}

// The part of an array that is copied; empty: there is no such array, or it is smaller.
std::optional<Side> array_side(const GivenSide& given, const Extent& extent) {
  Driver* driver = Driver::get();
  const auto array = driver == nullptr ? nullptr : driver->textures.arrays.find(given.array);
  if (array == nullptr) return std::nullopt;
  const auto fits = [](std::uint64_t at, std::uint64_t count, std::uint64_t size) {
    return at <= size && count <= size - at;
  };
  if (!fits(given.x, extent.bytes, array->row_bytes()) || !fits(given.y, extent.rows, array->rows()) ||
      !fits(given.z, extent.planes, array->slices()))
    return std::nullopt;
  const std::uint64_t pitch = array->pitch(), plane = pitch * array->rows();
  return Side{array->address + given.z * plane + given.y * pitch + given.x, pitch, plane};
}

std::optional<Side> side_of(const GivenSide& given, const Extent& extent) {
  if (given.type == CU_MEMORYTYPE_ARRAY) return array_side(given, extent);
  std::uint64_t base = given.device;
  if (given.type == CU_MEMORYTYPE_HOST)
    base = reinterpret_cast<std::uint64_t>(given.host);
  else if (given.type != CU_MEMORYTYPE_DEVICE && given.type != CU_MEMORYTYPE_UNIFIED)
    return std::nullopt;
  const std::uint64_t pitch = given.pitch != 0 ? given.pitch : extent.bytes;
  const auto plane = product(pitch, given.height != 0 ? given.height : extent.rows);
  if (!plane) return std::nullopt;
  const auto planes = product(given.z, *plane), rows = product(given.y, pitch);
  if (!planes || !rows) return std::nullopt;
  return Side{base + *planes + *rows + given.x, pitch, *plane};
}

std::optional<RowCopy> copy_between(const GivenSide& to, const GivenSide& from, const Extent& extent) {
  const auto target = side_of(to, extent), source = side_of(from, extent);
  if (!target || !source) return std::nullopt;
  return RowCopy{.to = target->first,
                 .from = source->first,
                 .bytes = extent.bytes,
                 .rows = extent.rows,
                 .planes = extent.planes,
                 .to_pitch = target->pitch,
                 .from_pitch = source->pitch,
                 .to_plane = target->plane,
                 .from_plane = source->plane,
                 .to_device = to.type == CU_MEMORYTYPE_DEVICE,
                 .from_device = from.type == CU_MEMORYTYPE_DEVICE};
}

constexpr std::uint64_t kTooLong = ~std::uint64_t{0};

// Whether rows of so many bytes may be `pitch` bytes apart (CU_DEVICE_ATTRIBUTE_MAX_PITCH).
bool is_pitch(std::uint64_t pitch, std::uint64_t bytes) { return pitch >= bytes && pitch < (std::uint64_t{1} << 31); }

bool is_host(std::uint64_t address) { return address < exec::kGlobalBase || address >= exec::kGlobalEnd; }

// The last byte that a side of the copy touches is inside of the allocation that holds the first.
bool is_valid(Driver& driver, std::uint64_t base, std::uint64_t length) {
  if (base == 0 || length == kTooLong) return false;
  const auto range = driver.memory().find(base);
  if (is_host(base) && (!range || range->kind == runtime::MemoryKind::registered)) return true;
  if (!range) return false;
  const bool by_device = base >= range->address && base - range->address < range->bytes;
  const std::uint64_t offset =
      base - (by_device ? range->address : reinterpret_cast<std::uint64_t>(range->host_access));
  return offset <= range->bytes && length <= range->bytes - offset;
}

// The bytes from the first to the last one that a side of a copy touches; kTooLong: they fit into no memory.
std::uint64_t extent(std::uint64_t bytes, std::uint64_t rows, std::uint64_t pitch, std::uint64_t planes,
                     std::uint64_t plane) {
  const auto of_planes = product(planes - 1, plane), of_rows = product(rows - 1, pitch), of_row = product(bytes, 1);
  return of_planes && of_rows && of_row ? *of_planes + *of_rows + *of_row : kTooLong;
}

// Enqueues on a stream, or on the default stream with a wait.
CUresult enqueue_checked(Context& context, Stream& stream, CUresult valid, Operation operation, bool wait) {
  if (valid != CUDA_SUCCESS) return valid;
  const bool is_captured = Context::is_capturing(stream);
  context.enqueue(stream, std::move(operation));
  return wait && !is_captured ? context.wait(stream) : CUDA_SUCCESS;
}

bool is_pageable(Driver& driver, std::uint64_t address) { return is_host(address) && !driver.memory().find(address); }

template <typename Work>
CUresult on_stream(CUstream handle, bool wait, const std::optional<Work>& work) {
  return with_work_stream(handle, [&](Context& context, Stream& stream) {
    if (!work) return CUDA_ERROR_INVALID_VALUE;
    const CUresult allowed = wait ? Captures::instance().check_unsafe_call() : CUDA_SUCCESS;
    if (allowed != CUDA_SUCCESS) return allowed;
    Driver& driver = driver_of(context);
    if constexpr (std::is_same_v<Work, RowCopy>) {
      // Copies from and to pageable memory are done when the call returns.
      const bool waits = wait || is_pageable(driver, work->to) || is_pageable(driver, work->from);
      return enqueue_checked(context, stream, check(driver, *work), copy_operation(driver, *work), waits);
    } else {
      return enqueue_checked(context, stream, check(driver, *work), fill_operation(driver, *work), wait);
    }
  });
}

// The sides of a copy that are the device's by the function's name; others may be the host's.
struct Sides {
  bool to = false, from = false;
};
constexpr Sides kAnySides{}, kToDevice{.to = true}, kFromDevice{.from = true}, kOnDevice{.to = true, .from = true};

RowCopy one_row(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, Sides device) {
  return {.to = to, .from = from, .bytes = bytes, .to_device = device.to, .from_device = device.from};
}

CUresult copy(CUstream stream, bool wait, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
              Sides device = kAnySides) {
  return on_stream<RowCopy>(stream, wait, one_row(to, from, bytes, device));
}

CUresult fill(CUstream stream, bool wait, std::uint64_t to, std::uint32_t value, std::uint32_t width,
              std::uint64_t count) {
  return on_stream<RowFill>(stream, wait, RowFill{.to = to, .value = value, .width = width, .count = count});
}

CUresult fill_rows(CUstream stream, bool wait, std::uint64_t to, std::size_t pitch, std::uint32_t value,
                   std::uint32_t width, std::size_t count, std::size_t rows) {
  return on_stream<RowFill>(
      stream, wait, RowFill{.to = to, .pitch = pitch, .value = value, .width = width, .count = count, .rows = rows});
}

// A copy to pageable memory is done when the call returns; pageable memory that is copied from has been read by then.
CUresult copy_pageable(CUstream handle, std::uint64_t to, std::uint64_t from, std::uint64_t bytes,
                       Sides device = kAnySides) {
  return with_work_stream(handle, [&](Context& context, Stream& stream) {
    Driver& driver = driver_of(context);
    const RowCopy as_given = one_row(to, from, bytes, device);
    const CUresult valid = check(driver, as_given);
    if (valid != CUDA_SUCCESS || bytes == 0 || !is_pageable(driver, from) || Context::is_capturing(stream)) {
      return enqueue_checked(context, stream, valid, copy_operation(driver, as_given), is_pageable(driver, to));
    }
    const auto* first = reinterpret_cast<const std::byte*>(from);
    auto staged = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    RowCopy copy = as_given;
    copy.from = reinterpret_cast<std::uint64_t>(staged->data());
    Operation operation = copy_operation(driver, copy);
    operation.run = [staged, run = std::move(operation.run)] { return run(); };
    return enqueue_checked(context, stream, valid, std::move(operation), is_pageable(driver, to));
  });
}

std::uint64_t host(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// The structure of the peer copy differs only in its contexts.
CUDA_MEMCPY3D without_contexts(const CUDA_MEMCPY3D_PEER& peer) {
  CUDA_MEMCPY3D copy{};
  static_assert(sizeof copy == sizeof peer);
  std::memcpy(&copy, &peer, sizeof copy);
  return copy;
}

// The copy as the parameters of a node in a graph.
CUDA_MEMCPY3D as_parameters(const RowCopy& c) {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = c.from;
  copy.dstDevice = c.to;
  copy.srcPitch = c.from_pitch;
  copy.dstPitch = c.to_pitch;
  copy.srcHeight = c.from_pitch == 0 ? 0 : c.from_plane / c.from_pitch;
  copy.dstHeight = c.to_pitch == 0 ? 0 : c.to_plane / c.to_pitch;
  copy.WidthInBytes = c.bytes;
  copy.Height = c.rows;
  copy.Depth = c.planes;
  return copy;
}

}  // namespace

std::optional<RowCopy> row_copy(const CUDA_MEMCPY2D& c) {
  return copy_between({c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes, c.dstY, 0, c.dstPitch, 0},
                      {c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcXInBytes, c.srcY, 0, c.srcPitch, 0},
                      {c.WidthInBytes, c.Height, 1});
}

std::optional<RowCopy> row_copy(const CUDA_MEMCPY3D& c) {
  return copy_between(
      {c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstXInBytes, c.dstY, c.dstZ, c.dstPitch, c.dstHeight},
      {c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcXInBytes, c.srcY, c.srcZ, c.srcPitch, c.srcHeight},
      {c.WidthInBytes, c.Height, c.Depth});
}

CUresult check(Driver& driver, const RowCopy& c) {
  if (c.bytes == 0 || c.rows == 0 || c.planes == 0) return CUDA_SUCCESS;
  if (c.rows > 1 && (!is_pitch(c.to_pitch, c.bytes) || !is_pitch(c.from_pitch, c.bytes)))
    return CUDA_ERROR_INVALID_VALUE;
  if ((c.to_device && !driver.memory().find(c.to)) || (c.from_device && !driver.memory().find(c.from)))
    return CUDA_ERROR_INVALID_VALUE;
  const bool valid = is_valid(driver, c.to, extent(c.bytes, c.rows, c.to_pitch, c.planes, c.to_plane)) &&
                     is_valid(driver, c.from, extent(c.bytes, c.rows, c.from_pitch, c.planes, c.from_plane));
  return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult check(Driver& driver, const RowFill& f) {
  if (f.count == 0 || f.rows == 0) return CUDA_SUCCESS;
  if (f.to % f.width != 0 || f.count > (std::uint64_t{1} << 48)) return CUDA_ERROR_INVALID_VALUE;
  if (f.rows > 1 && !is_pitch(f.pitch, f.count * f.width)) return CUDA_ERROR_INVALID_VALUE;
  if (!driver.memory().find(f.to)) return CUDA_ERROR_INVALID_VALUE;
  return is_valid(driver, f.to, extent(f.count * f.width, f.rows, f.pitch, 1, 0)) ? CUDA_SUCCESS
                                                                                  : CUDA_ERROR_INVALID_VALUE;
}

Operation copy_operation(Driver& driver, const RowCopy& c) {
  return {runtime::WorkKind::transfer,
          [&driver, c] {
            for (std::uint64_t z = 0; z < c.planes; ++z) {
              for (std::uint64_t y = 0; y < c.rows; ++y) {
                const auto done = driver.memory().copy(c.to + z * c.to_plane + y * c.to_pitch,
                                                       c.from + z * c.from_plane + y * c.from_pitch, c.bytes);
                if (done) continue;
                explain(done.error().what);
                return CUDA_ERROR_ILLEGAL_ADDRESS;
              }
            }
            return CUDA_SUCCESS;
          },
          {},
          NodeType::memcpy,
          std::make_shared<const NodeParameters>(NodeParameters{as_parameters(c)})};
}

Operation fill_operation(Driver& driver, const RowFill& f) {
  return {runtime::WorkKind::transfer,
          [&driver, f] {
            for (std::uint64_t y = 0; y < f.rows; ++y) {
              const auto done = driver.memory().fill(f.to + y * f.pitch, f.value, f.width, f.count);
              if (done) continue;
              explain(done.error().what);
              return CUDA_ERROR_ILLEGAL_ADDRESS;
            }
            return CUDA_SUCCESS;
          },
          {},
          NodeType::memset,
          std::make_shared<const NodeParameters>(
              NodeParameters{CUDA_MEMSET_NODE_PARAMS{f.to, f.pitch, f.value, f.width, f.count, f.rows}})};
}

}  // namespace wm::cuda

using wm::cuda::copy;
using wm::cuda::copy_pageable;
using wm::cuda::fill;
using wm::cuda::fill_rows;
using wm::cuda::host;
using wm::cuda::on_stream;
using wm::cuda::row_copy;
using wm::cuda::RowCopy;

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) { return copy(nullptr, true, to, from, bytes); }
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes) {
  return copy(nullptr, true, to, from, bytes);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy(nullptr, true, to, host(from), bytes, wm::cuda::kToDevice);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy(nullptr, true, host(to), from, bytes, wm::cuda::kFromDevice);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy(nullptr, false, to, from, bytes, wm::cuda::kOnDevice);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy_pageable(stream, to, from, bytes);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, std::size_t bytes, CUstream stream) {
  return copy(stream, false, to, from, bytes);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  return copy_pageable(stream, to, host(from), bytes, wm::cuda::kToDevice);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(stream, false, host(to), from, bytes, wm::cuda::kFromDevice);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream stream) {
  return copy(stream, false, to, from, bytes, wm::cuda::kOnDevice);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* c) {
  return c == nullptr ? CUDA_ERROR_INVALID_VALUE : on_stream<RowCopy>(nullptr, true, row_copy(*c));
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* c) { return cuMemcpy2D_v2(c); }
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* c) {
  return c == nullptr ? CUDA_ERROR_INVALID_VALUE : on_stream<RowCopy>(nullptr, true, row_copy(*c));
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* c) {
  if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return on_stream<RowCopy>(nullptr, true, row_copy(wm::cuda::without_contexts(*c)));
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* c, CUstream stream) {
  return c == nullptr ? CUDA_ERROR_INVALID_VALUE : on_stream<RowCopy>(stream, false, row_copy(*c));
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* c, CUstream stream) {
  return c == nullptr ? CUDA_ERROR_INVALID_VALUE : on_stream<RowCopy>(stream, false, row_copy(*c));
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* c, CUstream stream) {
  if (c == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return on_stream<RowCopy>(stream, false, row_copy(wm::cuda::without_contexts(*c)));
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill(nullptr, true, to, value, 1, count);
}
CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill(nullptr, true, to, value, 2, count);
}
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill(nullptr, true, to, value, 4, count);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return fill_rows(nullptr, true, to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                          std::size_t height) {
  return fill_rows(nullptr, true, to, pitch, value, 2, width, height);
}
CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height) {
  return fill_rows(nullptr, true, to, pitch, value, 4, width, height);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill(stream, false, to, value, 1, count);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count, CUstream stream) {
  return fill(stream, false, to, value, 2, count);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill(stream, false, to, value, 4, count);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                           std::size_t height, CUstream stream) {
  return fill_rows(stream, false, to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value, std::size_t width,
                            std::size_t height, CUstream stream) {
  return fill_rows(stream, false, to, pitch, value, 2, width, height);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                            CUstream stream) {
  return fill_rows(stream, false, to, pitch, value, 4, width, height);
}
