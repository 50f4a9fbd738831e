// Texture and surface objects. A handle is the address of the object's header in device memory.
#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/api/texture_header.h"

namespace wm::cuda {
namespace {

CUresult create(Context& context, const exec::TextureHeader& header, const TextureObject& object,
                unsigned long long* handle) {
  Driver& driver = driver_of(context);
  const auto address = driver.memory().allocate(ptx::kTextureHeaderBytes, "texture header", &context);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  const auto written = driver.memory().copy(*address, reinterpret_cast<std::uint64_t>(&header), sizeof header);
  if (!written) return CUDA_ERROR_UNKNOWN;
  driver.textures.add(*address, object);
  *handle = *address;
  return CUDA_SUCCESS;
}

CUresult destroy(unsigned long long handle, bool is_surface) {
  return with_context([&](Context& context) {
    Driver& driver = driver_of(context);
    if (!driver.textures.find(handle, is_surface)) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult done = context.synchronize(); done != CUDA_SUCCESS) return done;
    if (!driver.textures.remove(handle, is_surface)) return CUDA_ERROR_INVALID_VALUE;
    return driver.memory().free(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

template <typename T>
CUresult describe(T* out, unsigned long long handle, bool is_surface, T TextureObject::*member) {
  return with_context([&](Context& context) {
    const auto object = driver_of(context).textures.find(handle, is_surface);
    if (out == nullptr || !object) return CUDA_ERROR_INVALID_VALUE;
    *out = (*object).*member;
    return CUDA_SUCCESS;
  });
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Context;
using wm::cuda::driver_of;
using wm::cuda::TextureObject;
using wm::cuda::with_context;

CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC* texture,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return with_context([&](Context& context) {
    if (object == nullptr || resource == nullptr || texture == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (view != nullptr) {
      wm::cuda::explain("textures have no resource views");
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    wm::exec::TextureHeader header;
    const CUresult made = wm::cuda::texture_header(driver_of(context), *resource, *texture, header);
    if (made != CUDA_SUCCESS) return made;
    return wm::cuda::create(context, header, {&context, *resource, *texture, false}, object);
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return with_context([&](Context& context) {
    if (object == nullptr || resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
    wm::exec::TextureHeader header;
    const CUresult made = wm::cuda::surface_header(driver_of(context), *resource, header);
    if (made != CUDA_SUCCESS) return made;
    return wm::cuda::create(context, header, {&context, *resource, {}, true}, object);
  });
}

CUresult cuTexObjectDestroy(CUtexObject object) { return wm::cuda::destroy(object, false); }
CUresult cuSurfObjectDestroy(CUsurfObject object) { return wm::cuda::destroy(object, true); }
CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUtexObject object) {
  return wm::cuda::describe(resource, object, false, &TextureObject::resource);
}
CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* texture, CUtexObject object) {
  return wm::cuda::describe(texture, object, false, &TextureObject::texture);
}
CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject object) {
  return wm::cuda::describe(resource, object, true, &TextureObject::resource);
}
