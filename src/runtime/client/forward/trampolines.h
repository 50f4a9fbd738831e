// The exported functions that are forwarded without being looked at. Each jumps through an entry, so that it works for
// any parameters; the entries are filled when the real driver is loaded.
#pragma once

#include <cstddef>

namespace wm::forward {

inline constexpr const char* kExportedNames[] = {
#define WM_CUDA(name, since, parameters) #name,
#define WM_CUDA_STREAM(name, since, suffix, parameters, arguments) #name, #name #suffix,
#define WM_CUDA_REFUSED(name, since) #name,
#include "runtime/client/cuda/interface/functions.def"
#include "runtime/client/cuda/interface/refused.def"
#undef WM_CUDA
#undef WM_CUDA_STREAM
#undef WM_CUDA_REFUSED
};
inline constexpr std::size_t kExportedCount = sizeof kExportedNames / sizeof kExportedNames[0];

// Where the function of that index jumps to.
void*& trampoline_entry(std::size_t index);

}  // namespace wm::forward
