#include "runtime/device/cuda/image.h"

#include <limits>

namespace wm::runtime::cuda {
namespace {

// CUaddress_mode, CUfilter_mode, and flags of the driver.
constexpr int kWrap = 0, kClamp = 1, kMirror = 2, kBorder = 3;
constexpr unsigned kReadAsInteger = 1, kNormalizedCoordinates = 2, kSrgb = 0x10;
constexpr unsigned kLayered = 1, kSurface = 2;

int address_mode(ptx::SamplerState::Address mode) {
  switch (mode) {
    case ptx::SamplerState::Address::wrap:
      return kWrap;
    case ptx::SamplerState::Address::mirror:
      return kMirror;
    case ptx::SamplerState::Address::clamp_to_border:
      return kBorder;
    default:
      return kClamp;
  }
}

bool is_array(ImageKind kind) { return kind == ImageKind::d1_array || kind == ImageKind::d2_array; }

ArrayDescription description(const CudaImage& image) {
  ArrayDescription d;
  d.width = image.width;
  d.height = image.height;
  d.depth = is_array(image.kind) ? image.layers : image.depth;
  d.format = image.format.array_format;
  d.channels = image.format.channels;
  d.flags = kSurface | (is_array(image.kind) ? kLayered : 0);
  return d;
}

ResourceDescription resource_of(const CudaImage& image) {
  ResourceDescription r;
  if (image.array != nullptr) {
    r.type = ResourceDescription::kArray;
    r.resource.array = image.array;
  } else {
    r.type = ResourceDescription::kLinear;
    r.resource.linear = {image.address, image.format.array_format, image.format.channels, image.bytes};
  }
  return r;
}

// The sizes of a request that its type has. False: one of them is missing or too large.
bool set_sizes(const ImageRequest& m, CudaImage& image) {
  constexpr std::size_t kMax = std::numeric_limits<std::int32_t>::max();
  const auto take = [&](std::size_t size, std::uint32_t& to) {
    to = static_cast<std::uint32_t>(size);
    return size != 0 && size <= kMax;
  };
  const bool has_rows = image.kind == ImageKind::d2 || image.kind == ImageKind::d3 || image.kind == ImageKind::d2_array;
  return take(m.width, image.width) && (!has_rows || take(m.height, image.height)) &&
         (image.kind != ImageKind::d3 || take(m.depth, image.depth)) &&
         (!is_array(image.kind) || take(m.array_size, image.layers));
}

}  // namespace

Status check_image_request(const ImageRequest& m) {
  const auto kind = static_cast<ImageKind>(m.object_type);
  if (kind < ImageKind::d2 || kind > ImageKind::d1_buffer) return status::kInvalidImageDescriptor;
  if (!is_format(m.channel_order, m.channel_type)) return status::kInvalidImageFormatDescriptor;
  const auto format = image_format(m.channel_order, m.channel_type);
  if (!format) return status::kImageFormatNotSupported;
  // Only 1D images show buffers, and only memory of the host has pitches.
  const bool shows_buffer = kind == ImageKind::d1_buffer;
  if (shows_buffer != (m.buffer != nullptr) || shows_buffer != (m.buffer_extent != 0)) {
    return status::kInvalidImageDescriptor;
  }
  if (shows_buffer) {
    const std::size_t room = m.buffer_extent / format->element_bytes();
    return m.width > room ? status::kInvalidImageDescriptor : status::kSuccess;
  }
  return m.row_pitch != 0 || m.slice_pitch != 0 ? status::kInvalidImageDescriptor : status::kSuccess;
}

Sampling sampling_of(const ptx::SamplerState& literal) {
  Sampling s;
  for (std::size_t i = 0; i < s.address.size(); ++i) s.address[i] = address_mode(literal.address[i]);
  s.filters = literal.filters;
  s.is_normalized = !literal.force_unnormalized_coords;
  return s;
}

std::optional<Sampling> sampling_of(bool is_normalized, std::uint32_t addressing, std::uint32_t filter) {
  // CL_ADDRESS_NONE, …_CLAMP_TO_EDGE, …_CLAMP, …_REPEAT and …_MIRRORED_REPEAT; CL_FILTER_NEAREST and …_LINEAR.
  constexpr std::uint32_t kNone = 0x1130, kNearest = 0x1140, kLinear = 0x1141;
  constexpr std::array<int, 5> kModes{kClamp, kClamp, kBorder, kWrap, kMirror};
  if (addressing < kNone || addressing - kNone >= kModes.size()) return std::nullopt;
  if (filter != kNearest && filter != kLinear) return std::nullopt;
  Sampling s;
  s.address.fill(kModes[addressing - kNone]);
  s.filters = filter == kLinear;
  s.is_normalized = is_normalized;
  return s;
}

CudaImage::~CudaImage() {
  device.make_current();
  for (const auto& [sampling, object] : textures_) device.cuda.destroy_texture(object);
  if (surface_ != 0) device.cuda.destroy_surface(surface_);
  if (array != nullptr) device.give_back_array(description(*this), array);
}

Size3 CudaImage::extent() const {
  const auto at_least_one = [](std::uint32_t n) { return std::max<std::size_t>(n, 1); };
  if (kind == ImageKind::d1_array) return {width, at_least_one(layers), 1};
  return {width, at_least_one(height), at_least_one(is_array(kind) ? layers : depth)};
}

bool CudaImage::contains(const Size3& origin, const Size3& region) const {
  const Size3 all = extent();
  for (std::size_t d = 0; d < all.size(); ++d) {
    if (region[d] == 0 || origin[d] > all[d] || region[d] > all[d] - origin[d]) return false;
  }
  return true;
}

bool CudaImage::has_shape(rewrite::ImageShape shape) const {
  using rewrite::ImageShape;
  switch (shape) {
    case ImageShape::d1:
      return kind == ImageKind::d1 || kind == ImageKind::d1_buffer;
    case ImageShape::d1_buffer:
      return kind == ImageKind::d1_buffer;
    case ImageShape::d2:
      return kind == ImageKind::d2;
    case ImageShape::d3:
      return kind == ImageKind::d3;
    case ImageShape::d1_array:
      return kind == ImageKind::d1_array;
    case ImageShape::d2_array:
      return kind == ImageKind::d2_array;
    default:
      return true;
  }
}

rewrite::ImageRecord CudaImage::record(Address surface) const {
  rewrite::ImageRecord r;
  r.surface = surface;
  r.width = width;
  r.height = height;
  r.depth = depth;
  r.layers = layers;
  r.is_linear = array == nullptr ? 1 : 0;
  set_format(format, r);
  return r;
}

Code CudaImage::texture(const Sampling& sampling, Address& object) const {
  const std::lock_guard lock(mutex_);
  Address& known = textures_[sampling];
  if (known == 0) {
    TextureDescription t;
    for (std::size_t i = 0; i < t.address.size(); ++i) t.address[i] = sampling.address[i];
    // The GPU filters a one-dimensional array as one row, with the border above it where that is not at the edge.
    if (kind == ImageKind::d1) t.address[1] = t.address[2] = kClamp;
    // Integers are not filtered, and linear memory neither.
    t.filter = sampling.filters && !format.is_integer && array != nullptr ? 1 : 0;
    t.flags = (format.is_integer ? kReadAsInteger : 0) | (format.is_srgb ? kSrgb : 0) |
              (sampling.is_normalized && array != nullptr ? kNormalizedCoordinates : 0);
    const ResourceDescription resource = resource_of(*this);
    if (const Code code = device.cuda.create_texture(&known, &resource, &t, nullptr); code != kSuccess) {
      textures_.erase(sampling);
      return code;
    }
  }
  object = known;
  return kSuccess;
}

Code CudaImage::surface(Address& object) const {
  const std::lock_guard lock(mutex_);
  if (array != nullptr && surface_ == 0) {
    const ResourceDescription resource = resource_of(*this);
    if (const Code code = device.cuda.create_surface(&surface_, &resource); code != kSuccess) return code;
  }
  object = array != nullptr ? surface_ : address;
  return kSuccess;
}

Made<MemoryHandle> make_image(Device& device, const ImageRequest& m) {
  const auto kind = static_cast<ImageKind>(m.object_type);
  const auto describe = [&](CudaImage& image) {
    image.kind = kind;
    image.format = *image_format(m.channel_order, m.channel_type);
    return set_sizes(m, image);
  };
  if (kind == ImageKind::d1_buffer) {
    const std::size_t bytes = m.width * image_format(m.channel_order, m.channel_type)->element_bytes();
    auto image = std::make_shared<CudaImage>(device, of(*m.buffer).address, bytes, nullptr);
    if (!describe(*image)) return {status::kInvalidImageSize, nullptr};
    image->parent = m.buffer;
    return {status::kSuccess, std::move(image)};
  }
  CudaImage shape(device, 0, 0, nullptr);
  if (!describe(shape)) return {status::kInvalidImageSize, nullptr};
  Array array = nullptr;
  const ArrayDescription d = description(shape);
  if (const Code code = device.take_array(d, array); code != kSuccess) {
    return {code == kInvalidValue ? status::kInvalidImageSize : status_of(code), nullptr};
  }
  auto image = std::make_shared<CudaImage>(device, 0, m.bytes, array);
  describe(*image);
  return {status::kSuccess, std::move(image)};
}

}  // namespace wm::runtime::cuda
