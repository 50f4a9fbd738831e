// Functions of the driver's virtual memory interface that this library wraps; the simulated driver does not have them.
#pragma once

#include <cstddef>

#include "runtime/client/cuda/interface/types.h"

// NOLINTBEGIN(readability-identifier-naming)
#define WM_DECLARED extern "C" __attribute__((visibility("default"))) CUresult
WM_DECLARED cuMemCreate(unsigned long long* handle, std::size_t bytes, const void* properties,
                        unsigned long long flags);
WM_DECLARED cuMemRelease(unsigned long long handle);
WM_DECLARED cuMemRetainAllocationHandle(unsigned long long* handle, void* address);
WM_DECLARED cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset, unsigned long long handle,
                     unsigned long long flags);
WM_DECLARED cuMemUnmap(CUdeviceptr address, std::size_t bytes);
#undef WM_DECLARED
// NOLINTEND(readability-identifier-naming)
