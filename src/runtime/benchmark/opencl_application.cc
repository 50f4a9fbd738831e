#include "runtime/benchmark/opencl_application.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <fmt/format.h>

namespace wm::runtime {
namespace {

Error failed(std::string_view what, cl_int status) { return {fmt::format("OpenCL: {}: error {}", what, status)}; }

Result<void> done(std::string_view what, cl_int status) {
  return status == CL_SUCCESS ? Result<void>{} : failed(what, status);
}

std::uint64_t now() { return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()); }

}  // namespace

Result<std::unique_ptr<OpenclApplication>> OpenclApplication::make(const Native& native,
                                                                   const gpu::Application& application,
                                                                   std::string_view source,
                                                                   const std::string& options) {
  std::unique_ptr<OpenclApplication> made(new OpenclApplication(native, application));
  const auto& steps = application.steps;
  const auto first = std::find_if(steps.begin(), steps.end(),
                                  [](const gpu::Step& s) { return std::holds_alternative<gpu::Launch>(s); });
  made->first_launch_ = static_cast<std::size_t>(first - steps.begin());
  cl_int status = CL_SUCCESS;
  made->queue_ = native.cl.CreateCommandQueue(native.context, native.device, CL_QUEUE_PROFILING_ENABLE, &status);
  if (status != CL_SUCCESS) return failed("clCreateCommandQueue", status);
  if (auto built = made->build(source, options); !built) return built.error();
  if (auto buffers = made->create_buffers(); !buffers) return buffers.error();
  return made;
}

OpenclApplication::~OpenclApplication() {
  const NativeCalls& cl = native_.cl;
  if (queue_ != nullptr) cl.Finish(queue_);
  for (cl_event event : events_) cl.ReleaseEvent(event);
  for (cl_mem memory : memory_) cl.ReleaseMemObject(memory);
  if (changed_)
    for (const Changed& c : *changed_) cl.ReleaseMemObject(c.initial);
  for (const auto& [name, kernel] : kernels_) cl.ReleaseKernel(kernel);
  if (program_ != nullptr) cl.ReleaseProgram(program_);
  if (queue_ != nullptr) cl.ReleaseCommandQueue(queue_);
}

Result<void> OpenclApplication::build(std::string_view source, const std::string& options) {
  const char* text = source.data();
  const std::size_t length = source.size();
  cl_int status = CL_SUCCESS;
  program_ = native_.cl.CreateProgramWithSource(native_.context, 1, &text, &length, &status);
  if (status != CL_SUCCESS) return failed("clCreateProgramWithSource", status);
  status = native_.cl.BuildProgram(program_, 1, &native_.device, options.c_str(), nullptr, nullptr);
  if (status == CL_SUCCESS) return {};
  std::vector<std::byte> log;
  info_bytes(
      [&](std::size_t room, void* value, std::size_t* size) {
        return native_.cl.GetProgramBuildInfo(program_, native_.device, CL_PROGRAM_BUILD_LOG, room, value, size);
      },
      log);
  const std::string_view log_text(reinterpret_cast<const char*>(log.data()), log.size());
  return failed(
      fmt::format("clBuildProgram says '{}'", log_text.substr(0, log_text.find_first_of(std::string_view("\n\0", 2)))),
      status);
}

