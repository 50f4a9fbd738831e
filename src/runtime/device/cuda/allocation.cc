#include "runtime/device/cuda/allocation.h"

#include <cstring>

#include "runtime/device/cuda/image_copies.h"
#include "runtime/device/cuda/info_answer.h"

namespace wm::runtime::cuda {
namespace {

// Queries of clGetImageInfo.
constexpr PropertyName kElementSize = 0x1111, kRowPitch = 0x1112, kSlicePitch = 0x1113, kWidth = 0x1114,
                       kHeight = 0x1115, kDepth = 0x1116, kArraySize = 0x1117;

struct Format {
  std::uint32_t order, type;
};

Code clear(const CudaImage& image, Stream stream) {
  const std::vector<std::byte> zeros(image.format.element_bytes());
  return fill_box(image, {}, image.extent(), zeros, stream);
}

}  // namespace

// A stream runs its work in order; a queue out of order may do so too.
Made<QueueHandle> CudaAllocation::create_queue(bool /*in_order*/, bool timed) {
  device_.make_current();
  auto queue = std::make_shared<CudaQueue>(device_, timed);
  if (queue->current() == nullptr) return {status::kOutOfResources, nullptr};
  return {status::kSuccess, std::move(queue)};
}

// Memory is wiped when it is released, so that new objects need no zeros.
Made<MemoryHandle> CudaAllocation::create_buffer(const BufferRequest& request) {
  Address address = 0;
  const Code code = device_.allocate(address, std::max<std::size_t>(request.bytes, 1));
  if (code != kSuccess) return {status_of(code), nullptr};
  return {status::kSuccess, std::make_shared<CudaMemory>(device_, address, request.bytes)};
}

Made<MemoryHandle> CudaAllocation::create_sub_buffer(const MemoryHandle& parent, std::uint64_t /*flags*/,
                                                     std::size_t origin, std::size_t bytes) {
  const CudaMemory& buffer = of(*parent);
  if (origin > buffer.bytes || bytes > buffer.bytes - origin) return {status::kInvalidValue, nullptr};
  auto part = std::make_shared<CudaMemory>(device_, buffer.address + origin, bytes);
  part->parent = parent;
  return {status::kSuccess, std::move(part)};
}

MemoryHandle CudaAllocation::pin(const QueueObject& /*queue*/, std::span<std::byte> bytes) {
  device_.make_current();
  if (device_.cuda.register_host(bytes.data(), bytes.size(), 0) != kSuccess) return nullptr;
  host_.add_registered(bytes);
  std::shared_ptr<CudaPinned> pinned(new CudaPinned(device_, bytes), [&host = host_](CudaPinned* p) {
    host.remove_registered(p->bytes);
    delete p;
  });
  return pinned;
}

void CudaAllocation::wipe(const QueueObject& queue, const MemoryObject& memory) {
  device_.make_current();
  const CudaMemory& m = of(memory);
  const Stream stream = of(queue).current();
  if (const CudaImage* const image = m.image()) {
    clear(*image, stream);
  } else {
    device_.cuda.fill_8(m.address, 0, m.bytes, stream);
  }
  device_.cuda.synchronize_stream(stream);
}

Made<MemoryHandle> CudaAllocation::create_image(const ImageRequest& request) {
  if (const Status s = check_image_request(request); s != status::kSuccess) return {s, nullptr};
  if (!offers_format(request)) return {status::kImageFormatNotSupported, nullptr};
  device_.make_current();
  Made<MemoryHandle> made = make_image(device_, request);
  if (!made.object) return made;
  const CudaImage& image = *of(*made.object).image();
  if (image.array == nullptr) return made;
  // Arrays may have contents of earlier images.
  Code code = clear(image, device_.memory_stream());
  if (code == kSuccess) code = device_.cuda.synchronize_stream(device_.memory_stream());
  if (code != kSuccess) return {status_of(code), nullptr};
  return made;
}

Made<SamplerHandle> CudaAllocation::create_sampler(bool normalized, std::uint32_t addressing, std::uint32_t filter) {
  const auto sampling = sampling_of(normalized, addressing, filter);
  if (!sampling) return {status::kInvalidValue, nullptr};
  return {status::kSuccess, std::make_shared<CudaSampler>(*sampling)};
}

Status CudaAllocation::image_info(const MemoryObject& object, std::uint32_t name, std::vector<std::byte>& answer) {
  const CudaImage* const image = of(object).image();
  if (image == nullptr) return status::kInvalidMemoryObject;
  const std::size_t row = image->width * image->format.element_bytes();
  const bool is_1d_array = image->kind == ImageKind::d1_array;
  const bool has_slices = image->depth != 0 || image->layers != 0;
  switch (name) {
    case kElementSize:
      return put_value(answer, image->format.element_bytes());
    case kRowPitch:
      return put_value(answer, row);
    case kSlicePitch:
      return put_value(answer, !has_slices ? std::size_t{0} : is_1d_array ? row : row * image->height);
    case kWidth:
      return put_value(answer, std::size_t{image->width});
    case kHeight:
      return put_value(answer, std::size_t{image->height});
    case kDepth:
      return put_value(answer, std::size_t{image->depth});
    case kArraySize:
      return put_value(answer, std::size_t{image->layers});
    default:
      return status::kInvalidValue;
  }
}

// Kernels were compiled for images that the compiler's driver has.
bool CudaAllocation::offers_format(const ImageRequest& request) {
  constexpr std::uint64_t kReadWrite = 1 << 0, kWriteOnly = 1 << 1, kReadOnly = 1 << 2;  // as CL_MEM_READ_WRITE, …
  const std::uint64_t access = request.flags & (kReadWrite | kWriteOnly | kReadOnly);
  std::vector<std::byte> answer;
  if (image_formats(access != 0 ? access : kReadWrite, request.object_type, answer) != status::kSuccess) return false;
  for (std::size_t at = 0; at + sizeof(Format) <= answer.size(); at += sizeof(Format)) {
    Format format{};
    std::memcpy(&format, answer.data() + at, sizeof format);
    if (format.order == request.channel_order && format.type == request.channel_type) return true;
  }
  return false;
}

// Those of the compiler's driver that textures have too.
Status CudaAllocation::image_formats(std::uint64_t flags, std::uint32_t type, std::vector<std::byte>& answer) {
  std::vector<std::byte> all;
  const Status status = front_end_.image_formats(flags, type, all);
  answer.clear();
  for (std::size_t at = 0; at + sizeof(Format) <= all.size(); at += sizeof(Format)) {
    Format format{};
    std::memcpy(&format, all.data() + at, sizeof format);
    if (!image_format(format.order, format.type)) continue;
    answer.insert(answer.end(), all.begin() + static_cast<std::ptrdiff_t>(at),
                  all.begin() + static_cast<std::ptrdiff_t>(at + sizeof format));
  }
  return status;
}

std::size_t CudaAllocation::element_bytes(const MemoryObject& image) {
  const CudaImage* const found = of(image).image();
  return found != nullptr ? found->format.element_bytes() : 0;
}

}  // namespace wm::runtime::cuda
