// The functions of forwarded.def.
#include "runtime/client/cudart/runtime.h"

namespace wm::cudart {
namespace {

// Calls a function of the driver in the primary context with the arguments that follow.
template <typename Function>
auto forward(Function* function) {
  return [function](auto... arguments) { return call(function, arguments...); };
}

}  // namespace
}  // namespace wm::cudart

#define WM_RUNTIME_FORWARD(name, driver, parameters, arguments) \
  WM_RUNTIME_API cudaError_t name parameters { return wm::cudart::forward(driver) arguments; }
#include "runtime/client/cudart/forwarded.def"
#undef WM_RUNTIME_FORWARD
