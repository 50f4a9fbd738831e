// How the zoo's programs are built as OpenCL: what `wm cl run` asks for, and so what a cache of rewritten programs must
// hold to serve it.
#pragma once

namespace wm::cli {

inline constexpr const char* kZooBuildOptions = "-cl-std=CL1.2";

}  // namespace wm::cli
