// Kernels as workers: results are the same, and a newly arrived client does not wait for a running kernel to complete.
#include <chrono>
#include <functional>
#include <thread>
#include <unistd.h>

#include "runtime/conformance/children.h"

namespace wm::runtime::test {
namespace {

constexpr const char* kSpinSource = R"(
kernel void spin(global uint* out, uint rounds) {
  local uint sums[16];
  uint x = get_global_id(0) + 1;
  for (uint i = 0; i < rounds; ++i) x = x * 1664525u + 1013904223u;
  sums[get_local_id(0)] = x;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = sums[15 - get_local_id(0)] + get_group_id(0) + get_num_groups(0);
})";

struct Job {
  cl_kernel kernel = nullptr;
  cl_mem memory = nullptr;
};

Job job(const Side& s, cl_program program, cl_uint groups, cl_uint rounds) {
  Job j{clCreateKernel(program, "spin", nullptr),
        clCreateBuffer(s.context, CL_MEM_READ_WRITE, groups * 16 * 4, nullptr, nullptr)};
  clSetKernelArg(j.kernel, 0, sizeof j.memory, &j.memory);
  clSetKernelArg(j.kernel, 1, sizeof rounds, &rounds);
  return j;
}

cl_event launch(cl_command_queue queue, const Job& j, std::size_t groups) {
  const std::size_t global = groups * 16, local = 16;
  cl_event event = nullptr;
  EXPECT_EQ(clEnqueueNDRangeKernel(queue, j.kernel, 1, nullptr, &global, &local, 0, nullptr, &event), CL_SUCCESS);
  clFlush(queue);
  return event;
}

void end(const Job& j) {
  clReleaseKernel(j.kernel);
  clReleaseMemObject(j.memory);
}

TEST(Sharing, WorkersGiveTheSameResults) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_program program = build(s, kSpinSource);
    for (const cl_uint groups : {1U, 2U, 7U, 300U}) {
      const Job j = job(s, program, groups, 50);
      cl_event event = launch(s.queue, j, groups);
      std::vector<cl_uint> out(groups * 16);
      clEnqueueReadBuffer(s.queue, j.memory, CL_TRUE, 0, out.size() * 4, out.data(), 0, nullptr, nullptr);
      t.say("complete", status_of(event));
      t.data("out", out);
      clReleaseEvent(event);
      end(j);
    }
    clReleaseProgram(program);
  });
}

// All items but the last update a row of a tile and the last a column, in two branches with loops between barriers, as
// blocked matrix factorisations do. PoCL 3.1 compiled workers of this kernel wrongly, and the daemon crashed.
TEST(Sharing, WorkersOfGroupsThatDivideGiveTheSameResults) {
  constexpr const char* kSource = R"(
kernel void panel(global uint* data) {
  local uint row[32], column[2][32];
  const uint lid = (uint)((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0));
  const uint items = (uint)(get_local_size(0) * get_local_size(1) * get_local_size(2));
  const uint at = (uint)get_global_id(0);
  uint v0 = data[at], v1 = at * 11u + 2u, v2 = lid + 822u;
  column[0][lid] = v2;
  if (lid < items - 1u) {
    row[lid] = v2;
  } else {
    column[1][lid - (items - 1u)] = v0;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid < items - 1u) {
    for (uint i = 1; i < 6u; ++i)
      for (uint j = 0; j < i; ++j) row[lid] -= column[0][(i * 6u + j) % items] * (row[lid] | 1u);
  } else {
    for (uint i = 0; i < 6u; ++i) {
      for (uint j = 0; j < i; ++j) column[1][lid - (items - 1u)] -= column[1][lid - (items - 1u)] * column[0][(j * 6u + i) % items];
      column[1][lid - (items - 1u)] /= (column[0][i % items] & 15u) + 1u;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (v0 % 5u == 2u) {
    data[at] = v1;
    return;
  }
  data[at] = lid < items - 1u ? row[lid] : column[1][lid - (items - 1u)];
})";
  same_on_both([&](const Side& s, Transcript& t) {
    cl_program program = build(s, kSource);
    cl_kernel kernel = clCreateKernel(program, "panel", nullptr);
    std::vector<cl_uint> data(32 * 50);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<cl_uint>(i * 2654435761U >> 7);
    cl_mem memory = clCreateBuffer(s.context, CL_MEM_COPY_HOST_PTR, data.size() * 4, data.data(), nullptr);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    const std::size_t global = data.size(), local = 32;
    t.say("launch", clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &global, &local, 0, nullptr, nullptr));
    clEnqueueReadBuffer(s.queue, memory, CL_TRUE, 0, data.size() * 4, data.data(), 0, nullptr, nullptr);
    t.data("data", data);
    clReleaseMemObject(memory);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
  });
}

