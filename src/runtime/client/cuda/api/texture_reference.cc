// Textures and surfaces that modules declare. Every setter writes the header anew once the reference is bound.
#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/api/texture_header.h"

namespace wm::cuda {
namespace {

// The variable of a module that is a texture or surface, by its type.
CUresult find_variable(Module& module, const char* name, ptx::Type type, std::uint64_t& address) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const ptx::Variable& v : module.loaded().module().variables) {
    if (v.name != name || v.type != type) continue;
    const auto variable = module.loaded().variable(name);
    if (!variable) return CUDA_ERROR_NOT_FOUND;
    address = variable->address;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
}

// The reference of a header, made when it is first asked for: a name has one handle.
template <typename Reference>
Reference* reference_of(HandleSet<Reference>& set, Module& module, std::uint64_t header) {
  Reference* found = nullptr;
  set.for_each([&](Reference& r) {
    if (r.header == header) found = &r;
  });
  return found != nullptr ? found : set.add(std::make_shared<Reference>(&module, header));
}

template <typename Body>
CUresult with_reference(CUtexref handle, Body&& body) {
  return with_context([&](Context& context) {
    const auto reference = driver_of(context).textures.references.find(handle);
    if (reference == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const std::lock_guard lock(reference->mutex);
    return std::forward<Body>(body)(context, *reference);
  });
}

// Changes the reference and, once it is bound, the header. A change that is refused leaves it as it was.
template <typename Change>
CUresult change(CUtexref handle, Change&& apply) {
  return with_reference(handle, [&](Context& context, TextureReference& reference) {
    CUDA_RESOURCE_DESC resource = reference.resource;
    CUDA_TEXTURE_DESC texture = reference.texture;
    bool is_bound = reference.is_bound;
    if (const CUresult applied = apply(resource, texture, is_bound); applied != CUDA_SUCCESS) return applied;
    if (is_bound) {
      exec::TextureHeader header;
      CUresult made = texture_header(driver_of(context), resource, texture, header);
      if (made == CUDA_SUCCESS) made = write_header(context, reference.header, header);
      if (made != CUDA_SUCCESS) return made;
    }
    reference.resource = resource;
    reference.texture = texture;
    reference.is_bound = is_bound;
    return CUDA_SUCCESS;
  });
}

template <typename T, typename Get>
CUresult get(T* out, CUtexref handle, Get&& value) {
  return with_reference(handle, [&](Context&, const TextureReference& reference) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return value(reference);
  });
}

// The reference of a module's texture or surface variable.
template <typename Handle, typename Reference>
CUresult module_reference(Handle* reference, CUmodule handle, const char* name, ptx::Type type,
                          HandleSet<Reference> TextureTable::*table) {
  return with_context([&](Context& context) {
    Driver& driver = driver_of(context);
    const auto module = driver.modules.find(handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (reference == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t header = 0;
    const CUresult found = find_variable(*module, name, type, header);
    if (found == CUDA_SUCCESS) *reference = reference_of(driver.textures.*table, *module, header);
    return found;
  });
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::change;
using wm::cuda::Context;
using wm::cuda::Driver;
using wm::cuda::driver_of;
using wm::cuda::get;
using wm::cuda::SurfaceReference;
using wm::cuda::TextureReference;
using wm::cuda::with_context;

CUresult cuModuleGetTexRef(CUtexref* reference, CUmodule handle, const char* name) {
  return wm::cuda::module_reference(reference, handle, name, wm::ptx::Type::texref,
                                    &wm::cuda::TextureTable::references);
}

CUresult cuTexRefSetArray(CUtexref reference, CUarray array, unsigned flags) {
  // CU_TRSA_OVERRIDE_FORMAT: the reference takes the format of the array.
  if (flags != 1) return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUDA_RESOURCE_DESC& resource, CUDA_TEXTURE_DESC&, bool& is_bound) {
    resource = {};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    is_bound = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmappedArray(CUtexref reference, CUmipmappedArray array, unsigned flags) {
  if (flags != 1) return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUDA_RESOURCE_DESC& resource, CUDA_TEXTURE_DESC&, bool& is_bound) {
    resource = {};
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = array;
    is_bound = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetAddress_v2(std::size_t* offset, CUtexref reference, CUdeviceptr address, std::size_t bytes) {
  if (offset != nullptr) *offset = 0;
  return change(reference, [&](CUDA_RESOURCE_DESC& resource, CUDA_TEXTURE_DESC&, bool& is_bound) {
    const bool keeps_format = resource.resType == CU_RESOURCE_TYPE_LINEAR && resource.res.linear.numChannels != 0;
    const auto format = keeps_format ? resource.res.linear.format : CU_AD_FORMAT_FLOAT;
    const unsigned channels = keeps_format ? resource.res.linear.numChannels : 1;
    resource = {};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {address, format, channels, bytes};
    is_bound = true;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetAddress2D_v3(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR* d, CUdeviceptr address,
                                 std::size_t pitch) {
  if (d == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUDA_RESOURCE_DESC& resource, CUDA_TEXTURE_DESC&, bool& is_bound) {
    resource = {};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {address, d->Format, d->NumChannels, d->Width, d->Height, pitch};
    is_bound = true;
    return CUDA_SUCCESS;
  });
}

// Arrays and rows bring their format; that of linear memory is the reference's.
CUresult cuTexRefSetFormat(CUtexref reference, CUarray_format format, int channels) {
  wm::exec::TexelFormat known{};
  if (!wm::cuda::texel_format(format, known) || (channels != 1 && channels != 2 && channels != 4))
    return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUDA_RESOURCE_DESC& resource, CUDA_TEXTURE_DESC&, bool& is_bound) {
    if (is_bound && resource.resType != CU_RESOURCE_TYPE_LINEAR) return CUDA_SUCCESS;
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.format = format;
    resource.res.linear.numChannels = static_cast<unsigned>(channels);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetAddressMode(CUtexref reference, int dimension, CUaddress_mode mode) {
  if (dimension < 0 || dimension > 2) return CUDA_ERROR_INVALID_VALUE;
  if (mode < CU_TR_ADDRESS_MODE_WRAP || mode > CU_TR_ADDRESS_MODE_BORDER) return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUDA_RESOURCE_DESC&, CUDA_TEXTURE_DESC& texture, bool&) {
    texture.addressMode[dimension] = mode;
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefSetFilterMode(CUtexref reference, CUfilter_mode mode) {
  if (mode != CU_TR_FILTER_MODE_POINT && mode != CU_TR_FILTER_MODE_LINEAR) return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUDA_RESOURCE_DESC&, CUDA_TEXTURE_DESC& texture, bool&) {
    texture.filterMode = mode;
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefSetMipmapFilterMode(CUtexref reference, CUfilter_mode mode) {
  if (mode != CU_TR_FILTER_MODE_POINT && mode != CU_TR_FILTER_MODE_LINEAR) return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUDA_RESOURCE_DESC&, CUDA_TEXTURE_DESC& texture, bool&) {
    texture.mipmapFilterMode = mode;
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefSetMipmapLevelBias(CUtexref reference, float bias) {
  return change(reference, [&](CUDA_RESOURCE_DESC&, CUDA_TEXTURE_DESC& texture, bool&) {
    texture.mipmapLevelBias = bias;
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefSetMipmapLevelClamp(CUtexref reference, float min, float max) {
  return change(reference, [&](CUDA_RESOURCE_DESC&, CUDA_TEXTURE_DESC& texture, bool&) {
    texture.minMipmapLevelClamp = min;
    texture.maxMipmapLevelClamp = max;
    return CUDA_SUCCESS;
  });
}
// Anisotropy matters only to fetches with gradients, which are refused.
CUresult cuTexRefSetMaxAnisotropy(CUtexref reference, unsigned anisotropy) {
  return change(reference, [&](CUDA_RESOURCE_DESC&, CUDA_TEXTURE_DESC& texture, bool&) {
    texture.maxAnisotropy = anisotropy;
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefSetBorderColor(CUtexref reference, float* color) {
  if (color == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return change(reference, [&](CUDA_RESOURCE_DESC&, CUDA_TEXTURE_DESC& texture, bool&) {
    for (int i = 0; i < 4; ++i) texture.borderColor[i] = color[i];
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefSetFlags(CUtexref reference, unsigned flags) {
  return change(reference, [&](CUDA_RESOURCE_DESC&, CUDA_TEXTURE_DESC& texture, bool&) {
    texture.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetArray(CUarray* array, CUtexref reference) {
  return get(array, reference, [&](const TextureReference& r) {
    if (!r.is_bound || r.resource.resType != CU_RESOURCE_TYPE_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    *array = r.resource.res.array.hArray;
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* array, CUtexref reference) {
  return get(array, reference, [&](const TextureReference& r) {
    if (!r.is_bound || r.resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) return CUDA_ERROR_INVALID_VALUE;
    *array = r.resource.res.mipmap.hMipmappedArray;
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefGetAddress_v2(CUdeviceptr* address, CUtexref reference) {
  return get(address, reference, [&](const TextureReference& r) {
    if (!r.is_bound) return CUDA_ERROR_INVALID_VALUE;
    if (r.resource.resType == CU_RESOURCE_TYPE_LINEAR) return *address = r.resource.res.linear.devPtr, CUDA_SUCCESS;
    if (r.resource.resType == CU_RESOURCE_TYPE_PITCH2D) return *address = r.resource.res.pitch2D.devPtr, CUDA_SUCCESS;
    return CUDA_ERROR_INVALID_VALUE;
  });
}
CUresult cuTexRefGetFormat(CUarray_format* format, int* channels, CUtexref handle) {
  return wm::cuda::with_reference(handle, [&](Context& context, const TextureReference& r) {
    if (format == nullptr || channels == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *format = CU_AD_FORMAT_FLOAT;
    *channels = 1;
    if (r.resource.resType == CU_RESOURCE_TYPE_ARRAY) {
      const auto array = driver_of(context).textures.arrays.find(r.resource.res.array.hArray);
      if (array == nullptr) return r.is_bound ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
      *format = array->descriptor.Format;
      *channels = static_cast<int>(array->descriptor.NumChannels);
    } else if (r.resource.resType == CU_RESOURCE_TYPE_LINEAR && r.resource.res.linear.numChannels != 0) {
      *format = r.resource.res.linear.format;
      *channels = static_cast<int>(r.resource.res.linear.numChannels);
    } else if (r.resource.resType == CU_RESOURCE_TYPE_PITCH2D) {
      *format = r.resource.res.pitch2D.format;
      *channels = static_cast<int>(r.resource.res.pitch2D.numChannels);
    }
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefGetAddressMode(CUaddress_mode* mode, CUtexref reference, int dimension) {
  if (dimension < 0 || dimension > 2) return CUDA_ERROR_INVALID_VALUE;
  return get(mode, reference, [&](const TextureReference& r) {
    *mode = r.texture.addressMode[dimension];
    return CUDA_SUCCESS;
  });
}
CUresult cuTexRefGetFilterMode(CUfilter_mode* mode, CUtexref reference) {
  return get(mode, reference, [&](const TextureReference& r) { return *mode = r.texture.filterMode, CUDA_SUCCESS; });
}
CUresult cuTexRefGetFlags(unsigned* flags, CUtexref reference) {
  return get(flags, reference, [&](const TextureReference& r) { return *flags = r.texture.flags, CUDA_SUCCESS; });
}

CUresult cuModuleGetSurfRef(CUsurfref* reference, CUmodule handle, const char* name) {
  return wm::cuda::module_reference(reference, handle, name, wm::ptx::Type::surfref,
                                    &wm::cuda::TextureTable::surface_references);
}

CUresult cuSurfRefSetArray(CUsurfref handle, CUarray array, unsigned flags) {
  return with_context([&](Context& context) {
    Driver& driver = driver_of(context);
    const auto reference = driver.textures.surface_references.find(handle);
    if (reference == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const std::lock_guard lock(reference->mutex);
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    wm::exec::TextureHeader header;
    CUresult made = wm::cuda::surface_header(driver, resource, header);
    if (made == CUDA_SUCCESS) made = wm::cuda::write_header(context, reference->header, header);
    if (made == CUDA_SUCCESS) reference->array = array;
    return made;
  });
}

CUresult cuSurfRefGetArray(CUarray* array, CUsurfref handle) {
  return with_context([&](Context& context) {
    const auto reference = driver_of(context).textures.surface_references.find(handle);
    if (reference == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const std::lock_guard lock(reference->mutex);
    if (array == nullptr || reference->array == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *array = reference->array;
    return CUDA_SUCCESS;
  });
}
