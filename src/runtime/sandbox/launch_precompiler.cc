#include "runtime/sandbox/launch_precompiler.h"

#include <vector>

namespace wm::runtime::sandbox {
namespace {

constexpr std::size_t kMaxValueBytes = 65'536;

// The argument objects of a launch. The empty kernels do not use them.
class ArgumentObjects {
 public:
  explicit ArgumentObjects(const Native& native) : native_(native) {}
  ~ArgumentObjects() {
    if (image_ != nullptr) native_.cl.ReleaseMemObject(image_);
    if (sampler_ != nullptr) native_.cl.ReleaseSampler(sampler_);
  }
  ArgumentObjects(const ArgumentObjects&) = delete;
  ArgumentObjects& operator=(const ArgumentObjects&) = delete;

  cl_int set(cl_kernel kernel, cl_uint index, SandboxLaunch::Argument kind, std::uint32_t size) {
    const NativeCalls& cl = native_.cl;
    constexpr cl_mem kNone = nullptr;
    switch (kind) {
      case SandboxLaunch::Argument::bytes:
        if (size > kMaxValueBytes) return CL_INVALID_ARG_SIZE;
        return cl.SetKernelArg(kernel, index, size, std::vector<std::byte>(size).data());
      case SandboxLaunch::Argument::buffer:
        return cl.SetKernelArg(kernel, index, sizeof kNone, &kNone);
      case SandboxLaunch::Argument::local:
        return cl.SetKernelArg(kernel, index, size, nullptr);
      case SandboxLaunch::Argument::image:
        if (image_ == nullptr) image_ = make_image();
        return cl.SetKernelArg(kernel, index, sizeof image_, &image_);
      case SandboxLaunch::Argument::sampler:
        if (sampler_ == nullptr) {
          sampler_ = cl.CreateSampler(native_.context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, nullptr);
        }
        return cl.SetKernelArg(kernel, index, sizeof sampler_, &sampler_);
    }
    return CL_INVALID_ARG_VALUE;
  }

 private:
  [[nodiscard]] cl_mem make_image() const {
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = desc.image_height = 1;
    return native_.cl.CreateImage(native_.context, CL_MEM_READ_WRITE, &format, &desc, nullptr, nullptr);
  }
  const Native& native_;
  cl_mem image_ = nullptr;
  cl_sampler sampler_ = nullptr;
};

Native_<cl_command_queue> create_queue(const Native& native) {
  const cl_command_queue made = native.cl.CreateCommandQueue(native.context, native.device, 0, nullptr);
  return made == nullptr ? nullptr : Native_<cl_command_queue>(made, native.cl.ReleaseCommandQueue);
}

}  // namespace

bool LaunchPrecompiler::kernels_are_empty() const {
  const NativeCalls& cl = native_.cl;
  const auto queue = create_queue(native_);
  const char* source = kProbe;
  const cl_program program = cl.CreateProgramWithSource(native_.context, 1, &source, nullptr, nullptr);
  const cl_mem memory = cl.CreateBuffer(native_.context, CL_MEM_READ_WRITE, sizeof(cl_int), nullptr, nullptr);
  cl_int value = 0;
  bool done = false;
  if (queue && program != nullptr && memory != nullptr &&
      cl.BuildProgram(program, 1, &native_.device, "", nullptr, nullptr) == CL_SUCCESS) {
    const cl_kernel kernel = cl.CreateKernel(program, "probe", nullptr);
    const std::size_t one = 1;
    cl.SetKernelArg(kernel, 0, sizeof memory, &memory);
    cl.EnqueueWriteBuffer(queue.get(), memory, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
    done =
        cl.EnqueueNDRangeKernel(queue.get(), kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr) == CL_SUCCESS &&
        cl.EnqueueReadBuffer(queue.get(), memory, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr) == CL_SUCCESS;
    if (kernel != nullptr) cl.ReleaseKernel(kernel);
  }
  if (memory != nullptr) cl.ReleaseMemObject(memory);
  if (program != nullptr) cl.ReleaseProgram(program);
  return done && value == 0;
}

cl_int LaunchPrecompiler::precompile(cl_program program, const SandboxLaunch& launch) {
  if (!kernels_are_empty_) kernels_are_empty_ = kernels_are_empty();
  if (!*kernels_are_empty_) return kNoDevice;
  const auto queue = create_queue(native_);
  cl_int status = CL_OUT_OF_RESOURCES;
  const cl_kernel kernel = queue ? native_.cl.CreateKernel(program, launch.kernel.c_str(), &status) : nullptr;
  if (kernel == nullptr) return status;
  status = launch_kernel(launch, kernel, queue.get());
  native_.cl.ReleaseKernel(kernel);
  return status;
}

cl_int LaunchPrecompiler::launch_kernel(const SandboxLaunch& launch, cl_kernel kernel, cl_command_queue queue) {
  if (launch.dimensions < 1 || launch.dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  ArgumentObjects objects(native_);
  for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
    const auto& [kind, size] = launch.arguments[i];
    if (const cl_int status = objects.set(kernel, i, kind, size); status != CL_SUCCESS) return status;
  }
  const std::size_t offset[3] = {launch.offset ? std::size_t{1} : 0, 0, 0};
  std::size_t global[3], local[3];
  for (std::size_t i = 0; i < 3; ++i) {
    global[i] = launch.global[i];
    local[i] = launch.local[i];
  }
  const cl_int status =
      native_.cl.EnqueueNDRangeKernel(queue, kernel, launch.dimensions, launch.offset ? offset : nullptr, global,
                                      local[0] != 0 ? local : nullptr, 0, nullptr, nullptr);
  const cl_int finished = native_.cl.Finish(queue);
  return status == CL_SUCCESS ? finished : status;
}

}  // namespace wm::runtime::sandbox
