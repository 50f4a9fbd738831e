// The zoo's OpenCL C through NVIDIA's OpenCL driver, whose program binary is PTX.
//
// libOpenCL is opened on first use, so that wm also runs where it is not installed.
#include "cli/input/ptx_origin.h"

#if __has_include(<CL/cl.h>)
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <dlfcn.h>
#include <memory>
#include <vector>

namespace wm::cli {
namespace {

struct Close {
  void operator()(void* library) const { (void)dlclose(library); }
};

// The few calls it takes, by their names in the library.
class OpenCl {
 public:
  OpenCl() : library_(dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL)) {}
  [[nodiscard]] bool there() const { return library_ != nullptr; }

  template <typename F>
  [[nodiscard]] F* call(const char* name) const {
    return reinterpret_cast<F*>(dlsym(library_.get(), name));
  }

 private:
  std::unique_ptr<void, Close> library_;
};
#define WM_CL(cl, name) (cl).call<decltype(name)>(#name)

std::string platform_name(const OpenCl& cl, cl_platform_id platform) {
  std::size_t size = 0;
  WM_CL(cl, clGetPlatformInfo)(platform, CL_PLATFORM_NAME, 0, nullptr, &size);
  std::string name(size, '\0');
  WM_CL(cl, clGetPlatformInfo)(platform, CL_PLATFORM_NAME, size, name.data(), nullptr);
  return name.substr(0, name.find('\0'));
}

Result<cl_device_id> nvidia_device(const OpenCl& cl) {
  cl_uint count = 0;
  WM_CL(cl, clGetPlatformIDs)(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(count);
  if (count != 0) WM_CL(cl, clGetPlatformIDs)(count, platforms.data(), nullptr);
  std::string seen;
  for (cl_platform_id platform : platforms) {
    const std::string name = platform_name(cl, platform);
    cl_device_id device = nullptr;
    if (name.find("NVIDIA") == std::string::npos) {
      seen += (seen.empty() ? "" : ", ") + name;
    } else if (WM_CL(cl, clGetDeviceIDs)(platform, CL_DEVICE_TYPE_GPU, 1, &device, nullptr) == CL_SUCCESS) {
      return device;
    }
  }
  return Error{"--ptx-from opencl: no GPU of NVIDIA's OpenCL here (platforms: " + (seen.empty() ? "none" : seen) + ")"};
}

class Compiler final : public OpenClCompiler {
 public:
  Compiler(OpenCl cl, cl_device_id device, cl_context context)
      : cl_(std::move(cl)), device_(device), context_(context) {}
  ~Compiler() override { WM_CL(cl_, clReleaseContext)(context_); }
  Compiler(const Compiler&) = delete;
  Compiler& operator=(const Compiler&) = delete;

  [[nodiscard]] Result<std::string> compile(const std::string& name, std::string_view source) const override {
    const char* text = source.data();
    const std::size_t length = source.size();
    cl_program program = WM_CL(cl_, clCreateProgramWithSource)(context_, 1, &text, &length, nullptr);
    const bool built = WM_CL(cl_, clBuildProgram)(program, 1, &device_, "", nullptr, nullptr) == CL_SUCCESS;
    Result<std::string> ptx = built ? binary_of(program) : Result<std::string>(Error{build_log(program)});
    WM_CL(cl_, clReleaseProgram)(program);
    if (!ptx) return Error{"--ptx-from opencl: '" + name + "': " + ptx.error().what};
    return ptx;
  }

 private:
  [[nodiscard]] std::string build_log(cl_program program) const {
    std::size_t size = 0;
    WM_CL(cl_, clGetProgramBuildInfo)(program, device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    WM_CL(cl_, clGetProgramBuildInfo)(program, device_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    return log.substr(0, log.find_first_of(std::string("\n\0", 2)));
  }

  [[nodiscard]] Result<std::string> binary_of(cl_program program) const {
    std::size_t size = 0;
    WM_CL(cl_, clGetProgramInfo)(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
    std::string binary(size, '\0');
    auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
    if (WM_CL(cl_, clGetProgramInfo)(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) {
      return Error{"the driver gives no binary"};
    }
    return binary.substr(0, binary.find('\0'));  // PTX text, closed with a zero
  }

  OpenCl cl_;
  cl_device_id device_;
  cl_context context_;
};

}  // namespace

Result<std::shared_ptr<const OpenClCompiler>> OpenClCompiler::open() {
  OpenCl cl;
  if (!cl.there()) return Error{"--ptx-from opencl: no libOpenCL here"};
  const auto device = nvidia_device(cl);
  if (!device) return device.error();
  cl_context context = WM_CL(cl, clCreateContext)(nullptr, 1, &*device, nullptr, nullptr, nullptr);
  if (context == nullptr) return Error{"--ptx-from opencl: the driver gives no context"};
  return std::shared_ptr<const OpenClCompiler>(std::make_shared<Compiler>(std::move(cl), *device, context));
}

}  // namespace wm::cli

#else

namespace wm::cli {

Result<std::shared_ptr<const OpenClCompiler>> OpenClCompiler::open() {
  return Error{"--ptx-from opencl: this wm was built without OpenCL's headers"};
}

}  // namespace wm::cli

#endif
