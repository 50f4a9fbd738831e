#include "runtime/benchmark/call_costs.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace wm::runtime {
namespace {

using HostClock = std::chrono::steady_clock;

double since(HostClock::time_point start) { return std::chrono::duration<double>(HostClock::now() - start).count(); }

template <typename T, typename Release>
std::shared_ptr<std::remove_pointer_t<T>> owned(T object, Release release) {
  return {object, [release](T last) {
            if (last != nullptr) release(last);
          }};
}

// A program with the constructs that the rewriter transforms: a helper function, local memory, work-item ids.
// `constant` makes it a new program.
std::string source_of(const std::string& constant) {
  return "float helper(float x, uint i) { return x * 2.0f + (float)(i % 7) + (float)get_group_id(0); }\n"
         "kernel void work(global float* x, uint n) {\n"
         "  local float tile[64];\n"
         "  uint i = get_global_id(0), l = get_local_id(0);\n"
         "  if (n == 0) return;\n"
         "  tile[l] = i < n ? x[i] : 0.0f;\n"
         "  barrier(CLK_LOCAL_MEM_FENCE);\n"
         "  if (i < n) x[i] = helper(tile[63 - l], i) + " +
         constant + ";\n}\n";
}

class Measurement {
 public:
  Measurement(const Native& native, const CostOptions& options) : n_(native), options_(options) {}

  Result<CallCosts> all() {
    queue_ = owned(n_.cl.CreateCommandQueue(n_.context, n_.device, 0, nullptr), n_.cl.ReleaseCommandQueue);
    memory_ = owned(n_.cl.CreateBuffer(n_.context, CL_MEM_READ_WRITE, options_.bytes, nullptr, nullptr),
                    n_.cl.ReleaseMemObject);
    if (!queue_ || !memory_) return Error{"OpenCL: no queue, or no buffer"};
    builds();
    if (!kernel_) return Error{"OpenCL: the program does not build"};
    launches();
    transfers();
    if (status_ != CL_SUCCESS) return Error{fmt::format("OpenCL: error {}", status_)};
    return costs_;
  }

 private:
  void note(cl_int status) {
    if (status != CL_SUCCESS) status_ = status;
  }
  // The best of the batches, in seconds.
  template <typename Batch>
  double best(Batch batch) {
    double best = 1e9;
    for (int i = 0; i < options_.batches; ++i) best = std::min(best, batch());
    return best;
  }

  double build(const std::string& text) {
    const char* source = text.c_str();
    program_ = owned(n_.cl.CreateProgramWithSource(n_.context, 1, &source, nullptr, nullptr), n_.cl.ReleaseProgram);
    if (!program_) return 0;
    const auto start = HostClock::now();
    note(n_.cl.BuildProgram(program_.get(), 1, &n_.device, "", nullptr, nullptr));
    return since(start);
  }

  void builds() {
    const auto now = HostClock::now().time_since_epoch().count();
    int programs = 0;
    build(source_of(fmt::format("{}.0f", now % 1'000'000)));  // excludes the start of the compiler
    const auto new_source = [&] {
      return source_of(fmt::format("{}.{}f", (now + ++programs) % 1'000'000, ::getpid()));
    };
    std::vector<double> launches;
    costs_.build_new = best([&] {
                         const double seconds = build(new_source());
                         launches.push_back(first_launch());
                         return seconds;
                       }) *
                       1e3;
    costs_.first_launch = *std::min_element(launches.begin(), launches.end()) * 1e3;
    const std::string known = new_source();
    build(known);
    first_launch();
    costs_.build_known = best([&] {
                           const double seconds = build(known);
                           first_launch();
                           return seconds;
                         }) *
                         1e3;
  }

  double first_launch() {
    const auto start = HostClock::now();
    kernel_ = owned(n_.cl.CreateKernel(program_.get(), "work", nullptr), n_.cl.ReleaseKernel);
    const cl_mem memory = memory_.get();
    const cl_uint none = 0;
    if (!kernel_) return 0;
    note(n_.cl.SetKernelArg(kernel_.get(), 0, sizeof memory, &memory));
    note(n_.cl.SetKernelArg(kernel_.get(), 1, sizeof none, &none));
    launch();
    finish();
    return since(start);
  }

  void launch() {
    const std::size_t global = 256, local = 64;
    note(n_.cl.EnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &global, &local, 0, nullptr, nullptr));
  }
  void finish() { note(n_.cl.Finish(queue_.get())); }

  void launches() {
    launch();
    finish();
    const int count = options_.launches;
    costs_.launch_call = best([&] {
                           const auto start = HostClock::now();
                           for (int i = 0; i < count; ++i) launch();
                           const double spent = since(start);
                           finish();
                           return spent;
                         }) *
                         1e6 / count;
    costs_.launch_stream = best([&] {
                             const auto start = HostClock::now();
                             for (int i = 0; i < count; ++i) launch();
                             finish();
                             return since(start);
                           }) *
                           1e6 / count;
    costs_.launch_wait = best([&] {
                           const auto start = HostClock::now();
                           for (int i = 0; i < count; ++i) {
                             launch();
                             finish();
                           }
                           return since(start);
                         }) *
                         1e6 / count;
  }

  double transfer(bool write, std::byte* host, std::size_t bytes, int times) {
    const auto start = HostClock::now();
    for (int i = 0; i < times; ++i) {
      note(write ? n_.cl.EnqueueWriteBuffer(queue_.get(), memory_.get(), CL_TRUE, 0, bytes, host, 0, nullptr, nullptr)
                 : n_.cl.EnqueueReadBuffer(queue_.get(), memory_.get(), CL_TRUE, 0, bytes, host, 0, nullptr, nullptr));
    }
    return since(start) / times;
  }

  void transfers() {
    std::vector<std::byte> host(options_.bytes, std::byte{1});
    const auto all = static_cast<double>(options_.bytes);
    costs_.write_bandwidth = all * 1e-9 / best([&] { return transfer(true, host.data(), host.size(), 1); });
    costs_.read_bandwidth = all * 1e-9 / best([&] { return transfer(false, host.data(), host.size(), 1); });
    costs_.small_write = best([&] { return transfer(true, host.data(), 4096, 100); }) * 1e6;
    costs_.small_read = best([&] { return transfer(false, host.data(), 4096, 100); }) * 1e6;
  }

  const Native& n_;
  const CostOptions options_;
  cl_int status_ = CL_SUCCESS;
  CallCosts costs_;
  std::shared_ptr<_cl_command_queue> queue_;
  std::shared_ptr<_cl_mem> memory_;
  std::shared_ptr<_cl_program> program_;
  std::shared_ptr<_cl_kernel> kernel_;
};

}  // namespace

Result<CallCosts> measure_calls(const Native& native, const CostOptions& options) {
  return Measurement(native, options).all();
}

}  // namespace wm::runtime
