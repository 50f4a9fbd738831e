// A client for tests: buffers, a program, kernels and transfers, again and again until something fails. Exits with 42
// then. With WM_HOARD it takes buffers of a megabyte until it gets no more, and exits with their number.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cstdlib>
#include <vector>

namespace {

void must(cl_int status) {
  if (status != CL_SUCCESS) std::_Exit(42);
}

}  // namespace

int main() {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int status = CL_SUCCESS;
  must(clGetPlatformIDs(1, &platform, nullptr));
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr));
  cl_context context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &status);
  must(status);
  if (std::getenv("WM_HOARD") != nullptr) {
    int count = 0;
    while (clCreateBuffer(context, CL_MEM_READ_WRITE, 1 << 20, nullptr, &status) != nullptr) ++count;
    std::_Exit(status == CL_MEM_OBJECT_ALLOCATION_FAILURE ? count : 42);
  }
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
  must(status);
  const char* source = "kernel void work(global int* x) { x[get_global_id(0)] += 1; }";
  cl_program program = clCreateProgramWithSource(context, 1, &source, nullptr, &status);
  must(status);
  must(clBuildProgram(program, 1, &device, "", nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(program, "work", &status);
  must(status);
  std::vector<int> values(1 << 16, 1);
  const std::size_t bytes = values.size() * sizeof(int), items = values.size();
  for (;;) {
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
    must(status);
    must(clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, bytes, values.data(), 0, nullptr, nullptr));
    must(clSetKernelArg(kernel, 0, sizeof memory, &memory));
    cl_event event = nullptr;
    for (int i = 0; i < 10; ++i) {
      must(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, i == 9 ? &event : nullptr));
    }
    must(clWaitForEvents(1, &event));
    must(clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr));
    must(clReleaseEvent(event));
    must(clReleaseMemObject(memory));
  }
}
