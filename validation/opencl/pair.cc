// An OpenCL application that measures itself, for two of them beside each other:
//
//   pair latency SECONDS           a kernel of about 27 µs (H200) every half millisecond; how long each takes
//   pair profile SECONDS           the same kernel; the parts of its time as the driver's events tell them
//   pair compute SECONDS           launches of about 5.5 ms that keep the arithmetic units busy; how many a second
//   pair memory SECONDS            launches of about 5 ms that copy memory; how many a second
//   pair fault                     a kernel that writes outside its buffer; says what the driver answers
//
// One line of JSON goes to standard output. Results are checked: a wrong one is counted in "wrong".
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kSource = R"(
kernel void chain(global float* out, int n, float a, float b) {
  float x = get_local_id(0) * 0.001f;
  for (int i = 0; i < n; ++i) x = fma(x, a, b);
  out[get_global_id(0)] = x;
}
kernel void copy(global float4* out, global const float4* in, int n, int passes) {
  for (int p = 0; p < passes; ++p)
    for (int i = get_global_id(0); i < n; i += get_global_size(0)) out[i] = in[i] + (float4)(p);
}
kernel void fault(global int* x) { x[(ulong)1 << 40] = 1; }
)";

void must(cl_int status, const char* what) {
  if (status == CL_SUCCESS) return;
  std::fprintf(stderr, "pair: %s: OpenCL error %d\n", what, status);
  std::_Exit(42);
}

struct Device {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;

  explicit Device(bool profiled) {
    cl_platform_id platform = nullptr;
    cl_device_id device = nullptr;
    cl_int status = CL_SUCCESS;
    must(clGetPlatformIDs(1, &platform, nullptr), "platform");
    must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr), "device");
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
    must(status, "context");
    queue = clCreateCommandQueue(context, device, profiled ? CL_QUEUE_PROFILING_ENABLE : 0, &status);
    must(status, "queue");
    const char* source = kSource;
    program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
    must(status, "program");
    must(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "build");
  }
  [[nodiscard]] cl_mem buffer(std::size_t bytes) const {
    cl_int status = CL_SUCCESS;
    const cl_mem made = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    must(status, "buffer");
    return made;
  }
  [[nodiscard]] cl_kernel kernel(const char* name) const {
    cl_int status = CL_SUCCESS;
    const cl_kernel made = clCreateKernel(program, name, &status);
    must(status, "kernel");
    return made;
  }
};

template <typename T>
void set(cl_kernel kernel, cl_uint index, const T& value) {
  must(clSetKernelArg(kernel, index, sizeof value, &value), "argument");
}

struct Launch {
  cl_kernel kernel = nullptr;
  std::size_t global = 1, local = 1;
  void enqueue(const Device& d) const {
    must(clEnqueueNDRangeKernel(d.queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr), "launch");
  }
};

constexpr float kA = 0.999F, kB = 0.5F;

Launch chain(const Device& d, cl_mem out, std::size_t groups, std::size_t local, int n) {
  const cl_kernel k = d.kernel("chain");
  set(k, 0, out);
  set(k, 1, n);
  set(k, 2, kA);
  set(k, 3, kB);
  return {k, groups * local, local};
}

// The chain's result for the first items, as the host computes it.
bool is_right(const Device& d, cl_mem out, std::size_t local, int n) {
  std::vector<float> got(local);
  must(clEnqueueReadBuffer(d.queue, out, CL_TRUE, 0, local * sizeof(float), got.data(), 0, nullptr, nullptr), "read");
  for (std::size_t i = 0; i < local; ++i) {
    float x = static_cast<float>(i) * 0.001F;
    for (int k = 0; k < n; ++k) x = std::fma(x, kA, kB);
    if (got[i] != x) return false;
  }
  return true;
}

double microseconds(Clock::duration d) { return std::chrono::duration<double, std::micro>(d).count(); }

void latency(const Device& d, double seconds) {
  constexpr std::size_t kGroups = 132, kLocal = 128;
  constexpr int kLength = 13'000;
  const cl_mem out = d.buffer(kGroups * kLocal * sizeof(float));
  const Launch launch = chain(d, out, kGroups, kLocal, kLength);
  for (int i = 0; i < 100; ++i) {
    launch.enqueue(d);
    clFinish(d.queue);
  }
  std::vector<double> times;
  const auto begin = Clock::now();
  auto next = begin;
  while (Clock::now() - begin < std::chrono::duration<double>(seconds)) {
    next = std::max(next + std::chrono::microseconds(500), Clock::now());
    std::this_thread::sleep_until(next);
    const auto started = Clock::now();
    launch.enqueue(d);
    must(clFinish(d.queue), "finish");
    times.push_back(microseconds(Clock::now() - started));
  }
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[static_cast<std::size_t>(part * static_cast<double>(times.size() - 1))];
  };
  std::printf(
      "{\"kind\": \"latency\", \"requests\": %zu, \"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, "
      "\"max_us\": %.1f, \"wrong\": %d}\n",
      times.size(), at(0.5), at(0.9), at(0.99), times.back(), is_right(d, out, kLocal, kLength) ? 0 : 1);
}

