// Loads what an application gives as the code of a module: PTX text or a fat binary.
#pragma once

#include <cstddef>
#include <memory>

#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/cuda/state/driver.h"

namespace wm::cuda {

// A mistake in the image is explained on stderr and is in the log that `answer_jit_options` gives.
CUresult load_image(Context& context, const void* image, std::shared_ptr<Module>& module);

// Fills the log buffers among the options of a load with the messages of this thread's last one.
void answer_jit_options(unsigned count, const int* options, void** values);

// Dynamic shared memory that a launch of the function may ask for.
int max_dynamic_shared(const Function& function);

}  // namespace wm::cuda
