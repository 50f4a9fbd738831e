// Images on the CUDA backend with the simulated CUDA driver.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

#include "runtime/device/cuda/backend.h"
#include "runtime/device/cuda/image.h"
#include "runtime/device/simulated_backend.h"

namespace wm::runtime::cuda {

// Numbers of OpenCL.
inline constexpr std::uint32_t kR = 0x10B0, kA = 0x10B1, kRG = 0x10B2, kRA = 0x10B3, kRGBA = 0x10B5, kBGRA = 0x10B6,
                               kARGB = 0x10B7, kIntensity = 0x10B8, kDepth = 0x10BD, kSrgba = 0x10C1;
inline constexpr std::uint64_t kReadOnly = 1 << 2;  // CL_MEM_READ_ONLY
inline constexpr std::uint32_t kSnorm8 = 0x10D0, kSnorm16 = 0x10D1, kUnorm8 = 0x10D2, kUnorm16 = 0x10D3,
                               kSint8 = 0x10D7, kUint8 = 0x10DA, kUint32 = 0x10DC, kHalf = 0x10DD, kFloat = 0x10DE;
inline constexpr std::uint32_t kClampToEdge = 0x1131, kClamp = 0x1132, kRepeat = 0x1133, kNearest = 0x1140,
                               kLinear = 0x1141;

struct Images : SimulatedBackend {
  KernelHandle kernel(const std::string& text, const std::string& name) {
    auto made = SimulatedBackend::kernel(text, name);
    EXPECT_TRUE(made) << backend->compilation().build_log(*program);
    return made;
  }

  static ImageRequest request(ImageKind kind, std::uint32_t order, std::uint32_t type, std::size_t width,
                              std::size_t height = 0, std::size_t depth_or_layers = 0) {
    ImageRequest r;
    r.object_type = static_cast<ImageType>(kind);
    r.flags = order == kSrgba ? kReadOnly : 0;
    r.channel_order = order;
    r.channel_type = type;
    r.width = width;
    r.height = height;
    (kind == ImageKind::d3 ? r.depth : r.array_size) = depth_or_layers;
    return r;
  }
  MemoryHandle image(ImageKind kind, std::uint32_t order, std::uint32_t type, std::size_t width, std::size_t height = 0,
                     std::size_t depth_or_layers = 0) {
    auto made = backend->allocation().create_image(request(kind, order, type, width, height, depth_or_layers));
    EXPECT_EQ(made.status, status::kSuccess);
    return made.object;
  }
  MemoryHandle buffer(std::size_t bytes) { return backend->allocation().create_buffer({0, bytes, {}}).object; }
  MemoryHandle image_of(const MemoryHandle& buffer, std::uint32_t order, std::uint32_t type, std::size_t width) {
    ImageRequest r = request(ImageKind::d1_buffer, order, type, width);
    r.buffer = buffer;
    r.buffer_extent = of(*buffer).bytes;
    return backend->allocation().create_image(r).object;
  }
  SamplerHandle sampler(bool is_normalized, std::uint32_t addressing, std::uint32_t filter) {
    return backend->allocation().create_sampler(is_normalized, addressing, filter).object;
  }

  template <typename T>
  Status transfer(bool to_device, const MemoryHandle& image, Size3 origin, Size3 region, std::vector<T>& values) {
    return backend->submission().submit(
        *queue, ImageTransfer{to_device, image, origin, region, std::as_writable_bytes(std::span(values))}, nullptr);
  }
  template <typename T>
  std::vector<T> contents(const MemoryHandle& image) {
    const CudaImage& i = *of(*image).image();
    std::vector<T> values(box_bytes(i) / sizeof(T));
    EXPECT_EQ(transfer(false, image, {}, i.extent(), values), status::kSuccess);
    return values;
  }
  template <typename T>
  std::vector<T> bytes_of(const MemoryHandle& memory, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_EQ(backend->submission().submit(
                  *queue, BufferTransfer{false, memory, 0, std::as_writable_bytes(std::span(values)), true}, nullptr),
              status::kSuccess);
    return values;
  }
  static std::size_t box_bytes(const CudaImage& i) {
    const Size3 all = i.extent();
    return all[0] * all[1] * all[2] * i.format.element_bytes();
  }

  static KernelArgument memory(const MemoryHandle& m) { return {ArgumentKind::memory, 8, nullptr, m.get(), nullptr}; }
  static KernelArgument sampler(const SamplerHandle& s) {
    return {ArgumentKind::sampler, 8, nullptr, nullptr, s.get()};
  }
  Status run(const KernelHandle& kernel, std::vector<KernelArgument> arguments, Size3 global, Size3 local) {
    KernelLaunch launch;
    launch.kernel = kernel.get();
    launch.arguments = arguments;
    launch.dimensions = 3;
    launch.global = global;
    launch.local = local;
    const Status status = backend->submission().launch(*queue, launch, nullptr);
    backend->submission().finish(*queue);
    return status;
  }
};

}  // namespace wm::runtime::cuda
