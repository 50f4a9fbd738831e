// The arrays, textures and surfaces of the application. Kernels see a texture or surface as a header in device memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "exec/texture_header.h"
#include "runtime/client/cuda/interface/texture_types.h"
#include "runtime/client/cuda/state/array.h"
#include "runtime/client/cuda/state/handle_set.h"

namespace wm::cuda {

// A texture or surface object, by the address of its header.
struct TextureObject {
  Context* context = nullptr;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  bool is_surface = false;
};

// A texture that a module declares: its header is the module's variable. A change takes effect at once.
class TextureReference {
 public:
  TextureReference(Module* module, std::uint64_t header) : module(module), header(header) {}
  Module* const module;
  const std::uint64_t header;
  std::mutex mutex;  // guards what follows
  bool is_bound = false;
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
};

class SurfaceReference {
 public:
  SurfaceReference(Module* module, std::uint64_t header) : module(module), header(header) {}
  Module* const module;
  const std::uint64_t header;
  std::mutex mutex;  // guards what follows
  CUarray array = nullptr;
};

class TextureTable {
 public:
  HandleSet<Array> arrays;
  HandleSet<MipmappedArray> mipmapped_arrays;
  HandleSet<TextureReference> references;
  HandleSet<SurfaceReference> surface_references;

  void add(std::uint64_t handle, const TextureObject& object);
  [[nodiscard]] std::optional<TextureObject> find(std::uint64_t handle, bool is_surface) const;
  bool remove(std::uint64_t handle, bool is_surface);
  // Forgets all that belongs to a context or module that ends.
  void forget(const Context* context);
  void forget(const Module* module);

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, TextureObject> objects_;
};

}  // namespace wm::cuda
