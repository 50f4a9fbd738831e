#include "runtime/client/cuda/state/texture_table.h"

#include "runtime/client/cuda/state/module.h"

namespace wm::cuda {

void TextureTable::add(std::uint64_t handle, const TextureObject& object) {
  const std::lock_guard lock(mutex_);
  objects_[handle] = object;
}

std::optional<TextureObject> TextureTable::find(std::uint64_t handle, bool is_surface) const {
  const std::lock_guard lock(mutex_);
  const auto at = objects_.find(handle);
  if (at == objects_.end() || at->second.is_surface != is_surface) return std::nullopt;
  return at->second;
}

bool TextureTable::remove(std::uint64_t handle, bool is_surface) {
  const std::lock_guard lock(mutex_);
  const auto at = objects_.find(handle);
  if (at == objects_.end() || at->second.is_surface != is_surface) return false;
  objects_.erase(at);
  return true;
}

void TextureTable::forget(const Context* context) {
  arrays.remove_if([&](const Array& a) { return a.context == context; });
  mipmapped_arrays.remove_if([&](const MipmappedArray& a) { return a.context == context; });
  references.remove_if([&](const TextureReference& r) { return r.module->context == context; });
  surface_references.remove_if([&](const SurfaceReference& r) { return r.module->context == context; });
  const std::lock_guard lock(mutex_);
  std::erase_if(objects_, [&](const auto& entry) { return entry.second.context == context; });
}

void TextureTable::forget(const Module* module) {
  references.remove_if([&](const TextureReference& r) { return r.module == module; });
  surface_references.remove_if([&](const SurfaceReference& r) { return r.module == module; });
}

}  // namespace wm::cuda
