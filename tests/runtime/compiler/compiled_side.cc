#include "runtime/compiler/compiled_side.h"

#include <cstdlib>

#include "rewrite/ptx_compiler.h"
#include "tree.h"

namespace wm::runtime::test {

std::string no_compiled_device() {
  if (rewrite::find_builtin_library().empty()) return "libclc-19 is not installed";
  static const bool prepared = [] {
    ::setenv("WARPMUX_LIBCUDA", binary_path("lib/simulated/libcuda.so.1").c_str(), 1);
    ::setenv("WARPMUX_COMPILER", "clang", 1);
    ::setenv("WM_COMPILE", WM_COMPILER, 1);
    return the_daemon() != nullptr;
  }();
  return prepared ? "" : "no OpenCL device to compare with";
}

std::string build_log(const Side& side, cl_program program) {
  std::size_t size = 0;
  clGetProgramBuildInfo(program, side.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, side.device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  return log.substr(0, log.find('\0'));
}

}  // namespace wm::runtime::test
