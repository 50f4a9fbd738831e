#include "kernels/opencl_runner.h"

#include <fmt/format.h>

#ifndef WM_HAVE_OPENCL

namespace wm::zoo {

bool have_opencl_device() { return false; }
Result<std::vector<std::vector<std::byte>>> run_on_opencl(std::string_view, const gpu::Application&) {
  return Error{"built without OpenCL"};
}

}  // namespace wm::zoo

#else

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

namespace wm::zoo {

namespace {

template <typename T, cl_int (*release)(T)>
class Handle {
 public:
  explicit Handle(T value = nullptr) : value_(value) {}
  Handle(Handle&& other) noexcept : value_(std::exchange(other.value_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() {
    if (value_ != nullptr) release(value_);
  }
  [[nodiscard]] T get() const { return value_; }

 private:
  T value_;
};

using Context = Handle<cl_context, clReleaseContext>;
using Queue = Handle<cl_command_queue, clReleaseCommandQueue>;
using Program = Handle<cl_program, clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, clReleaseKernel>;
using Memory = Handle<cl_mem, clReleaseMemObject>;

cl_device_id first_device() {
  cl_uint platforms = 0;
  if (clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS || platforms == 0) return nullptr;
  std::vector<cl_platform_id> ids(platforms);
  clGetPlatformIDs(platforms, ids.data(), nullptr);
  for (cl_platform_id id : ids) {
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(id, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) return device;
  }
  return nullptr;
}

class Runner {
 public:
  Runner(cl_device_id device, const gpu::Application& app) : device_(device), app_(app) {}

  Result<std::vector<std::vector<std::byte>>> run(std::string_view source) {
    if (Result<void> r = prepare(source); !r) return r.error();
    for (const gpu::Step& step : app_.steps)
      if (Result<void> r = std::visit([this](const auto& s) { return this->perform(s); }, step); !r) return r.error();
    std::vector<std::vector<std::byte>> contents;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      contents.emplace_back(app_.buffers[i].bytes);
      if (contents[i].empty()) continue;
      if (clEnqueueReadBuffer(queue_.get(), memory_[i].get(), CL_TRUE, 0, contents[i].size(), contents[i].data(), 0,
                              nullptr, nullptr) != CL_SUCCESS)
        return Error{"OpenCL: reading a buffer failed"};
    }
    return contents;
  }

 private:
  Result<void> prepare(std::string_view source) {
    cl_int status = CL_SUCCESS;
    context_ = Context(clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &status));
    if (status != CL_SUCCESS) return failed("clCreateContext", status);
    queue_ = Queue(clCreateCommandQueue(context_.get(), device_, 0, &status));
    if (status != CL_SUCCESS) return failed("clCreateCommandQueue", status);
    const char* text = source.data();
    const std::size_t length = source.size();
    program_ = Program(clCreateProgramWithSource(context_.get(), 1, &text, &length, &status));
    if (status != CL_SUCCESS) return failed("clCreateProgramWithSource", status);
    status = clBuildProgram(program_.get(), 1, &device_, "-cl-std=CL1.2", nullptr, nullptr);
    if (status != CL_SUCCESS) return Error{"OpenCL: the source does not build:\n" + build_log()};
    for (const gpu::Buffer& b : app_.buffers) {
      const std::size_t bytes = b.bytes == 0 ? 4 : b.bytes;
      memory_.emplace_back(clCreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status));
      if (status != CL_SUCCESS) return failed("clCreateBuffer", status);
      // Garbage where the host has written nothing, so that reading it shows.
      const std::vector<std::byte> poison(bytes, std::byte{0xcd});
      clEnqueueWriteBuffer(queue_.get(), memory_.back().get(), CL_TRUE, 0, bytes, poison.data(), 0, nullptr, nullptr);
    }
    return {};
  }

  Result<void> perform(const gpu::Transfer& t) {
    if (t.direction == gpu::Transfer::Direction::to_host || t.bytes == 0) return {};  // all buffers are read at the end
    const gpu::Buffer& b = app_.buffers[t.buffer.index];
    const cl_int status = clEnqueueWriteBuffer(queue_.get(), memory_[t.buffer.index].get(), CL_TRUE, t.offset, t.bytes,
                                               b.initial.data() + t.offset, 0, nullptr, nullptr);
    return status == CL_SUCCESS ? Result<void>{} : failed("clEnqueueWriteBuffer", status);
  }

  Result<void> perform(const gpu::Fill& f) {
    if (f.bytes == 0) return {};
    const cl_int status = clEnqueueFillBuffer(queue_.get(), memory_[f.buffer.index].get(), &f.value, 1, f.offset,
                                              f.bytes, 0, nullptr, nullptr);
    return status == CL_SUCCESS ? Result<void>{} : failed("clEnqueueFillBuffer", status);
  }

  Result<void> perform(const gpu::Launch& launch) {
    auto found = kernels_.find(launch.kernel);
    cl_int status = CL_SUCCESS;
    if (found == kernels_.end()) {
      KernelHandle kernel(clCreateKernel(program_.get(), launch.kernel.c_str(), &status));
      if (status != CL_SUCCESS) return failed("clCreateKernel of " + launch.kernel, status);
      found = kernels_.emplace(launch.kernel, std::move(kernel)).first;
    }
    const cl_kernel kernel = found->second.get();
    for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
      status = std::visit([&](const auto& a) { return set(kernel, i, a); }, launch.arguments[i]);
      if (status != CL_SUCCESS) return failed(fmt::format("argument {} of {}", i, launch.kernel), status);
    }
    const gpu::Dim3 g = launch.grid, b = launch.block;
    const std::size_t global[3] = {std::size_t{g.x} * b.x, std::size_t{g.y} * b.y, std::size_t{g.z} * b.z};
    const std::size_t local[3] = {b.x, b.y, b.z};
    status = clEnqueueNDRangeKernel(queue_.get(), kernel, 3, nullptr, global, local, 0, nullptr, nullptr);
    if (status == CL_SUCCESS) status = clFinish(queue_.get());
    return status == CL_SUCCESS ? Result<void>{} : failed("launch of " + launch.kernel, status);
  }

  cl_int set(cl_kernel kernel, cl_uint index, const gpu::Scalar& s) {
    return clSetKernelArg(kernel, index, s.bytes.size(), s.bytes.data());
  }
  cl_int set(cl_kernel kernel, cl_uint index, const gpu::BufferArgument& b) {
    if (b.offset != 0) return CL_INVALID_ARG_VALUE;  // OpenCL 1.2 passes whole buffers
    const cl_mem memory = memory_[b.buffer.index].get();
    return clSetKernelArg(kernel, index, sizeof memory, &memory);
  }
  cl_int set(cl_kernel kernel, cl_uint index, const gpu::LocalMemory& l) {
    return clSetKernelArg(kernel, index, l.bytes, nullptr);
  }

  std::string build_log() {
    std::size_t size = 0;
    clGetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program_.get(), device_, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    return log;
  }

  static Error failed(std::string_view what, cl_int status) { return {fmt::format("OpenCL: {}: {}", what, status)}; }

  cl_device_id device_;
  const gpu::Application& app_;
  Context context_;
  Queue queue_;
  Program program_;
  std::vector<Memory> memory_;
  std::map<std::string, KernelHandle> kernels_;
};

}  // namespace

bool have_opencl_device() { return first_device() != nullptr; }

Result<std::vector<std::vector<std::byte>>> run_on_opencl(std::string_view source, const gpu::Application& app) {
  return Runner(first_device(), app).run(source);
}

}  // namespace wm::zoo

#endif