// Medians of the time from the call to the device, on the device, and until the call returns.
void profile(const Device& d, double seconds) {
  constexpr std::size_t kGroups = 132, kLocal = 128;
  const cl_mem out = d.buffer(kGroups * kLocal * sizeof(float));
  const Launch launch = chain(d, out, kGroups, kLocal, 13'000);
  std::vector<double> total, queued, submitted, ran;
  const auto begin = Clock::now();
  while (Clock::now() - begin < std::chrono::duration<double>(seconds)) {
    std::this_thread::sleep_for(std::chrono::microseconds(500));
    const auto started = Clock::now();
    cl_event event = nullptr;
    must(clEnqueueNDRangeKernel(d.queue, launch.kernel, 1, nullptr, &launch.global, &launch.local, 0, nullptr, &event),
         "launch");
    must(clWaitForEvents(1, &event), "wait");
    total.push_back(microseconds(Clock::now() - started));
    cl_ulong times[4] = {};
    for (cl_uint i = 0; i < 4; ++i) {
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i, sizeof times[i], &times[i], nullptr);
    }
    clReleaseEvent(event);
    queued.push_back(static_cast<double>(times[1] - times[0]) * 1e-3);
    submitted.push_back(static_cast<double>(times[2] - times[1]) * 1e-3);
    ran.push_back(static_cast<double>(times[3] - times[2]) * 1e-3);
  }
  const auto median = [](std::vector<double>& v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
  };
  std::printf(
      "{\"kind\": \"profile\", \"total_us\": %.1f, \"queued_us\": %.1f, \"submitted_us\": %.1f, "
      "\"ran_us\": %.1f}\n",
      median(total), median(queued), median(submitted), median(ran));
}

void batch(const Device& d, double seconds, const char* kind, const Launch& launch) {
  launch.enqueue(d);
  must(clFinish(d.queue), "finish");
  std::size_t launches = 0;
  const auto begin = Clock::now();
  // One launch ahead, as an application that keeps the device busy does.
  launch.enqueue(d);
  while (Clock::now() - begin < std::chrono::duration<double>(seconds)) {
    cl_event marker = nullptr;
    must(clEnqueueMarkerWithWaitList(d.queue, 0, nullptr, &marker), "marker");
    launch.enqueue(d);
    clFlush(d.queue);
    must(clWaitForEvents(1, &marker), "wait");
    clReleaseEvent(marker);
    ++launches;
  }
  const double passed = std::chrono::duration<double>(Clock::now() - begin).count();
  must(clFinish(d.queue), "finish");
  std::printf("{\"kind\": \"%s\", \"launches\": %zu, \"launches_per_second\": %.2f, \"milliseconds\": %.3f, ", kind,
              launches, static_cast<double>(launches) / passed, passed * 1e3 / static_cast<double>(launches));
}

void compute(const Device& d, double seconds) {
  constexpr std::size_t kGroups = 132UL * 8 * 125, kLocal = 256;
  constexpr int kLength = 5'500;
  const cl_mem out = d.buffer(kGroups * kLocal * sizeof(float));
  batch(d, seconds, "compute", chain(d, out, kGroups, kLocal, kLength));
  std::printf("\"wrong\": %d}\n", is_right(d, out, kLocal, kLength) ? 0 : 1);
}

void memory(const Device& d, double seconds) {
  constexpr int kCount = 1 << 26, kPasses = 10;
  constexpr std::size_t kBytes = std::size_t{kCount} * 16;
  const cl_mem in = d.buffer(kBytes), out = d.buffer(kBytes);
  const float value = 1.5F;
  must(clEnqueueFillBuffer(d.queue, in, &value, sizeof value, 0, kBytes, 0, nullptr, nullptr), "fill");
  const cl_kernel k = d.kernel("copy");
  set(k, 0, out);
  set(k, 1, in);
  set(k, 2, kCount);
  set(k, 3, kPasses);
  batch(d, seconds, "memory", {k, 132UL * 64 * 256, 256});
  std::vector<float> got(1024);
  must(clEnqueueReadBuffer(d.queue, out, CL_TRUE, kBytes - 4096, 4096, got.data(), 0, nullptr, nullptr), "read");
  const bool right = std::all_of(got.begin(), got.end(), [](float x) { return x == 1.5F + (kPasses - 1); });
  std::printf("\"wrong\": %d}\n", right ? 0 : 1);
}

void fault(const Device& d) {
  const cl_mem x = d.buffer(64);
  const cl_kernel k = d.kernel("fault");
  set(k, 0, x);
  const std::size_t one = 1;
  cl_event event = nullptr;
  const cl_int launched = clEnqueueNDRangeKernel(d.queue, k, 1, nullptr, &one, &one, 0, nullptr, &event);
  const cl_int finished = clFinish(d.queue);
  cl_int state = 0;
  if (event != nullptr) {
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  }
  std::printf("{\"kind\": \"fault\", \"launch\": %d, \"finish\": %d, \"event\": %d}\n", launched, finished, state);
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  const double seconds = count > 2 ? std::atof(words[2]) : 3;
  if (what != "latency" && what != "compute" && what != "memory" && what != "fault" && what != "profile") {
    std::fputs("pair latency|profile|compute|memory|fault [SECONDS]\n", stderr);
    return 2;
  }
  const Device device(what == "profile");
  if (what == "latency") latency(device, seconds);
  if (what == "profile") profile(device, seconds);
  if (what == "compute") compute(device, seconds);
  if (what == "memory") memory(device, seconds);
  if (what == "fault") fault(device);
  std::fflush(stdout);
  std::_Exit(0);
}
