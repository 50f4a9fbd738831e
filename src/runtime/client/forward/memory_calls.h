// The account of this process's device memory, for calls that end a context.
#pragma once

#include "runtime/client/cuda/interface/types.h"

namespace wm::forward {

// A context has been destroyed, or the primary context of a device reset.
void forget_memory_of(CUcontext context);
void forget_memory_of_primary(CUdevice device);

}  // namespace wm::forward
