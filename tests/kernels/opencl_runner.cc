#include "kernels/opencl_runner.h"

#include <filesystem>
#include <fmt/format.h>
#include <map>
#include <utility>

#ifndef WM_HAVE_OPENCL

namespace wm::zoo {

struct OpenClProgram::Parts {};

bool have_opencl_device() { return false; }
Result<OpenClProgram> OpenClProgram::build(std::string_view, const std::string&, const std::string&) {
  return Error{"built without OpenCL"};
}
Result<Buffers> OpenClProgram::run(const gpu::Application&, const Placement&) { return Error{"built without OpenCL"}; }

}  // namespace wm::zoo

#else

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
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

// PoCL writes the control flow of kernels that it cannot compile to KERNEL.dot in the current folder.
void leave_source_tree() { std::filesystem::current_path(std::filesystem::temp_directory_path()); }

cl_device_id first_device(const std::string& platform = "") {
  leave_source_tree();
  cl_uint platforms = 0;
  if (clGetPlatformIDs(0, nullptr, &platforms) != CL_SUCCESS || platforms == 0) return nullptr;
  std::vector<cl_platform_id> ids(platforms);
  clGetPlatformIDs(platforms, ids.data(), nullptr);
  for (cl_platform_id id : ids) {
    char name[256] = {};
    clGetPlatformInfo(id, CL_PLATFORM_NAME, sizeof name - 1, name, nullptr);
    if (std::string_view(name).find(platform) == std::string_view::npos) continue;
    cl_device_id device = nullptr;
    if (clGetDeviceIDs(id, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS) return device;
  }
  return nullptr;
}

Error failed(std::string_view what, cl_int status) { return {fmt::format("OpenCL: {}: {}", what, status)}; }

}  // namespace

struct OpenClProgram::Parts {
  cl_device_id device = nullptr;
  Context context;
  Queue queue;
  Program program;
  std::map<std::string, KernelHandle> kernels;

  Result<void> build(std::string_view source, const std::string& options) {
    cl_int status = CL_SUCCESS;
    context = Context(clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status));
    if (status != CL_SUCCESS) return failed("clCreateContext", status);
    queue = Queue(clCreateCommandQueue(context.get(), device, 0, &status));
    if (status != CL_SUCCESS) return failed("clCreateCommandQueue", status);
    const char* text = source.data();
    const std::size_t length = source.size();
    program = Program(clCreateProgramWithSource(context.get(), 1, &text, &length, &status));
    if (status != CL_SUCCESS) return failed("clCreateProgramWithSource", status);
    status = clBuildProgram(program.get(), 1, &device, options.c_str(), nullptr, nullptr);
    if (status != CL_SUCCESS) return Error{"OpenCL: the source does not build:\n" + build_log()};
    return {};
  }

  std::string build_log() {
    std::size_t size = 0;
    clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, '\0');
    clGetProgramBuildInfo(program.get(), device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    return log;
  }

  Result<cl_kernel> kernel(const std::string& name) {
    auto found = kernels.find(name);
    if (found == kernels.end()) {
      cl_int status = CL_SUCCESS;
      KernelHandle made(clCreateKernel(program.get(), name.c_str(), &status));
      if (status != CL_SUCCESS) return failed("clCreateKernel of " + name, status);
      found = kernels.emplace(name, std::move(made)).first;
    }
    return found->second.get();
  }
};

namespace {

class Runner {
 public:
  Runner(OpenClProgram::Parts& parts, const gpu::Application& app, const Placement& placement)
      : parts_(parts), app_(app), placement_(placement) {}

  Result<Buffers> run() {
    if (Result<void> r = make_buffers(); !r) return r.error();
    for (const gpu::Step& step : app_.steps)
      if (Result<void> r = std::visit([this](const auto& s) { return this->perform(s); }, step); !r) return r.error();
    Buffers contents;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      contents.emplace_back(app_.buffers[i].bytes);
      if (contents[i].empty()) continue;
      if (clEnqueueReadBuffer(queue(), memory_[i].get(), CL_TRUE, 0, contents[i].size(), contents[i].data(), 0, nullptr,
                              nullptr) != CL_SUCCESS)
        return Error{"OpenCL: reading a buffer failed"};
    }
    return contents;
  }

