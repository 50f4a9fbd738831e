// PTX of an OpenCL compiler made into PTX that the CUDA driver launches.
//
// OpenCL's PTX relies on its own driver for these:
//   - a parameter `.ptr .shared` (a __local pointer) names shared memory of a size that the launch chooses. It becomes
//     a number: the offset of that memory in the launch's dynamic shared memory;
//   - %envreg0 to 9 hold the group offset (0 to 2), the global offset (3 to 5), the number of groups (6 to 8) and the
//     work dimension (9). They become one parameter of ten 32-bit words, where a kernel reads any;
//   - a parameter `.ptr .const` is read with ld.const, and becomes a pointer to global memory;
//   - images and samplers become records and texture objects (images.h), and `texmode_independent` in the target is
//     dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "ptx/ir.h"
#include "rewrite/ptx/images.h"

namespace wm::rewrite {

inline constexpr std::uint32_t kEnvironmentWords = 10;

struct AdaptedParameter {
  bool pointer = false;       // to global memory
  bool local_memory = false;  // an offset into dynamic shared memory, of `bytes` bytes
  std::uint32_t bytes = 0;
  std::uint32_t local_align = 1;    // that the memory needs
  KernelImages::Parameter image{};  // an image or a sampler
};

struct AdaptedKernel {
  std::string name;
  std::vector<AdaptedParameter> parameters;  // those of the original kernel
  bool reads_environment = false;            // a last parameter of kEnvironmentWords 32-bit words follows
  bool has_images = false;
  std::vector<TextureUse> textures{};  // where there are any, a parameter with an object for each comes before that
};

struct RefusedKernel {
  std::string name;
  std::string reason;
};

struct AdaptedModule {
  ptx::Module module;
  std::vector<AdaptedKernel> kernels;  // that the module has
  std::vector<RefusedKernel> refused;  // that were left out of it
};

// An error: no kernel of the module can be adapted.
Result<AdaptedModule> adapt_opencl(ptx::Module module);

}  // namespace wm::rewrite
