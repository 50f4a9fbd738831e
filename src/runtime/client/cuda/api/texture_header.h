// The header that kernels read, from the descriptors of the API.
#pragma once

#include "exec/texture_header.h"
#include "runtime/client/cuda/state/driver.h"

namespace wm::cuda {

// Fills `header`, or says what is wrong with the descriptors.
CUresult texture_header(Driver& driver, const CUDA_RESOURCE_DESC& resource, const CUDA_TEXTURE_DESC& texture,
                        exec::TextureHeader& header);
CUresult surface_header(Driver& driver, const CUDA_RESOURCE_DESC& resource, exec::TextureHeader& header);

// Writes the header to device memory when earlier work of the context, which may use it, is done.
CUresult write_header(Context& context, std::uint64_t address, const exec::TextureHeader& header);

}  // namespace wm::cuda
