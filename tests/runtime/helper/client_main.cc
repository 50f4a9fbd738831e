// A client for tests. The first argument selects what it does; it exits with 42 when a call fails.
//   work [ROUNDS [OPTIONS]]  uses buffers, a program with these options (-DSALT=n: a distinct one), kernels and
//   transfers repeatedly hoard          creates buffers of 1 MB until that fails; exits with their number stream
//   launches kernels in a row without events, and does not wait for the last ones many           launches a kernel with
//   so many groups that it would run for days repeat         launches a kernel of some milliseconds again and again,
//   many ahead memory         exits with the megabytes of memory that the device shows fault          launches a kernel
//   that writes far outside its buffer null           launches kernels with a NULL buffer: one tests the pointer and
//   must succeed, another dereferences it and must fail, and a new queue must work deep           launches a kernel
//   that overflows its stack endless        launches a kernel of one group that never ends edges makes calls that the
//   standard does not allow and this device accepts stuck          waits for a command that waits for a user event
//   which is never set
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <cstdlib>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

constexpr const char* kSource = R"(
#ifndef SALT
#define SALT 0
#endif
kernel void work(global int* x) { x[get_global_id(0)] += 1 + SALT - SALT; }
kernel void many(global uint* x) {
  uint v = get_global_id(0);
  for (uint i = 0; i < 1000000u; ++i) v = v * 1664525u + 1013904223u;
  x[0] = v;
}
kernel void repeat(global uint* x) {
  uint v = get_global_id(0);
  for (uint i = 0; i < 5000u; ++i) v = v * 1664525u + 1013904223u;
  x[get_global_id(0) % 8192u] = v;
}
kernel void fault(global int* x) { x[(ulong)1 << 40] = 1; }
kernel void tests_pointer(global int* p, global int* x) { x[0] = p ? p[0] : 7; }
kernel void dereferences(global int* p, global int* x) { x[0] = p[0]; }
kernel void deep(global int* x) {
  volatile int a[4000000];
  for (int i = 3999999; i >= 0; i -= 100) a[i] = i;
  x[1] = a[x[0]];
}
kernel void endless(global volatile int* x) {
  while (x[0] != 1) {}
})";

void must(cl_int status) {
  if (status != CL_SUCCESS) std::_Exit(42);
}

struct Client {
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
};

Client connect() {
  Client c;
  cl_platform_id platform = nullptr;
  cl_int status = CL_SUCCESS;
  must(clGetPlatformIDs(1, &platform, nullptr));
  must(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &c.device, nullptr));
  c.context = clCreateContext(nullptr, 1, &c.device, nullptr, nullptr, &status);
  must(status);
  c.queue = clCreateCommandQueue(c.context, c.device, 0, &status);
  must(status);
  return c;
}

cl_kernel kernel_of(const Client& c, const char* name, const char* options = "") {
  cl_int status = CL_SUCCESS;
  cl_program program = clCreateProgramWithSource(c.context, 1, const_cast<const char**>(&kSource), nullptr, &status);
  must(status);
  must(clBuildProgram(program, 1, &c.device, options, nullptr, nullptr));
  cl_kernel kernel = clCreateKernel(program, name, &status);
  must(status);
  return kernel;
}

cl_mem buffer(const Client& c, std::size_t bytes) {
  cl_int status = CL_SUCCESS;
  cl_mem memory = clCreateBuffer(c.context, CL_MEM_READ_WRITE, bytes, nullptr, &status);
  must(status);
  return memory;
}

void work(const Client& c, int rounds, const char* options = "") {
  cl_kernel kernel = kernel_of(c, "work", options);
  std::vector<int> values(1 << 16, 1);
  const std::size_t bytes = values.size() * sizeof(int), items = values.size();
  for (int round = 0; rounds == 0 || round < rounds; ++round) {
    cl_mem memory = buffer(c, bytes);
    const int before = values.back();
    must(clEnqueueWriteBuffer(c.queue, memory, CL_FALSE, 0, bytes, values.data(), 0, nullptr, nullptr));
    must(clSetKernelArg(kernel, 0, sizeof memory, &memory));
    cl_event event = nullptr;
    for (int i = 0; i < 10; ++i) {
      must(clEnqueueNDRangeKernel(c.queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, i == 9 ? &event : nullptr));
    }
    must(clWaitForEvents(1, &event));
    must(clEnqueueReadBuffer(c.queue, memory, CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr));
    must(clReleaseEvent(event));
    must(clReleaseMemObject(memory));
    if (values.back() != before + 10) std::_Exit(43);
  }
}