std::vector<cl_uint> told_by(const Side& s, cl_program program) {
  cl_kernel kernel = clCreateKernel(program, "macros", nullptr);
  std::vector<cl_uint> out(8, 0);
  const std::size_t items = 1024, group = 64, bytes = out.size() * sizeof(cl_uint);
  cl_mem memory = clCreateBuffer(s.context, CL_MEM_COPY_HOST_PTR, bytes, out.data(), nullptr);
  clSetKernelArg(kernel, 0, sizeof memory, &memory);
  EXPECT_EQ(clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &items, &group, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(clEnqueueReadBuffer(s.queue, memory, CL_TRUE, 0, bytes, out.data(), 0, nullptr, nullptr), CL_SUCCESS);
  clReleaseMemObject(memory);
  clReleaseKernel(kernel);
  return out;
}

// The rewriter preprocesses programs with another compiler than the device's.
TEST(Sharing, WorkersUseTheMacrosOfTheDevicesCompiler) {
  constexpr const char* kSource = R"(
#define AT(i, v) if (get_global_id(0) == 99) out[i] = (v)
kernel void macros(global uint* out) {
#ifdef __OPENCL_VERSION__
  AT(0, __OPENCL_VERSION__);
#endif
#if __OPENCL_C_VERSION__ >= 200
  AT(1, __OPENCL_C_VERSION__);
#else
  AT(1, 1);
#endif
#ifdef cl_khr_fp16
  AT(2, 1);
#endif
#if defined(cl_khr_subgroups) || defined(__opencl_c_subgroups) || defined(__opencl_c_pipes)
  AT(3, 1);
#endif
#ifdef __IMAGE_SUPPORT__
  AT(4, __IMAGE_SUPPORT__);
#endif
#if defined(__opencl_c_images) && !defined(cles_khr_int64)
  AT(5, 1);
#endif
#if __clang_major__ > 17
  AT(6, __clang_major__);
#endif
  AT(7, CLK_LOCAL_MEM_FENCE);
})";
  // A macro that is a string cannot be determined: the program is not rewritten.
  constexpr const char* kOfText =
      "kernel void macros(global uint* out) { out[get_local_id(0) % 8] = sizeof(__VERSION__); }";
  same_on_both([&](const Side& s, Transcript& t) {
    for (const auto& [source, options] : {std::pair{kSource, ""}, std::pair{kSource, "-cl-std=CL1.2"},
                                          std::pair{kSource, "-cl-std=CL3.0"}, std::pair{kOfText, ""}}) {
      cl_program program = clCreateProgramWithSource(s.context, 1, std::vector{source}.data(), nullptr, nullptr);
      const cl_int built = clBuildProgram(program, 1, &s.device, options, nullptr, nullptr);
      t.say("built", built);
      for (const cl_uint value : built == CL_SUCCESS ? told_by(s, program) : std::vector<cl_uint>{})
        t.say("value", value);
      clReleaseProgram(program);
    }
  });
}

