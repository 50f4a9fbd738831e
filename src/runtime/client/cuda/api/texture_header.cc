#include "runtime/client/cuda/api/texture_header.h"

#include <array>
#include <cstring>

#include "runtime/client/cuda/api/call.h"

namespace wm::cuda {

namespace {

using exec::TextureHeader;

constexpr std::uint64_t kPitchAlign = 32;
constexpr std::uint64_t kMaxLinearTexels = std::uint64_t{1} << 28;

CUresult refuse(const char* what) {
  explain(what);
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult set_format(TextureHeader& header, CUarray_format format, unsigned channels) {
  if (!texel_format(format, header.format)) return refuse("this texel format is not supported by textures");
  if (channels != 1 && channels != 2 && channels != 4) return CUDA_ERROR_INVALID_VALUE;
  header.channels = static_cast<std::uint8_t>(channels);
  return CUDA_SUCCESS;
}

CUresult set_array(TextureHeader& header, const Array& array) {
  const CUDA_ARRAY3D_DESCRIPTOR& d = array.descriptor;
  if (const CUresult set = set_format(header, d.Format, d.NumChannels); set != CUDA_SUCCESS) return set;
  header.is_layered = array.is_layered() ? 1 : 0;
  header.dimensions = d.Depth != 0 && !array.is_layered() ? 3 : d.Height != 0 ? 2 : 1;
  header.width = static_cast<std::uint32_t>(d.Width);
  header.height = static_cast<std::uint32_t>(array.rows());
  header.depth = static_cast<std::uint32_t>(array.slices());
  header.address[0] = array.address;
  header.pitch[0] = array.pitch();
  return CUDA_SUCCESS;
}

CUresult set_levels(TextureHeader& header, const MipmappedArray& array) {
  if (const CUresult set = set_array(header, *array.levels[0]); set != CUDA_SUCCESS) return set;
  header.levels = static_cast<std::uint8_t>(array.levels.size());
  for (std::size_t i = 0; i < array.levels.size(); ++i) {
    header.address[i] = array.levels[i]->address;
    header.pitch[i] = array.levels[i]->pitch();
  }
  return CUDA_SUCCESS;
}

CUresult set_linear(Driver& driver, TextureHeader& header, const CUDA_RESOURCE_DESC& resource) {
  const auto& linear = resource.res.linear;
  if (const CUresult set = set_format(header, linear.format, linear.numChannels); set != CUDA_SUCCESS) return set;
  const std::uint64_t texels = linear.sizeInBytes / header.texel_bytes();
  if (texels == 0 || texels > kMaxLinearTexels || linear.devPtr % header.texel_bytes() != 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (driver.memory().bytes_at(linear.devPtr, linear.sizeInBytes) == nullptr || !driver.memory().find(linear.devPtr))
    return CUDA_ERROR_INVALID_VALUE;
  header.source = TextureHeader::Source::linear;
  header.width = static_cast<std::uint32_t>(texels);
  header.address[0] = *driver.memory().device_address(linear.devPtr);
  header.pitch[0] = linear.sizeInBytes;
  return CUDA_SUCCESS;
}

CUresult set_pitched(Driver& driver, TextureHeader& header, const CUDA_RESOURCE_DESC& resource) {
  const auto& pitched = resource.res.pitch2D;
  if (const CUresult set = set_format(header, pitched.format, pitched.numChannels); set != CUDA_SUCCESS) return set;
  constexpr std::size_t kMaxSide = 1U << 17;
  if (pitched.width == 0 || pitched.height == 0 || pitched.width > kMaxSide || pitched.height > kMaxSide)
    return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t row = pitched.width * header.texel_bytes();
  if (pitched.pitchInBytes % kPitchAlign != 0 || pitched.pitchInBytes < row) return CUDA_ERROR_INVALID_VALUE;
  const auto range = driver.memory().find(pitched.devPtr);
  const std::uint64_t bytes = (pitched.height - 1) * pitched.pitchInBytes + row;
  if (!range) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t address = *driver.memory().device_address(pitched.devPtr);
  if (bytes > range->bytes - (address - range->address)) return CUDA_ERROR_INVALID_VALUE;
  header.source = TextureHeader::Source::pitched;
  header.dimensions = 2;
  header.width = static_cast<std::uint32_t>(pitched.width);
  header.height = static_cast<std::uint32_t>(pitched.height);
  header.address[0] = address;
  header.pitch[0] = pitched.pitchInBytes;
  return CUDA_SUCCESS;
}

CUresult set_resource(Driver& driver, const CUDA_RESOURCE_DESC& resource, TextureHeader& header) {
  header.magic = TextureHeader::kMagic;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY: {
      const auto array = driver.textures.arrays.find(resource.res.array.hArray);
      return array == nullptr ? CUDA_ERROR_INVALID_HANDLE : set_array(header, *array);
    }
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY: {
      const auto array = driver.textures.mipmapped_arrays.find(resource.res.mipmap.hMipmappedArray);
      return array == nullptr ? CUDA_ERROR_INVALID_HANDLE : set_levels(header, *array);
    }
    case CU_RESOURCE_TYPE_LINEAR:
      return set_linear(driver, header, resource);
    case CU_RESOURCE_TYPE_PITCH2D:
      return set_pitched(driver, header, resource);
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult set_sampling(const CUDA_TEXTURE_DESC& texture, TextureHeader& header) {
  for (std::size_t i = 0; i < header.modes.size(); ++i) {
    const CUaddress_mode mode = texture.addressMode[i];
    if (mode < CU_TR_ADDRESS_MODE_WRAP || mode > CU_TR_ADDRESS_MODE_BORDER) return CUDA_ERROR_INVALID_VALUE;
    header.modes[i] = static_cast<exec::AddressMode>(mode);
  }
  if ((texture.flags & CU_TRSF_SRGB) != 0) return refuse("textures do not convert from sRGB");
  if ((texture.flags & CU_TRSF_SEAMLESS_CUBEMAP) != 0) return refuse("there are no cube maps");
  const bool is_integer = !is_float_format(header.format);
  const bool reads_integers =
      is_integer && ((texture.flags & CU_TRSF_READ_AS_INTEGER) != 0 || format_bytes(header.format) == 4);
  header.reads_normalized = is_integer && !reads_integers ? 1 : 0;
  header.has_normalized_coordinates = (texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 ? 1 : 0;
  const bool filters = texture.filterMode == CU_TR_FILTER_MODE_LINEAR;
  if (header.source == TextureHeader::Source::linear) {
    // Linear memory is fetched by texel numbers.
    header.has_normalized_coordinates = 0;
    return filters ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  }
  if (filters && reads_integers) return CUDA_ERROR_INVALID_VALUE;
  if (header.levels > 1 && header.has_normalized_coordinates == 0) return CUDA_ERROR_INVALID_VALUE;
  header.filters = filters ? 1 : 0;
  header.blends_levels = texture.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR && header.levels > 1 ? 1 : 0;
  header.level_bias = texture.mipmapLevelBias;
  header.min_level = texture.minMipmapLevelClamp;
  header.max_level = texture.maxMipmapLevelClamp;
  for (std::size_t i = 0; i < header.border.size(); ++i) header.border[i] = texture.borderColor[i];
  return CUDA_SUCCESS;
}

}  // namespace

CUresult texture_header(Driver& driver, const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                        TextureHeader& header) {
  header = {};
  if (const CUresult set = set_resource(driver, resource, header); set != CUDA_SUCCESS) return set;
  return set_sampling(texture, header);
}

CUresult surface_header(Driver& driver, const CUDA_RESOURCE_DESC& resource, TextureHeader& header) {
  header = {};
  if (resource.resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult set = set_resource(driver, resource, header); set != CUDA_SUCCESS) return set;
  const auto array = driver.textures.arrays.find(resource.res.array.hArray);
  if (array == nullptr || (array->descriptor.Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0) return CUDA_ERROR_INVALID_VALUE;
  header.is_surface = 1;
  return CUDA_SUCCESS;
}

CUresult write_header(Context& context, std::uint64_t address, const TextureHeader& header) {
  if (const CUresult done = context.synchronize(); done != CUDA_SUCCESS) return done;
  const auto written =
      driver_of(context).memory().copy(address, reinterpret_cast<std::uint64_t>(&header), sizeof header);
  return written ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

}  // namespace wm::cuda
