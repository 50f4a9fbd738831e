// The driver that calls are forwarded to: NVIDIA's libcuda.so.1, or, in tests, the simulated one.
//
// It is loaded by the first call of the program, not when this library is loaded: most processes that a shell script
// starts never use the GPU.
#pragma once

#include <cstddef>
#include <string>

#include "runtime/client/cuda/interface/functions.h"
#include "runtime/client/forward/virtual_memory.h"

namespace wm::forward {

// The functions of the real driver that this library calls itself.
struct RealFunctions {
#define WM_WRAPPED(name, base, since, stream_flag) decltype(&::name) name;
#define WM_USED(name) decltype(&::name) name;
#include "runtime/client/forward/wrapped.def"
#undef WM_WRAPPED
#undef WM_USED
};

// Loads the driver if that has not happened yet. Members are null where the driver lacks a function.
const RealFunctions& real();

// The address of any symbol of the real driver; null: it has none of that name.
void* real_symbol(const char* name);

// The file of the real driver: $WARPMUX_LIBCUDA, which `wm run` sets, or the first libcuda.so.1 in the usual folders
// that is not this library. Empty: none.
std::string real_driver_file();

// The wrapper of the function at this address of the real driver; the address itself if it has none.
void* wrapper_of(void* real_address);

}  // namespace wm::forward
