// As pair.cu, with OpenCL: an application that measures itself and knows nothing of warpmux.
//
//   opencl_pair latency|compute SECONDS
//
// Build: g++ -O2 -std=c++17 opencl_pair.cc -o opencl_pair -lOpenCL
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cstring>

#include "measure.h"

namespace {

constexpr const char* kSource =
    "kernel void chain(global float* out, int n, float a, float b) {"
    "  float x = get_local_id(0) * 0.001f;"
    "  for (int i = 0; i < n; ++i) x = fma(x, a, b);"
    "  out[get_global_id(0)] = x;"
    "}";

void must(cl_int result, const char* what) {
  if (result == CL_SUCCESS) return;
  std::fprintf(stderr, "opencl_pair: %s: error %d\n", what, result);
  std::_Exit(42);
}

struct Gpu {
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_kernel kernel = nullptr;

  Gpu() {
    cl_platform_id platforms[8];
    cl_uint count = 0;
    cl_device_id device = nullptr;
    must(clGetPlatformIDs(8, platforms, &count), "platforms");
    for (cl_uint i = 0; i < count && i < 8 && device == nullptr; ++i) {
      clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_GPU, 1, &device, nullptr);
    }
    if (device == nullptr && count > 0) clGetDeviceIDs(platforms[0], CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    cl_int result = CL_SUCCESS;
    context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &result);
    must(result, "context");
    queue = clCreateCommandQueue(context, device, 0, &result);
    must(result, "queue");
    const char* source = kSource;
    const cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &result);
    must(result, "program");
    must(clBuildProgram(program, 1, &device, "", nullptr, nullptr), "build");
    kernel = clCreateKernel(program, "chain", &result);
    must(result, "kernel");
  }
  void arguments(std::size_t items, int length) const {
    cl_int result = CL_SUCCESS;
    const cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, items * sizeof(float), nullptr, &result);
    must(result, "buffer");
    const float a = 0.999F, b = 0.5F;
    must(clSetKernelArg(kernel, 0, sizeof out, &out), "argument");
    must(clSetKernelArg(kernel, 1, sizeof length, &length), "argument");
    must(clSetKernelArg(kernel, 2, sizeof a, &a), "argument");
    must(clSetKernelArg(kernel, 3, sizeof b, &b), "argument");
  }
  void launch(std::size_t items, std::size_t group, cl_event* event = nullptr) const {
    must(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group, 0, nullptr, event), "launch");
    must(clFlush(queue), "flush");
  }
};

}  // namespace

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  const double seconds = argc > 2 ? std::atof(argv[2]) : 2;
  const Gpu gpu;
  if (std::strcmp(kind, "latency") == 0) {
    constexpr std::size_t kItems = 132 * 128;
    gpu.arguments(kItems, 13'000);
    measure::latency(seconds, [&] {
      gpu.launch(kItems, 128);
      must(clFinish(gpu.queue), "finish");
    });
  } else {
    const char* few = std::getenv("PAIR_GROUPS");
    const std::size_t items = (few == nullptr ? 132 * 8 * 125 : std::atoi(few)) * std::size_t{256};
    gpu.arguments(items, 5'500);
    cl_event last = nullptr, next = nullptr;
    measure::batch(
        seconds, "compute", [&] { gpu.launch(items, 256, &next); },
        [&] {
          if (last != nullptr) clReleaseEvent(last);
          last = next;
        },
        [&] { must(clWaitForEvents(1, &last), "wait"); });
    must(clFinish(gpu.queue), "finish");
  }
  std::printf("\"wrong\": 0}\n");
}
