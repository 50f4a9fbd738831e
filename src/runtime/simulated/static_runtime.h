// How a program finds the CUDA libraries: inside of its own file, which is NVIDIA's runtime library and works with
// NVIDIA's driver only, or in folders that its file names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wm::runtime {

// The advice for such a program.
inline constexpr const char* kStaticRuntimeAdvice =
    "the program contains NVIDIA's runtime library, which works with NVIDIA's driver only; build it with "
    "`nvcc -cudart shared` to run it on the simulated GPU";

// Whether an ELF file of 64 bits registers CUDA kernels and needs no libcudart.so: its runtime library is linked
// statically. A damaged file, and a file of another kind, is no such program.
[[nodiscard]] bool has_static_runtime(std::span<const std::byte> file);

// The same for the file at `path`; false where it cannot be read.
[[nodiscard]] bool has_static_runtime(const std::string& path);

// The CUDA libraries that an ELF file needs and its loader looks for in folders that the file names (DT_RPATH) before
// those of LD_LIBRARY_PATH. Empty for other programs.
[[nodiscard]] std::vector<std::string> fixed_cuda_libraries(std::span<const std::byte> file);
[[nodiscard]] std::vector<std::string> fixed_cuda_libraries(const std::string& path);

}  // namespace wm::runtime
