// Kernels in wm-sandbox are replaced by empty functions, so that a launch compiles a kernel and does not execute it.
#pragma once

namespace wm::runtime::sandbox {

// Kernels that this process looks up from now on are executed. For processes that run comparisons.
void execute_kernels();

}  // namespace wm::runtime::sandbox
