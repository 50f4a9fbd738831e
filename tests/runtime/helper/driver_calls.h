// Calls of the CUDA driver API by name, for test programs that load the driver themselves.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>

namespace wm::driver_calls {

inline void* library = nullptr;

template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
  auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
  return function == nullptr ? -1 : function(arguments...);
}

// Calls a function of the driver; an error ends the program. Threads may run, so nothing is destroyed.
template <typename... Arguments>
void cu(const char* name, Arguments... arguments) {
  const int result = call(name, arguments...);
  if (result == 0) return;
  std::printf("%s: %d\n", name, result);
  std::fflush(stdout);
  std::_Exit(1);
}

}  // namespace wm::driver_calls