// While a long kernel runs as workers on one queue, `meanwhile` uses another; it should complete before the long
// kernel.
void beside_a_long_kernel(const std::function<void(cl_command_queue, const Job&)>& meanwhile) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  if (std::string(WM_REWRITER).empty() || !is_on_cpu()) GTEST_SKIP() << "no kernel runs as workers here";
  const Side s = open_side(true);
  ASSERT_NE(s.queue, nullptr);
  cl_command_queue other = clCreateCommandQueue(s.context, s.device, 0, nullptr);
  cl_program program = build(s, kSpinSource);
  constexpr cl_uint kLong = 4000;
  const Job a = job(s, program, kLong, 20'000), b = job(s, program, 4, 1000);
  for (int i = 0; i < 3; ++i) {  // known to be short after the first, compiled in both forms after the second
    cl_event event = launch(s.queue, b, 4);
    clWaitForEvents(1, &event);
    clReleaseEvent(event);
  }
  cl_event long_one = launch(s.queue, a, kLong);
  while (status_of(long_one) > CL_RUNNING) std::this_thread::yield();
  meanwhile(other, b);
  EXPECT_NE(status_of(long_one), CL_COMPLETE) << "it waited for the long one";
  EXPECT_EQ(clWaitForEvents(1, &long_one), CL_SUCCESS);
  clReleaseEvent(long_one);
  end(a);
  end(b);
  clReleaseProgram(program);
  clReleaseCommandQueue(other);
  close_side(s);
}

// On a device that runs one kernel at a time the short kernel would wait for the long one.
TEST(Sharing, AShortKernelDoesNotWaitForALongOne) {
  beside_a_long_kernel([](cl_command_queue queue, const Job& b) {
    cl_event short_one = launch(queue, b, 4);
    EXPECT_EQ(clWaitForEvents(1, &short_one), CL_SUCCESS);
    clReleaseEvent(short_one);
  });
}

// Workers occupy all compute units of a CPU, and a fill needs one.
TEST(Sharing, AFillDoesNotWaitForALongKernel) {
  beside_a_long_kernel([](cl_command_queue queue, const Job& b) {
    const cl_uint zero = 0;
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(clEnqueueFillBuffer(queue, b.memory, &zero, sizeof zero, 0, 64, 0, nullptr, nullptr), CL_SUCCESS);
      EXPECT_EQ(clFinish(queue), CL_SUCCESS);
    }
  });
}

using Clock = std::chrono::steady_clock;

// A new kernel that takes long to compile.
std::string tedious_source() {
  std::string body;
  for (int i = 0; i < 64; ++i) {
    const std::string n = std::to_string(i);
    body += "x = x * " + n + ".25f + y * cos(x); if (x > " + n + ") y += a[" + n + "];";
    if (i % 8 == 0) body += "barrier(CLK_LOCAL_MEM_FENCE);\n";
  }
  return "// " + std::to_string(::getpid()) + " " + std::to_string(Clock::now().time_since_epoch().count()) +
         "\nkernel void tedious(global float* a) { float x = a[get_global_id(0)], y = x; " + body +
         " a[get_global_id(0)] = x + y; }\nkernel void quick(global float* a) { a[get_global_id(0)] = 1; }";
}

// The longest time without a further launch in the daemon's count, until the event is complete.
Clock::duration longest_pause(const Daemon& daemon, cl_event event) {
  const auto launches = [&daemon] {
    const std::string status = daemon.status(), name = R"("launches":)";
    const auto other = status.find(R"("kernel":"work")");
    const auto client = status.rfind(R"("name":)", other);
    return status.substr(status.find(name, client), name.size() + 9);
  };
  Clock::duration longest{};
  auto since = Clock::now();
  for (std::string before = launches(); status_of(event) > CL_COMPLETE;) {
    std::string now = launches();
    longest = std::max(longest, Clock::now() - since);
    if (now == before) continue;
    before = std::move(now);
    since = Clock::now();
  }
  return longest;
}

