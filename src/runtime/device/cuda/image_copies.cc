#include "runtime/device/cuda/image_copies.h"

#include <algorithm>
#include <cstring>

namespace wm::runtime::cuda {
namespace {

constexpr int kHostMemory = 1, kDeviceMemory = 2, kArrayMemory = 3;
constexpr std::size_t kFillBytes = 4 << 20;

bool has_layered_rows(const BoxPlace& place) {
  return place.image != nullptr && place.image->kind == ImageKind::d1_array;
}

// The driver's sizes of a box: rows that are layers are slices of one row.
struct Shape {
  std::size_t height, depth;
};
Shape shape_of(const Size3& region, bool layered_rows) {
  return layered_rows ? Shape{1, region[1]} : Shape{region[1], region[2]};
}

// A place as the driver takes it, for the box that begins `y` rows and `z` slices behind the first.
struct End {
  int type = kHostMemory;
  std::size_t x = 0, y = 0, z = 0;
  std::byte* host = nullptr;
  Address device = 0;
  Array array = nullptr;
};

End end_of(const BoxPlace& place, const Size3& region, std::size_t element, std::size_t y, std::size_t z) {
  End end;
  if (place.image != nullptr && place.image->array != nullptr) {
    end.type = kArrayMemory;
    end.array = place.image->array;
    end.x = place.origin[0] * element;
    end.y = has_layered_rows(place) ? 0 : place.origin[1] + y;
    end.z = has_layered_rows(place) ? place.origin[1] + y : place.origin[2] + z;
    return end;
  }
  const std::size_t first = (z * region[1] + y) * region[0] * element;
  if (place.image != nullptr || place.host == nullptr) {
    end.type = kDeviceMemory;
    end.device = place.image != nullptr ? place.image->address + place.origin[0] * element : place.device;
    end.device += first;
  } else {
    end.host = place.host + first;
  }
  return end;
}

}  // namespace

Code copy_box(const DriverCalls& cuda, const BoxPlace& from, const BoxPlace& to, const Size3& region,
              std::size_t element, Stream stream) {
  // Between a 1D array and another image each row is a copy of its own.
  const bool by_rows = from.image != nullptr && to.image != nullptr && has_layered_rows(from) != has_layered_rows(to);
  const Shape shape = by_rows ? Shape{1, 1} : shape_of(region, has_layered_rows(from) || has_layered_rows(to));
  const std::size_t rows = by_rows ? region[1] : 1, slices = by_rows ? region[2] : 1;
  for (std::size_t z = 0; z < slices; ++z) {
    for (std::size_t y = 0; y < rows; ++y) {
      const End a = end_of(from, region, element, y, z), b = end_of(to, region, element, y, z);
      Copy3D copy;
      copy.from_x = a.x, copy.from_y = a.y, copy.from_z = a.z;
      copy.from_type = a.type;
      copy.from_host = a.host, copy.from_device = a.device, copy.from_array = a.array;
      copy.to_x = b.x, copy.to_y = b.y, copy.to_z = b.z;
      copy.to_type = b.type;
      copy.to_host = b.host, copy.to_device = b.device, copy.to_array = b.array;
      copy.width = copy.from_pitch = copy.to_pitch = region[0] * element;
      copy.height = copy.from_height = copy.to_height = shape.height;
      copy.depth = shape.depth;
      if (const Code code = cuda.copy_3d(&copy, stream); code != kSuccess) return code;
    }
  }
  return kSuccess;
}

// A pattern of several words is filled word by word, each as a column of a matrix whose rows are the pattern.
Code fill_memory(const DriverCalls& cuda, Address at, std::span<const std::byte> pattern, std::size_t bytes,
                 Stream stream) {
  const std::size_t size = pattern.size(), count = bytes / size;
  std::uint32_t word = 0;
  switch (size) {
    case 1:
      return cuda.fill_8(at, std::to_integer<unsigned char>(pattern[0]), count, stream);
    case 2:
      std::memcpy(&word, pattern.data(), size);
      return cuda.fill_16(at, static_cast<unsigned short>(word), count, stream);
    case 4:
      std::memcpy(&word, pattern.data(), size);
      return cuda.fill_32(at, word, count, stream);
    default:
      break;
  }
  for (std::size_t i = 0; i < size; i += 4) {
    std::memcpy(&word, pattern.data() + i, 4);
    if (const Code code = cuda.fill_rows_32(at + i, size, word, 1, count, stream); code != kSuccess) return code;
  }
  return kSuccess;
}

// The driver fills no arrays: rows of elements are filled in memory and copied.
Code fill_box(const CudaImage& image, const Size3& origin, const Size3& region, std::span<const std::byte> element,
              Stream stream) {
  const DriverCalls& cuda = image.device.cuda;
  const std::size_t row = region[0] * element.size();
  if (image.array == nullptr) {
    return fill_memory(cuda, image.address + origin[0] * element.size(), element, row, stream);
  }
  const std::size_t rows = std::clamp<std::size_t>(kFillBytes / row, 1, region[1]);
  Address filled = 0;
  Code code = image.device.with_unused_memory([&] { return cuda.allocate(&filled, rows * row, stream); });
  if (code != kSuccess) return code;
  code = fill_memory(cuda, filled, element, rows * row, stream);
  for (std::size_t z = 0; z < region[2]; ++z) {
    for (std::size_t y = 0; y < region[1] && code == kSuccess; y += rows) {
      const BoxPlace from{.device = filled};
      const BoxPlace to{.image = &image, .origin = {origin[0], origin[1] + y, origin[2] + z}};
      code = copy_box(cuda, from, to, {region[0], std::min(rows, region[1] - y), 1}, element.size(), stream);
    }
  }
  // The memory may be another client's next.
  cuda.fill_8(filled, 0, rows * row, stream);
  cuda.free(filled, stream);
  return code;
}

}  // namespace wm::runtime::cuda