void stream(const Client& c) {
  cl_kernel kernel = kernel_of(c, "work");
  constexpr std::size_t kItems = 64, kGroup = 16;
  std::vector<int> values(kItems, 0);
  const std::size_t bytes = kItems * sizeof(int);
  cl_mem memory = buffer(c, bytes);
  must(clSetKernelArg(kernel, 0, sizeof memory, &memory));
  must(clEnqueueWriteBuffer(c.queue, memory, CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr));
  const auto launches = [&](int count) {
    for (int i = 0; i < count; ++i) {
      must(clEnqueueNDRangeKernel(c.queue, kernel, 1, nullptr, &kItems, &kGroup, 0, nullptr, nullptr));
    }
  };
  int sum = 0;
  for (const int count : {1, 2, 40, 17, 700, 3, 200}) {
    launches(count);
    sum += count;
    if (count % 3 == 0) must(clFinish(c.queue));
    must(clEnqueueReadBuffer(c.queue, memory, CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr));
    if (values.front() != sum || values.back() != sum) std::_Exit(43);
  }
  launches(5);
  must(clFlush(c.queue));
  for (;;) ::pause();
}

int memory_megabytes(const Client& c) {
  cl_ulong size = 0, largest = 0;
  must(clGetDeviceInfo(c.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof size, &size, nullptr));
  must(clGetDeviceInfo(c.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, nullptr));
  return largest <= size ? static_cast<int>(size >> 20) : 43;
}

int hoard(const Client& c) {
  int count = 0;
  cl_int status = CL_SUCCESS;
  while (clCreateBuffer(c.context, CL_MEM_READ_WRITE, 1 << 20, nullptr, &status) != nullptr) ++count;
  return status == CL_MEM_OBJECT_ALLOCATION_FAILURE ? count : 42;
}

void run_on(const Client& c, const char* name, std::size_t items, std::size_t group) {
  cl_kernel kernel = kernel_of(c, name);
  cl_mem memory = buffer(c, 4096);
  const int zero = 0;
  must(clEnqueueWriteBuffer(c.queue, memory, CL_TRUE, 0, sizeof zero, &zero, 0, nullptr, nullptr));
  must(clSetKernelArg(kernel, 0, sizeof memory, &memory));
  must(clEnqueueNDRangeKernel(c.queue, kernel, 1, nullptr, &items, &group, 0, nullptr, nullptr));
  must(clFinish(c.queue));
}

void check(bool holds) {
  if (!holds) std::_Exit(43);
}

// The state of the command when it has ended.
cl_int run_with_null(const Client& c, const char* name, cl_mem result) {
  constexpr std::size_t kOne = 1;
  cl_kernel kernel = kernel_of(c, name);
  must(clSetKernelArg(kernel, 0, sizeof result, nullptr));
  must(clSetKernelArg(kernel, 1, sizeof result, &result));
  cl_event event = nullptr;
  must(clEnqueueNDRangeKernel(c.queue, kernel, 1, nullptr, &kOne, &kOne, 0, nullptr, &event));
  cl_int state = CL_QUEUED;
  const cl_int waited = clWaitForEvents(1, &event);
  must(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr));
  check((waited == CL_SUCCESS) == (state == CL_COMPLETE));
  return state;
}

void use_null(Client c) {
  int value = 0;
  cl_mem result = buffer(c, sizeof value);
  check(run_with_null(c, "tests_pointer", result) == CL_COMPLETE);
  must(clEnqueueReadBuffer(c.queue, result, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr));
  check(value == 7);
  check(run_with_null(c, "dereferences", result) == CL_OUT_OF_RESOURCES);
  check(clEnqueueReadBuffer(c.queue, result, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr) != CL_SUCCESS);
  check(clFinish(c.queue) == CL_OUT_OF_RESOURCES);
  cl_int status = CL_SUCCESS;
  c.queue = clCreateCommandQueue(c.context, c.device, 0, &status);
  must(status);
  check(run_with_null(c, "tests_pointer", result) == CL_COMPLETE);
  must(clFinish(c.queue));
}

// Launches of some milliseconds that fill the device.
void repeat(const Client& c) {
  cl_device_type type = 0;
  must(clGetDeviceInfo(c.device, CL_DEVICE_TYPE, sizeof type, &type, nullptr));
  const bool is_gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
  const std::size_t items = is_gpu ? std::size_t{4} << 20 : 8192, group = is_gpu ? 256 : 16;
  cl_kernel kernel = kernel_of(c, "repeat");
  cl_mem memory = buffer(c, 8192 * sizeof(cl_uint));
  must(clSetKernelArg(kernel, 0, sizeof memory, &memory));
  // So many ahead that the daemon always has a launch of this client, even where the client itself gets no processor.
  constexpr unsigned kAhead = 64;
  cl_event last[kAhead] = {};
  for (unsigned i = 0;; ++i) {
    cl_event& event = last[i % kAhead];
    if (event != nullptr) {
      must(clWaitForEvents(1, &event));
      must(clReleaseEvent(event));
    }
    must(clEnqueueNDRangeKernel(c.queue, kernel, 1, nullptr, &items, &group, 0, nullptr, &event));
    must(clFlush(c.queue));
  }
}

cl_mem sub_buffer(cl_mem of, cl_mem_flags flags, std::size_t origin, std::size_t size) {
  const cl_buffer_region region{origin, size};
  cl_int status = CL_SUCCESS;
  cl_mem sub = clCreateSubBuffer(of, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &status);
  must(status);
  return sub;
}

