#include "runtime/device/opencl_allocation.h"

#include <algorithm>

namespace wm::runtime {
namespace {

// Sizes in dimensions that an image's type does not have are ignored.
struct ImageExtents {
  explicit ImageExtents(const ImageRequest& m) {
    const auto is = [&](auto... types) { return ((m.object_type == static_cast<cl_mem_object_type>(types)) || ...); };
    if (is(CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE3D, CL_MEM_OBJECT_IMAGE2D_ARRAY)) rows = m.height;
    if (is(CL_MEM_OBJECT_IMAGE3D)) slices = m.depth;
    if (is(CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D_ARRAY)) slices = m.array_size;
  }
  std::uint64_t rows = 1, slices = 1;
};

}  // namespace

MemoryHandle OpenClAllocation::own(cl_mem made, MemoryHandle parent, std::byte* address) const {
  return std::make_shared<OpenClMemory>(made, cl_.ReleaseMemObject, std::move(parent), address);
}

Made<QueueHandle> OpenClAllocation::create_queue(bool in_order, bool timed) {
  const cl_command_queue_properties properties =
      (timed ? CL_QUEUE_PROFILING_ENABLE : 0) | (in_order ? 0 : CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
  cl_int status = CL_SUCCESS;
  const cl_command_queue made = cl_.CreateCommandQueue(native_.context, native_.device, properties, &status);
  if (made == nullptr) return {status == CL_SUCCESS ? CL_OUT_OF_RESOURCES : status, nullptr};
  return {CL_SUCCESS, std::make_shared<OpenClQueue>(made, cl_.ReleaseCommandQueue)};
}

Made<MemoryHandle> OpenClAllocation::create_buffer(const BufferRequest& m) {
  cl_int status = CL_SUCCESS;
  cl_mem made = nullptr;
  if (!m.place.empty()) {
    made = cl_.CreateBuffer(native_.context, m.flags | CL_MEM_USE_HOST_PTR, m.bytes, m.place.data(), &status);
  } else if (m.bytes == 0 || m.bytes > zeroed_bytes_) {
    made = cl_.CreateBuffer(native_.context, m.flags, m.bytes, nullptr, &status);
  } else {
    std::vector<std::byte> zeros(m.bytes);
    made = cl_.CreateBuffer(native_.context, m.flags | CL_MEM_COPY_HOST_PTR, m.bytes, zeros.data(), &status);
  }
  if (status != CL_SUCCESS) return {status, nullptr};
  return {CL_SUCCESS, own(made, nullptr, m.place.empty() ? nullptr : m.place.data())};
}

Made<MemoryHandle> OpenClAllocation::create_sub_buffer(const MemoryHandle& parent, std::uint64_t flags,
                                                       std::size_t origin, std::size_t bytes) {
  const cl_buffer_region region{origin, bytes};
  cl_int status = CL_SUCCESS;
  const cl_mem made =
      cl_.CreateSubBuffer(runtime::native(*parent), flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  if (status != CL_SUCCESS) return {status, nullptr};
  std::byte* const address = static_cast<const OpenClMemory&>(*parent).address;
  return {CL_SUCCESS, own(made, parent, address == nullptr ? nullptr : address + origin)};
}

bool OpenClAllocation::pitches_fit(cl_mem image, const ImageRequest& m) const {
  std::size_t element = 0;
  if (cl_.GetImageInfo(image, CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr) != CL_SUCCESS) return false;
  const ImageExtents extents(m);
  const std::uint64_t row = m.row_pitch != 0 ? m.row_pitch : m.width * element;
  if (row < m.width * element) return false;
  if (extents.slices > 1 && m.slice_pitch != 0 && m.slice_pitch < row * extents.rows) return false;
  if (!m.buffer || m.buffer_extent == 0) return m.object_type != CL_MEM_OBJECT_IMAGE1D_BUFFER;
  return (extents.rows - 1) * row + m.width * element <= m.buffer_extent;
}

Made<MemoryHandle> OpenClAllocation::create_image(const ImageRequest& m) {
  const cl_image_format format{m.channel_order, m.channel_type};
  cl_image_desc desc{};
  desc.image_type = m.object_type;
  desc.image_width = m.width;
  desc.image_height = m.height;
  desc.image_depth = m.depth;
  desc.image_array_size = m.array_size;
  desc.image_row_pitch = m.row_pitch;
  desc.image_slice_pitch = m.slice_pitch;
  desc.mem_object = m.buffer ? runtime::native(*m.buffer) : nullptr;
  const bool zeroed = !m.buffer && m.bytes <= zeroed_bytes_;
  std::vector<std::byte> zeros(zeroed ? m.bytes : 0);
  cl_int status = CL_SUCCESS;
  const cl_mem image = cl_.CreateImage(native_.context, m.flags | (zeroed ? CL_MEM_COPY_HOST_PTR : 0), &format, &desc,
                                       zeroed ? zeros.data() : nullptr, &status);
  if (status != CL_SUCCESS) return {status, nullptr};
  MemoryHandle made = own(image, m.buffer);
  if (!pitches_fit(image, m)) return {CL_INVALID_IMAGE_DESCRIPTOR, nullptr};
  return {CL_SUCCESS, std::move(made)};
}

Made<SamplerHandle> OpenClAllocation::create_sampler(bool normalized, std::uint32_t addressing, std::uint32_t filter) {
  cl_int status = CL_SUCCESS;
  const cl_sampler made =
      cl_.CreateSampler(native_.context, normalized ? CL_TRUE : CL_FALSE, addressing, filter, &status);
  if (status != CL_SUCCESS) return {status, nullptr};
  return {CL_SUCCESS, std::make_shared<OpenClSampler>(made, cl_.ReleaseSampler)};
}

// A buffer that uses the memory makes the driver register it with the device. It stays mapped, so that its contents are
// the host's.
MemoryHandle OpenClAllocation::pin(const QueueObject& queue, std::span<std::byte> bytes) {
  const cl_mem made =
      cl_.CreateBuffer(native_.context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes.size(), bytes.data(), nullptr);
  if (made == nullptr) return nullptr;
  MemoryHandle pinned = own(made);
  cl_int status = CL_SUCCESS;
  const void* at = cl_.EnqueueMapBuffer(runtime::native(queue), made, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, 0,
                                        bytes.size(), 0, nullptr, nullptr, &status);
  return at == bytes.data() ? pinned : nullptr;
}

void OpenClAllocation::wipe(const QueueObject& queue, const MemoryObject& object) {
  static constexpr std::array<std::byte, 16> kZeros{};
  const cl_mem memory = runtime::native(object);
  std::size_t bytes = 0;
  cl_mem_object_type type = CL_MEM_OBJECT_BUFFER;
  cl_.GetMemObjectInfo(memory, CL_MEM_SIZE, sizeof bytes, &bytes, nullptr);
  cl_.GetMemObjectInfo(memory, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (type == CL_MEM_OBJECT_BUFFER) {
    const std::size_t pattern = bytes % kZeros.size() == 0 ? kZeros.size() : 1;
    cl_.EnqueueFillBuffer(runtime::native(queue), memory, kZeros.data(), pattern, 0, bytes, 0, nullptr, nullptr);
  } else {
    const auto size = [&](cl_image_info name) {
      std::size_t value = 0;
      cl_.GetImageInfo(memory, name, sizeof value, &value, nullptr);
      return std::max<std::size_t>(value, 1);
    };
    const bool row_array = type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const std::size_t layers = size(CL_IMAGE_ARRAY_SIZE), origin[3] = {0, 0, 0};
    const std::size_t region[3] = {size(CL_IMAGE_WIDTH), row_array ? layers : size(CL_IMAGE_HEIGHT),
                                   row_array ? 1 : std::max(size(CL_IMAGE_DEPTH), layers)};
    cl_.EnqueueFillImage(runtime::native(queue), memory, kZeros.data(), origin, region, 0, nullptr, nullptr);
  }
  cl_.Finish(runtime::native(queue));
}

Status OpenClAllocation::image_info(const MemoryObject& image, std::uint32_t name, std::vector<std::byte>& answer) {
  return info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return cl_.GetImageInfo(runtime::native(image), name, room, value, size);
      },
      answer);
}

Status OpenClAllocation::image_formats(std::uint64_t flags, std::uint32_t type, std::vector<std::byte>& answer) {
  return runtime::image_formats(native_, flags, type, answer);
}

Status image_formats(const Native& native, std::uint64_t flags, std::uint32_t type, std::vector<std::byte>& answer) {
  const auto& cl = native.cl;
  cl_uint count = 0;
  cl_int status = cl.GetSupportedImageFormats(native.context, flags, type, 0, nullptr, &count);
  std::vector<cl_image_format> formats(count);
  if (status == CL_SUCCESS && count != 0) {
    status = cl.GetSupportedImageFormats(native.context, flags, type, count, formats.data(), nullptr);
  }
  const auto bytes = std::as_bytes(std::span(formats));
  answer.assign(bytes.begin(), bytes.end());
  return status;
}

std::size_t OpenClAllocation::element_bytes(const MemoryObject& image) {
  std::size_t element = 0;
  const cl_int status =
      cl_.GetImageInfo(runtime::native(image), CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
  return status == CL_SUCCESS ? element : 0;
}

}  // namespace wm::runtime
