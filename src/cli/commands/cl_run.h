// The options with which `wm cl run` builds the zoo's programs as OpenCL. A cache of rewritten programs must
// contain these programs with the same options.
#pragma once

namespace wm::cli {

inline constexpr const char* kZooBuildOptions = "-cl-std=CL1.2";

}  // namespace wm::cli