// PoCL compiles a kernel at its first launch, and starts no other kernel until it has.
TEST(Sharing, NoClientWaitsForAnotherClientsCompilation) {
  Daemon* daemon = the_daemon();
  if (daemon == nullptr) GTEST_SKIP() << "no OpenCL device";
  if (!compiles_at_launch()) GTEST_SKIP() << "others compile all of a program when it is built";
  Child bystander(*daemon, {"work"});
  ASSERT_TRUE(comes_to_say(*daemon, R"("kernel":"work")"));
  const Side s = open_side(true);
  cl_program program = build(s, tedious_source().c_str());
  const std::size_t items = 1024, group = 64;
  cl_mem memory = clCreateBuffer(s.context, CL_MEM_READ_WRITE, items * sizeof(cl_float), nullptr, nullptr);
  const auto first_launch = [&](const char* name) {
    cl_kernel kernel = clCreateKernel(program, name, nullptr);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    cl_event event = nullptr;
    EXPECT_EQ(clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &items, &group, 0, nullptr, &event), CL_SUCCESS);
    clFlush(s.queue);
    clReleaseKernel(kernel);
    return event;
  };
  cl_event quick = first_launch("quick");  // the program has both its forms then
  clWaitForEvents(1, &quick);
  const auto begin = Clock::now();
  cl_event event = first_launch("tedious");
  const auto longest = longest_pause(*daemon, event);
  EXPECT_LT(longest, (Clock::now() - begin) / 2) << "the other's launches stood still meanwhile";
  EXPECT_EQ(status_of(event), CL_COMPLETE);
  clReleaseEvent(event);
  clReleaseEvent(quick);
  clReleaseMemObject(memory);
  clReleaseProgram(program);
  close_side(s);
}

// A number of the status of the client with that share; -1: there is none.
double number_of(const std::string& status, const std::string& share, const std::string& key) {
  const auto client = status.find("\"share\":" + share), at = status.find("\"" + key + "\":", client);
  return client == std::string::npos || at == std::string::npos
             ? -1
             : std::strtod(status.c_str() + at + key.size() + 3, nullptr);
}

// The status when the client with that share has started so many launches.
std::string status_after(const Daemon& daemon, const std::string& share, double launches) {
  std::string status;
  for (int i = 0; i < 3000; ++i) {
    status = daemon.status();
    if (number_of(status, share, "launches") >= launches) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return status;
}

// The client with the small share used to show nearly no slowdown, because only the time before a launch started
// counted.
TEST(Sharing, StatusShowsWhatASmallShareCosts) {
  const Daemon daemon("shares", "moving_shares");
  if (!daemon.started()) GTEST_SKIP() << "no OpenCL device";
  if (std::string(WM_REWRITER).empty() || !is_on_cpu()) GTEST_SKIP() << "no kernel runs as workers here";
  ::setenv("WARPMUX_SHARE", "3", 1);
  const Child first(daemon, {"repeat"});
  status_after(daemon, "3.0", 10);  // all forms of its kernel are compiled then
  ::setenv("WARPMUX_SHARE", "1", 1);
  const Child second(daemon, {"repeat"});
  ::unsetenv("WARPMUX_SHARE");
  const std::string status = status_after(daemon, "1.0", 40);
  EXPECT_GE(number_of(status, "1.0", "launches"), 40) << status;
  EXPECT_GT(number_of(status, "1.0", "slowdown"), 1.5) << status;
  EXPECT_GT(number_of(status, "1.0", "slowdown"), number_of(status, "3.0", "slowdown")) << status;
  const double passed = std::strtod(status.c_str() + status.find("\"seconds\":") + 10, nullptr);
  const double used = number_of(status, "1.0", "device_seconds") + number_of(status, "3.0", "device_seconds");
  EXPECT_LE(used, passed) << "device time is counted once";
  EXPECT_GT(used, 0);
}

}  // namespace
}  // namespace wm::runtime::test
