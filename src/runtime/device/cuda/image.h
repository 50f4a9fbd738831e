// Images: arrays of the CUDA driver, or the memory of a buffer, and the texture and surface objects on them.
#pragma once

#include <map>
#include <mutex>

#include "ptx/ir.h"
#include "rewrite/ptx/images.h"
#include "runtime/device/cuda/image_format.h"
#include "runtime/device/cuda/objects.h"

namespace wm::runtime::cuda {

// How a kernel reads an image, as the driver takes it.
struct Sampling {
  std::array<int, 3> address{};  // CUaddress_mode
  bool filters = false, is_normalized = false;
  friend auto operator<=>(const Sampling&, const Sampling&) = default;
};
[[nodiscard]] Sampling sampling_of(const ptx::SamplerState& literal);

struct CudaSampler final : SamplerObject {
  explicit CudaSampler(const Sampling& as) : sampling(as) {}
  const Sampling sampling;
};
// Nothing: OpenCL has no such sampler.
[[nodiscard]] std::optional<Sampling> sampling_of(bool is_normalized, std::uint32_t addressing, std::uint32_t filter);

// The kinds of images, with the numbers of the protocol.
enum class ImageKind : ImageType {
  d2 = 0x10F1,
  d3 = 0x10F2,
  d2_array = 0x10F3,
  d1 = 0x10F4,
  d1_array = 0x10F5,
  d1_buffer = 0x10F6,
};

struct CudaImage final : CudaMemory {
  // An array is destroyed with the image. None: `address` is the memory of a buffer.
  CudaImage(Device& of, Address at, std::size_t size, Array made)
      : CudaMemory(of, at, size, Owner::other), array(made) {}
  ~CudaImage() override;
  [[nodiscard]] const CudaImage* image() const override { return this; }

  const Array array;
  ImageFormat format;
  ImageKind kind = ImageKind::d2;
  std::uint32_t width = 1, height = 0, depth = 0, layers = 0;  // 0: not a dimension of this kind

  // The size of an origin or a region, as OpenCL counts: layers of a 1D array are its rows.
  [[nodiscard]] Size3 extent() const;
  [[nodiscard]] bool contains(const Size3& origin, const Size3& region) const;
  [[nodiscard]] bool has_shape(rewrite::ImageShape shape) const;
  // The record that a kernel gets. 0 in the place of an object that is not needed.
  [[nodiscard]] rewrite::ImageRecord record(Address surface) const;

  // Objects of the driver, made when they are first used. An error: the driver makes none.
  Code texture(const Sampling& sampling, Address& object) const;
  Code surface(Address& object) const;

 private:
  mutable std::mutex mutex_;
  mutable std::map<Sampling, Address> textures_;
  mutable Address surface_ = 0;
};

// Why there is no such image, on any driver.
[[nodiscard]] Status check_image_request(const ImageRequest& request);
// The request has been checked.
Made<MemoryHandle> make_image(Device& device, const ImageRequest& request);

}  // namespace wm::runtime::cuda
