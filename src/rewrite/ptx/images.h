// Images of OpenCL kernels as the CUDA driver has them.
//
// NVIDIA's OpenCL passes images and samplers as parameters `.texref`, `.surfref` and `.samplerref`, and literal
// samplers as module variables. The CUDA driver takes texture objects, which are an image with a sampler, and surface
// objects:
//   - a parameter that is an image becomes an ImageRecord, one that is a sampler a number that is not read;
//   - each pair of an image and a sampler becomes a texture object. All of a kernel are in one more parameter;
//   - `tex` with coordinates in texels converts them, since the driver's sampler is not used with whole numbers, and
//     puts the channels of the texture in their places. Its texture object neither normalises nor filters;
//   - `sust.p`, which converts to the format of the image, becomes a call of a function that does so;
//   - `txq` and `suq` read the ImageRecord.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "rewrite/ptx/image_record.h"

namespace wm::rewrite {

// A texture object that a kernel reads: an image with a sampler.
struct TextureUse {
  std::uint32_t image = 0;                           // parameter
  std::optional<std::uint32_t> sampler_parameter{};  // none: `sampler`
  ptx::SamplerState sampler{};
  bool by_texels =
      false;  // coordinates are whole numbers of texels, whatever the sampler says, and nothing is filtered
  friend bool operator==(const TextureUse&, const TextureUse&) = default;
};

// The images and samplers of one kernel.
struct KernelImages {
  struct Parameter {
    enum class Kind : std::uint8_t { other, read_image, written_image, sampler };
    Kind kind = Kind::other;
    ImageShape shape = ImageShape::unknown;  // that the kernel accesses
    // The image may not show a buffer: the kernel samples it, or writes it as a surface.
    bool needs_array = false;
  };
  std::vector<Parameter> parameters;
  std::vector<TextureUse> textures;
  std::set<ImageShape> written;                             // shapes that the kernel writes
  std::map<std::uint32_t, std::uint32_t> handle_registers;  // registers that hold a parameter's pointer

  [[nodiscard]] bool any() const;
  // The parameter that a handle names: by itself, or by the register that holds its pointer.
  [[nodiscard]] std::optional<std::uint32_t> parameter_of(const ptx::Operand& handle) const;
};

// An error says why the kernel's images cannot be rewritten.
Result<KernelImages> find_images(const ptx::Module& module, const ptx::Function& kernel);

// Rewrites the kernel, whose module has the functions that its writes need.
void rewrite_images(const ptx::Module& module, ptx::Function& kernel, const KernelImages& images);

// Literal samplers are not declared any more. For modules whose kernels have been rewritten.
void remove_samplers(ptx::Module& module);

}  // namespace wm::rewrite