 private:
  [[nodiscard]] cl_command_queue queue() const { return parts_.queue.get(); }

  Result<void> make_buffers() {
    cl_int status = CL_SUCCESS;
    for (const gpu::Buffer& b : app_.buffers) {
      const std::size_t bytes = b.bytes == 0 ? 4 : b.bytes;
      memory_.emplace_back(clCreateBuffer(parts_.context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &status));
      if (status != CL_SUCCESS) return failed("clCreateBuffer", status);
      // Memory that the host has not written holds garbage, so that reading it is detected.
      const std::vector<std::byte> poison(bytes, std::byte{0xcd});
      clEnqueueWriteBuffer(queue(), memory_.back().get(), CL_TRUE, 0, bytes, poison.data(), 0, nullptr, nullptr);
    }
    return {};
  }

  Result<void> perform(const gpu::Transfer& t) {
    if (t.direction == gpu::Transfer::Direction::to_host || t.bytes == 0) return {};  // all buffers are read at the end
    const gpu::Buffer& b = app_.buffers[t.buffer.index];
    const cl_int status = clEnqueueWriteBuffer(queue(), memory_[t.buffer.index].get(), CL_TRUE, t.offset, t.bytes,
                                               b.initial.data() + t.offset, 0, nullptr, nullptr);
    return status == CL_SUCCESS ? Result<void>{} : failed("clEnqueueWriteBuffer", status);
  }

  Result<void> perform(const gpu::Fill& f) {
    if (f.bytes == 0) return {};
    const cl_int status = clEnqueueFillBuffer(queue(), memory_[f.buffer.index].get(), &f.value, 1, f.offset, f.bytes, 0,
                                              nullptr, nullptr);
    return status == CL_SUCCESS ? Result<void>{} : failed("clEnqueueFillBuffer", status);
  }

  Result<void> perform(const gpu::Launch& launch) {
    const auto found = parts_.kernel(launch.kernel);
    if (!found) return found.error();
    const cl_kernel kernel = *found;
    cl_int status = CL_SUCCESS;
    for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
      status = std::visit([&](const auto& a) { return set(kernel, i, a); }, launch.arguments[i]);
      if (status != CL_SUCCESS) return failed(fmt::format("argument {} of {}", i, launch.kernel), status);
    }
    const gpu::Dim3 g = launch.grid, b = launch.block;
    const std::size_t global[3] = {std::size_t{g.x} * b.x, std::size_t{g.y} * b.y, std::size_t{g.z} * b.z};
    const std::size_t local[3] = {b.x, b.y, b.z};
    status = clEnqueueNDRangeKernel(queue(), kernel, placement_.dimensions, placement_.offset.data(), global, local, 0,
                                    nullptr, nullptr);
    if (status == CL_SUCCESS) status = clFinish(queue());
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

  OpenClProgram::Parts& parts_;
  const gpu::Application& app_;
  const Placement& placement_;
  std::vector<Memory> memory_;
};

}  // namespace

bool have_opencl_device() { return first_device() != nullptr; }

Result<OpenClProgram> OpenClProgram::build(std::string_view source, const std::string& options,
                                           const std::string& platform) {
  auto parts = std::make_unique<Parts>();
  parts->device = first_device(platform);
  if (parts->device == nullptr) return Error{"OpenCL: no device"};
  if (Result<void> built = parts->build(source, options); !built) return built.error();
  return OpenClProgram(std::move(parts));
}

Result<Buffers> OpenClProgram::run(const gpu::Application& app, const Placement& placement) {
  return Runner(*parts_, app, placement).run();
}

}  // namespace wm::zoo

#endif

namespace wm::zoo {

OpenClProgram::OpenClProgram(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
OpenClProgram::OpenClProgram(OpenClProgram&&) noexcept = default;
OpenClProgram& OpenClProgram::operator=(OpenClProgram&&) noexcept = default;
OpenClProgram::~OpenClProgram() = default;

Result<Buffers> run_on_opencl(std::string_view source, const gpu::Application& app) {
  auto program = OpenClProgram::build(source);
  if (!program) return program.error();
  return program->run(app);
}

}  // namespace wm::zoo