Result<void> OpenclApplication::create_buffers() {
  for (const gpu::Buffer& b : application_.buffers) {
    cl_int status = CL_SUCCESS;
    const std::size_t bytes = std::max<std::size_t>(b.bytes, 4);
    const cl_mem memory = native_.cl.CreateBuffer(native_.context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    if (status != CL_SUCCESS) return failed("clCreateBuffer of " + b.name, status);
    memory_.push_back(memory);
  }
  return {};
}

Result<cl_kernel> OpenclApplication::kernel(const std::string& name) {
  if (const auto it = kernels_.find(name); it != kernels_.end()) return it->second;
  cl_int status = CL_SUCCESS;
  const cl_kernel made = native_.cl.CreateKernel(program_, name.c_str(), &status);
  if (status != CL_SUCCESS) return failed("clCreateKernel of " + name, status);
  return kernels_[name] = made;
}

cl_int OpenclApplication::set(cl_kernel kernel, cl_uint index, const gpu::Argument& argument) const {
  const NativeCalls& cl = native_.cl;
  if (const auto* s = std::get_if<gpu::Scalar>(&argument)) {
    return cl.SetKernelArg(kernel, index, s->bytes.size(), s->bytes.data());
  }
  if (const auto* l = std::get_if<gpu::LocalMemory>(&argument)) {
    return cl.SetKernelArg(kernel, index, l->bytes, nullptr);
  }
  const auto& b = std::get<gpu::BufferArgument>(argument);
  if (b.offset != 0) return CL_INVALID_ARG_VALUE;  // OpenCL 1.2 cannot pass a buffer with an offset
  const cl_mem memory = memory_[b.buffer.index];
  return cl.SetKernelArg(kernel, index, sizeof memory, &memory);
}

Result<void> OpenclApplication::perform(const gpu::Transfer& t) {
  if (t.direction == gpu::Transfer::Direction::to_host || t.bytes == 0) return {};  // contents() reads all buffers
  const gpu::Buffer& b = application_.buffers[t.buffer.index];
  return done("clEnqueueWriteBuffer",
              native_.cl.EnqueueWriteBuffer(queue_, memory_[t.buffer.index], CL_FALSE, t.offset, t.bytes,
                                            b.initial.data() + t.offset, 0, nullptr, nullptr));
}

Result<void> OpenclApplication::perform(const gpu::Fill& f) {
  if (f.bytes == 0) return {};
  return done("clEnqueueFillBuffer", native_.cl.EnqueueFillBuffer(queue_, memory_[f.buffer.index], &f.value, 1,
                                                                  f.offset, f.bytes, 0, nullptr, nullptr));
}

Result<void> OpenclApplication::perform(const gpu::Launch& launch) {
  const auto found = kernel(launch.kernel);
  if (!found) return found.error();
  for (cl_uint i = 0; i < launch.arguments.size(); ++i) {
    if (const cl_int status = set(*found, i, launch.arguments[i]); status != CL_SUCCESS) {
      return failed(fmt::format("argument {} of {}", i, launch.kernel), status);
    }
  }
  const gpu::Dim3 g = launch.grid, b = launch.block;
  const std::size_t global[3] = {std::size_t{g.x} * b.x, std::size_t{g.y} * b.y, std::size_t{g.z} * b.z};
  const std::size_t local[3] = {b.x, b.y, b.z};
  cl_event event = nullptr;
  ++sent_;
  const bool timed = timed_ == Timed::every_launch || sent_ == 1 || sent_ == launches_;
  const cl_int status =
      native_.cl.EnqueueNDRangeKernel(queue_, *found, 3, nullptr, global, local, 0, nullptr, timed ? &event : nullptr);
  if (status == CL_SUCCESS && timed) events_.push_back(event);
  return done("launch of " + launch.kernel, status);
}

Result<void> OpenclApplication::enqueue(std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < to; ++i) {
    const auto step = std::visit([this](const auto& s) { return perform(s); }, application_.steps[i]);
    if (!step) return step.error();
  }
  return {};
}

Result<void> OpenclApplication::steps(std::size_t from, std::size_t to) {
  if (auto sent = enqueue(from, to); !sent) return sent;
  return done("clFinish", native_.cl.Finish(queue_));
}

Result<void> OpenclApplication::prepare() {
  // Kernels are created here, so that the first run does not include the time for it.
  for (const gpu::Step& step : application_.steps) {
    const auto* launch = std::get_if<gpu::Launch>(&step);
    if (launch == nullptr) continue;
    if (const auto made = kernel(launch->kernel); !made) return made.error();
  }
  return steps(0, first_launch_);
}

Result<void> OpenclApplication::find_changed_buffers() {
  const auto before = contents();
  if (!before) return before.error();
  if (auto run = steps(first_launch_, application_.steps.size()); !run) return run;
  const auto after = contents();
  if (!after) return after.error();
  changed_.emplace();
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if ((*before)[i] == (*after)[i]) continue;
    cl_int status = CL_SUCCESS;
    auto* data = const_cast<std::byte*>((*before)[i].data());
    const cl_mem initial = native_.cl.CreateBuffer(native_.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                                   (*before)[i].size(), data, &status);
    if (status != CL_SUCCESS) return failed("clCreateBuffer of a copy", status);
    changed_->push_back({i, initial});
  }
  if (auto restored = restore(); !restored) return restored;
  return done("clFinish", native_.cl.Finish(queue_));
}

