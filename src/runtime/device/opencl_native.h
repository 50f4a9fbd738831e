// The device's own OpenCL driver, loaded at run time: wm also runs on machines without OpenCL.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace wm::runtime {

// Every function clX that is used, as the member X of NativeCalls.
#define WM_NATIVE_CALLS(X)    \
  X(GetPlatformIDs)           \
  X(GetPlatformInfo)          \
  X(GetDeviceIDs)             \
  X(GetDeviceInfo)            \
  X(CreateContext)            \
  X(ReleaseContext)           \
  X(CreateCommandQueue)       \
  X(ReleaseCommandQueue)      \
  X(CreateBuffer)             \
  X(CreateSubBuffer)          \
  X(CreateImage)              \
  X(ReleaseMemObject)         \
  X(GetMemObjectInfo)         \
  X(EnqueueMapBuffer)         \
  X(EnqueueUnmapMemObject)    \
  X(CreateUserEvent)          \
  X(SetUserEventStatus)       \
  X(GetSupportedImageFormats) \
  X(GetImageInfo)             \
  X(CreateSampler)            \
  X(ReleaseSampler)           \
  X(CreateProgramWithSource)  \
  X(CreateProgramWithBinary)  \
  X(ReleaseProgram)           \
  X(BuildProgram)             \
  X(CompileProgram)           \
  X(LinkProgram)              \
  X(GetProgramInfo)           \
  X(GetProgramBuildInfo)      \
  X(CreateKernel)             \
  X(ReleaseKernel)            \
  X(SetKernelArg)             \
  X(GetKernelInfo)            \
  X(GetKernelArgInfo)         \
  X(GetKernelWorkGroupInfo)   \
  X(WaitForEvents)            \
  X(GetEventInfo)             \
  X(ReleaseEvent)             \
  X(GetEventProfilingInfo)    \
  X(SetEventCallback)         \
  X(Flush)                    \
  X(Finish)                   \
  X(EnqueueReadBuffer)        \
  X(EnqueueWriteBuffer)       \
  X(EnqueueReadBufferRect)    \
  X(EnqueueWriteBufferRect)   \
  X(EnqueueCopyBuffer)        \
  X(EnqueueCopyBufferRect)    \
  X(EnqueueFillBuffer)        \
  X(EnqueueReadImage)         \
  X(EnqueueWriteImage)        \
  X(EnqueueCopyImage)         \
  X(EnqueueCopyImageToBuffer) \
  X(EnqueueCopyBufferToImage) X(EnqueueFillImage) X(EnqueueNDRangeKernel) X(EnqueueMarkerWithWaitList)

struct NativeCalls {
// NOLINTNEXTLINE(bugprone-macro-parentheses): the name of a member
#define WM_NATIVE_CALL(name) decltype(&::cl##name) name = nullptr;
  WM_NATIVE_CALLS(WM_NATIVE_CALL)
#undef WM_NATIVE_CALL
};

// A program for tests of the driver's compiler.
inline constexpr const char* kProbe = "kernel void probe(global int* x) { x[0] = 1; }";

[[nodiscard]] bool contains_ignoring_case(const std::string& text, const std::string& part);

// Selects the first device whose platform's or own name contains the text.
struct DeviceChoice {
  std::string text;
};

// One OpenCL device with one context.
class Native {
 public:
  static Result<std::unique_ptr<Native>> open(const DeviceChoice& choice);
  virtual ~Native();
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;

  NativeCalls cl;
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;

  [[nodiscard]] cl_int device_info(cl_device_info name, std::vector<std::byte>& answer) const;
  template <typename T>
  [[nodiscard]] T fact(cl_device_info name) const {
    T value{};
    if (cl.GetDeviceInfo(device, name, sizeof value, &value, nullptr) != CL_SUCCESS) return T{};
    return value;
  }
  [[nodiscard]] std::string text(cl_device_info name) const;
  [[nodiscard]] std::string platform_name() const;
  [[nodiscard]] std::string platform_text(cl_platform_info name) const;

 protected:
  Native() = default;  // for test drivers, which fill `cl` themselves
  // Sets `platform` and `device`.
  Result<void> choose(const std::string& text);

 private:
  Result<void> load();
  void* library_ = nullptr;
};

// An owned OpenCL object.
template <typename T>
using Native_ = std::shared_ptr<std::remove_pointer_t<T>>;

// The complete answer of a function clGetXInfo.
template <typename Ask>
cl_int info_bytes(Ask ask, std::vector<std::byte>& answer) {
  std::size_t size = 0;
  cl_int status = ask(std::size_t{0}, static_cast<void*>(nullptr), &size);
  if (status != CL_SUCCESS) return status;
  answer.assign(size, std::byte{});
  if (size != 0) status = ask(size, static_cast<void*>(answer.data()), static_cast<std::size_t*>(nullptr));
  return status;
}

}  // namespace wm::runtime
