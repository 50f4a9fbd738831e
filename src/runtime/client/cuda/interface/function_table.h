// The functions that the simulated driver exports, by name: what cuGetProcAddress and the coverage page read.
#pragma once

#include <span>
#include <string_view>

namespace wm::cuda {

enum class DefaultStream { any, legacy, per_thread };

struct ExportedFunction {
  std::string_view name;  // "cuMemcpyAsync_ptsz"
  int since = 0;          // CUDA version, 12020 for 12.2
  DefaultStream default_stream = DefaultStream::any;
  bool implemented = false;
  void* address = nullptr;

  // The name without version and stream suffix, as cuGetProcAddress takes it: "cuMemcpyAsync".
  [[nodiscard]] std::string_view base_name() const;
};

std::span<const ExportedFunction> exported_functions();

// The newest function of that base name for a program built for `version`; nullptr: none. `too_new` says that there is
// one, but only for later versions.
const ExportedFunction* find_function(std::string_view base_name, int version, DefaultStream default_stream,
                                      bool& too_new);

// Prints once that a function is missing.
void report_missing(std::string_view name);

}  // namespace wm::cuda