void try_edges(const Client& c) {
  cl_int status = CL_SUCCESS;
  cl_mem memory = buffer(c, 4096), other = buffer(c, 4096);
  int values[64] = {}, back[64] = {};
  for (int i = 0; i < 64; ++i) values[i] = i;
  // These calls are accepted and done.
  cl_mem both = clCreateBuffer(c.context, CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, sizeof values, values, &status);
  must(status);
  must(clEnqueueReadBuffer(c.queue, both, CL_TRUE, 0, sizeof back, back, 0, nullptr, nullptr));
  if (back[63] != 63) std::_Exit(43);
  sub_buffer(memory, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 0, 64);
  sub_buffer(memory, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 0, 64);
  // A sub-buffer has no memory after the end of its parent.
  cl_mem beyond = sub_buffer(memory, 0, 2048, 1 << 20);
  must(clEnqueueReadBuffer(c.queue, beyond, CL_TRUE, 0, sizeof back, back, 0, nullptr, nullptr));
  if (clEnqueueReadBuffer(c.queue, beyond, CL_TRUE, 2048, 4, back, 0, nullptr, nullptr) != CL_INVALID_VALUE) {
    std::_Exit(43);
  }
  // These calls are accepted and do nothing.
  const std::size_t zero[3] = {}, rows[3] = {8, 0, 1}, slices[3] = {8, 4, 0};
  for (const std::size_t* none : {rows, slices}) {
    cl_event event = nullptr;
    must(clEnqueueReadBufferRect(c.queue, memory, CL_TRUE, zero, zero, none, 16, 64, 16, 64, back, 0, nullptr, &event));
    cl_command_type type = 0;
    must(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr));
    if (type != CL_COMMAND_READ_BUFFER_RECT) std::_Exit(43);
    must(clWaitForEvents(1, &event));
    must(
        clEnqueueWriteBufferRect(c.queue, memory, CL_TRUE, zero, zero, none, 16, 64, 16, 64, back, 0, nullptr, &event));
    must(clEnqueueCopyBufferRect(c.queue, memory, other, zero, zero, none, 16, 64, 16, 64, 0, nullptr, &event));
    must(clWaitForEvents(1, &event));
  }
  cl_kernel kernel = kernel_of(c, "work");
  must(clSetKernelArg(kernel, 0, sizeof memory, &memory));
  const std::size_t nothing = 0;
  must(clEnqueueNDRangeKernel(c.queue, kernel, 1, nullptr, &nothing, nullptr, 0, nullptr, nullptr));
  must(clEnqueueNDRangeKernel(c.queue, kernel, 1, nullptr, nullptr, nullptr, 0, nullptr, nullptr));
  cl_event user = clCreateUserEvent(c.context, &status), marker = nullptr;
  must(status);
  must(clEnqueueMarkerWithWaitList(c.queue, 1, &user, &marker));
  must(clSetUserEventStatus(marker, CL_COMPLETE));
  must(clSetUserEventStatus(user, CL_RUNNING));
  must(clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr));
  if (status == CL_COMPLETE) std::_Exit(43);
  must(clSetUserEventStatus(user, CL_COMPLETE));
  must(clSetUserEventStatus(user, -5));
  must(clWaitForEvents(1, &user));
  must(clWaitForEvents(1, &marker));
  // These calls are accepted, and the device fails the commands.
  const int pattern = 7;
  must(clEnqueueFillBuffer(c.queue, other, &pattern, sizeof pattern, 6, 32, 0, nullptr, nullptr));
  const std::size_t near[3] = {1, 0, 0}, box[3] = {8, 4, 2};
  must(clEnqueueCopyBufferRect(c.queue, other, other, zero, near, box, 16, 128, 16, 128, 0, nullptr, nullptr));
  must(clFinish(c.queue));
}

void get_stuck(const Client& c) {
  cl_int status = CL_SUCCESS;
  cl_event gate = clCreateUserEvent(c.context, &status), marker = nullptr;
  must(status);
  must(clEnqueueMarkerWithWaitList(c.queue, 1, &gate, &marker));
  must(clFlush(c.queue));
  must(clWaitForEvents(1, &marker));
}

}  // namespace

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "work";
  const Client c = connect();
  if (mode == "work") work(c, count > 2 ? std::atoi(words[2]) : 0, count > 3 ? words[3] : "");
  if (mode == "stream") stream(c);
  if (mode == "repeat") repeat(c);
  if (mode == "hoard") std::_Exit(hoard(c));
  if (mode == "memory") std::_Exit(memory_megabytes(c));
  if (mode == "many") run_on(c, "many", std::size_t{1} << 26, 16);
  if (mode == "fault") {
    run_on(c, "fault", 1, 1);
    const Client again = connect();  // drivers may tell of it late
    buffer(again, 4096);
    work(again, 3);
  }
  if (mode == "null") use_null(c);
  if (mode == "deep") run_on(c, "deep", 1, 1);
  if (mode == "endless") run_on(c, "endless", 1, 1);
  if (mode == "edges") try_edges(c);
  if (mode == "stuck") get_stuck(c);
  return 0;
}
