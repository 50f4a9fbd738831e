// Runs comparisons in wm-sandbox. Each form of the kernel is executed by a process of its own, so a form that crashes
// or does not end affects neither the other nor the sandbox.
#pragma once

#include <functional>

#include "runtime/sandbox/request.h"

namespace wm::runtime::sandbox {

// `prepare` is called in the processes that execute the kernel, before they open the driver.
ComparisonResult run_comparison(const Request& request, const std::function<void()>& prepare);

}  // namespace wm::runtime::sandbox
