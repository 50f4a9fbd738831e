// mri-q as Parboil has it, in CUDA and in OpenCL: its samples are in constant memory. Inputs and launches are mri-q's.
#include "kernels/mri-q/case.h"

namespace wm::zoo {

Benchmark benchmark_mri_q_constant() {
  return {.name = "mri-q-constant",
          .about = "mri-q with its samples in constant memory",
          .suite = "Parboil, as published",
          .aliases = {},
          .kernels = {{"phimag", "mri_q_constant_phimag"}, {"q", "mri_q_constant_q"}},
          .make =
              [](Size size) {
                return mri_q::make(size, {"mri_q_constant_phimag", "mri_q_constant_q"});
              },
          .constant_pointers = true};
}

}  // namespace wm::zoo
