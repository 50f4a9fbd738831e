// Finds kernels that print vectors. NVIDIA's OpenCL compiler leaves conversions such as %v4f and a vector's elements to
// its own driver; the CUDA driver's vprintf reads them as something else and prints wrong numbers.
#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/ir.h"

namespace wm::rewrite {

// Whether a format of OpenCL's printf has a conversion of a vector.
[[nodiscard]] bool has_vector_conversion(std::string_view format);

// Whether the kernel, or a function that it calls, prints and names a string with such a conversion.
[[nodiscard]] bool prints_vectors(const ptx::Module& module, std::uint32_t kernel);

}  // namespace wm::rewrite
