#include "runtime/compiler/compiled_side.h"

#include <array>
#include <cstdlib>
#include <numeric>

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

int CompiledContext::result_of(cl_program program) {
  cl_int status = 1;
  cl_kernel kernel = clCreateKernel(program, "f", &status);
  EXPECT_EQ(status, CL_SUCCESS);
  std::array<unsigned char, 64> bytes{};
  std::iota(bytes.begin(), bytes.end(), static_cast<unsigned char>(0));
  cl_mem memory = clCreateBuffer(side.context, CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), nullptr);
  clSetKernelArg(kernel, 0, sizeof memory, &memory);
  const std::size_t one = 1;
  EXPECT_EQ(clEnqueueNDRangeKernel(side.queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr), CL_SUCCESS);
  int value = -1;
  EXPECT_EQ(clEnqueueReadBuffer(side.queue, memory, CL_TRUE, 0, 4, &value, 0, nullptr, nullptr), CL_SUCCESS);
  clReleaseMemObject(memory);
  clReleaseKernel(kernel);
  return value;
}

std::string build_log(const Side& side, cl_program program) {
  std::size_t size = 0;
  clGetProgramBuildInfo(program, side.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, side.device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  return log.substr(0, log.find('\0'));
}

}  // namespace wm::runtime::test