Result<void> OpenclApplication::restore() {
  for (const Changed& c : *changed_) {
    const cl_int status = native_.cl.EnqueueCopyBuffer(queue_, c.initial, memory_[c.buffer], 0, 0,
                                                       application_.buffers[c.buffer].bytes, 0, nullptr, nullptr);
    if (status != CL_SUCCESS) return failed("clEnqueueCopyBuffer", status);
  }
  return {};
}

Result<OpenclApplication::Run> OpenclApplication::run(Timed timed, std::uint32_t times) {
  Run run;
  timed_ = Timed::ends;
  sent_ = 1, launches_ = 0;  // no launch has an event
  if (times > 1 && !changed_) {
    if (auto found = find_changed_buffers(); !found) return found.error();
  }
  timed_ = timed;
  sent_ = 0;
  launches_ = times * static_cast<std::uint32_t>(std::count_if(
                          application_.steps.begin(), application_.steps.end(),
                          [](const gpu::Step& step) { return std::holds_alternative<gpu::Launch>(step); }));
  run.began = now();
  Result<void> all{};
  for (std::uint32_t i = 0; i < times && all; ++i) {
    if (i != 0) all = restore();
    if (all) all = steps(first_launch_, application_.steps.size());
  }
  run.ended = now();
  const auto collected = collect(run);
  if (!all) return all.error();
  if (!collected) return collected.error();
  return run;
}

Result<std::vector<std::uint64_t>> OpenclApplication::repeat(std::uint64_t until) {
  constexpr std::size_t kQueued = 3;
  std::vector<std::uint64_t> ends;
  std::deque<cl_event> open;
  Result<void> result{};
  while (result && (now() < until || !open.empty())) {
    if (now() < until) {
      timed_ = Timed::ends;
      sent_ = 1, launches_ = 0;  // no launch has an event: a marker follows
      result = enqueue(first_launch_, application_.steps.size());
      cl_event marker = nullptr;
      if (result) result = done("marker", native_.cl.EnqueueMarkerWithWaitList(queue_, 0, nullptr, &marker));
      if (result) open.push_back(marker);
      native_.cl.Flush(queue_);
    }
    for (cl_event event : events_) native_.cl.ReleaseEvent(event);
    events_.clear();
    if (open.empty() || (open.size() < kQueued && now() < until)) continue;
    if (result) result = done("clWaitForEvents", native_.cl.WaitForEvents(1, &open.front()));
    native_.cl.ReleaseEvent(open.front());
    open.pop_front();
    ends.push_back(now());
  }
  for (cl_event event : open) native_.cl.ReleaseEvent(event);
  if (!result) return result.error();
  return ends;
}

Result<void> OpenclApplication::collect(Run& run) {
  cl_int status = CL_SUCCESS;
  const auto time = [&](cl_event event, cl_profiling_info name) {
    cl_ulong value = 0;
    const cl_int result = native_.cl.GetEventProfilingInfo(event, name, sizeof value, &value, nullptr);
    if (result != CL_SUCCESS) status = result;
    return std::uint64_t{value};
  };
  run.device_began = ~std::uint64_t{0};
  run.launches = sent_;
  for (cl_event event : events_) {
    const std::uint64_t start = time(event, CL_PROFILING_COMMAND_START), end = time(event, CL_PROFILING_COMMAND_END);
    run.device_began = std::min(run.device_began, start);
    run.device_ended = std::max(run.device_ended, end);
    run.device_busy += end - std::min(start, end);
    native_.cl.ReleaseEvent(event);
  }
  events_.clear();
  return done("clGetEventProfilingInfo", status);
}

Result<OpenclApplication::Buffers> OpenclApplication::contents() {
  Buffers contents;
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    contents.emplace_back(application_.buffers[i].bytes);
    if (contents[i].empty()) continue;
    const cl_int status = native_.cl.EnqueueReadBuffer(queue_, memory_[i], CL_TRUE, 0, contents[i].size(),
                                                       contents[i].data(), 0, nullptr, nullptr);
    if (status != CL_SUCCESS) return failed("reading a buffer", status);
  }
  return contents;
}

}  // namespace wm::runtime
