// mri-q: large has 64^3 voxels and 2048 samples in two launches (1024 blocks of 256), 4 blocks of 512 for |phi|^2.
#include "kernels/mri-q/case.h"

namespace wm::zoo {

Benchmark benchmark_mri_q() {
  return {.name = "mri-q",
          .about = "Q matrix of MRI reconstruction: a sum of complex exponentials per voxel",
          .suite = "Parboil",
          .aliases = {"MRI-Q", "MRIQ"},
          .kernels = {{"phimag", "mri_q_phimag"}, {"q", "mri_q_q"}},
          .make = [](Size size) {
            return mri_q::make(size, {"mri_q_phimag", "mri_q_q"});
          }};
}

}  // namespace wm::zoo
