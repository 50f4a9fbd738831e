// The PTX of a module that a CUDA program has loaded, and kernels of it with gates or as workers. The library that
// forwards to the driver opens the library that implements this when the daemon first asks for one of them: it needs
// the PTX parser, which other programs shall not have to load.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace wm::gates {

// The address of a variable of the loaded module; empty: the driver does not know the name.
using AddressOf = std::function<std::optional<std::uint64_t>(const std::string& variable)>;

// The place of a kernel's parameter in the memory of all of them.
struct ParameterPlace {
  std::uint32_t offset = 0, bytes = 0;
};

struct RewrittenKernel {
  std::string ptx;     // a module with the kernel, under its own name and with its own parameters first
  std::string reason;  // why there is none
  std::vector<ParameterPlace> parameters{};  // the kernel's own, for workers
  std::uint32_t chunk = 1;                   // blocks that a worker takes at a time
};

class LoadedCode {
 public:
  LoadedCode() = default;
  virtual ~LoadedCode() = default;
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;

  // The kernel with gates that test the word at the address `word`. `architecture` is that of the PTX which the running
  // kernel was compiled from (90 for compute_90): other PTX may be another program.
  [[nodiscard]] virtual RewrittenKernel gate(const std::string& kernel, std::uint32_t architecture, std::uint64_t word,
                                             const AddressOf& address_of) = 0;
  // The kernel as persistent workers, with the two parameters of rewrite/ptx/persistent.h behind its own.
  [[nodiscard]] virtual RewrittenKernel make_workers(const std::string& kernel, std::uint32_t architecture,
                                                     const AddressOf& address_of) = 0;
};

// Reads the image of a module as the driver takes it: PTX, a fat binary, or nvcc's structure around one. The caller
// owns the answer, which does not refer to the image.
using ReadCode = LoadedCode* (*)(const void* image);
inline constexpr const char* kReadCodeName = "wm_read_code";
inline constexpr const char* kLibraryName = "libwarpmux-gates.so";

}  // namespace wm::gates
