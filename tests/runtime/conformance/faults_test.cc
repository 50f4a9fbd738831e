// Faults: clients that are killed, kernels that do not end, a daemon that is killed.
#include <chrono>
#include <random>
#include <thread>

#include "runtime/conformance/children.h"

namespace wm::runtime::test {
namespace {

// Kernels of a CPU device run in the daemon's process.
bool runs_in_the_daemon() { return is_on_cpu(); }

// Whether other kernels can run beside an endless one. On an H200, forty launches of another queue did not start within
// ten seconds; the cause is not known.
bool runs_beside_an_endless_kernel() {
  cl_uint units = 0;
  const Side side = open_side(false);
  clGetDeviceInfo(side.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr);
  close_side(side);
  return units >= 2 && runs_in_the_daemon();
}

void kill_clients(int times) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("kill");
  ASSERT_TRUE(daemon.started());
  Child bystander(daemon, {"work"});  // ends by itself where anything goes wrong for it
  std::mt19937 random(11);
  for (int i = 0; i < times; ++i) {
    Child child(daemon, {"work"});
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 150));
    child.kill();
  }
  EXPECT_FALSE(bystander.wait(0.1)) << "others are not to notice";
  EXPECT_TRUE(comes_to_say(daemon, R"("clients_leaving":0)"));
  bystander.kill();
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive)) << daemon.status();
}

TEST(Faults, KilledClientsLeaveNothingBehind) { kill_clients(4); }

// Two hundred clients, in the long suite only.
TEST(LongFaults, TwoHundredKilledClientsLeaveNothingBehind) { kill_clients(200); }

// The OpenCL calls of a client return an error soon after its daemon is killed.
TEST(Faults, ClientsOfADeadDaemonGetErrors) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("dies");
  ASSERT_TRUE(daemon.started());
  Child busy(daemon, {"work"}), waiting(daemon, {"stuck"});
  ASSERT_TRUE(comes_to_say(daemon, R"("kernel":"work")"));
  ASSERT_TRUE(comes_to_say(daemon, R"("queued":2)"));  // the event and the marker
  daemon.kill();
  EXPECT_EQ(busy.wait(), 42) << "it ends so when a call fails";
  EXPECT_EQ(waiting.wait(), 42) << "it ends so when a call fails";
}

TEST(Faults, AClientGetsNoMoreMemoryThanItMayHave) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("memory", "accelos", std::to_string(3 << 20));
  ASSERT_TRUE(daemon.started());
  Child child(daemon, {"hoard"});
  EXPECT_EQ(child.wait(), 3) << "buffers of a megabyte it got";
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive)) << daemon.status();
}

// Launches without events share an event of the device, and the daemon still observes their completion.
void stream_launches(const std::string& policy) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  ::setenv("WARPMUX_OWN_MEMORY", "1", 1);
  Daemon daemon("stream", policy);
  ::unsetenv("WARPMUX_OWN_MEMORY");
  ASSERT_TRUE(daemon.started());
  Child child(daemon, {"stream"});
  ASSERT_TRUE(comes_to_say(daemon, R"("launches":968)")) << child.wait(0).value_or(0);
  EXPECT_TRUE(comes_to_say(daemon, R"("queued":0)")) << daemon.status();
  child.kill();
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive)) << daemon.status();
}

TEST(Faults, LaunchesInAStreamRunOnceAndComplete) { stream_launches("accelos"); }
TEST(LongFaults, LaunchesInAStreamRunOnceAndCompleteInOrder) { stream_launches("fifo"); }

// A source that overflows the compiler's stack. Its client gets a build failure, and other clients notice nothing.
TEST(Faults, AProgramThatCrashesTheCompilerFailsOnlyItsClient) {
  Daemon* daemon = the_daemon();
  if (daemon == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Side s = open_side(true);
  const auto refused = [daemon] {
    const std::string status = daemon->status(), name = R"("programs_refused":)";
    const auto at = status.find(name);
    return at == std::string::npos ? -1 : std::atoi(status.c_str() + at + name.size());
  };
  const int before = refused();
  std::string deep = "kernel void f(global int* x) { x[0] = ";
  for (int i = 0; i < 30'000; ++i) deep += "- ";
  deep += "1; }";
  const char* source = deep.c_str();
  for (int i = 0; i < 2; ++i) {  // known the second time
    cl_program program = clCreateProgramWithSource(s.context, 1, &source, nullptr, nullptr);
    EXPECT_EQ(clBuildProgram(program, 1, &s.device, "", nullptr, nullptr), CL_BUILD_PROGRAM_FAILURE);
    cl_build_status status = CL_BUILD_NONE;
    clGetProgramBuildInfo(program, s.device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr);
    EXPECT_EQ(status, CL_BUILD_ERROR);
    char log[256] = {};
    EXPECT_EQ(clGetProgramBuildInfo(program, s.device, CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr), CL_SUCCESS);
    EXPECT_NE(std::string(log).find("crashed: signal 11"), std::string::npos) << log;
    EXPECT_EQ(clCompileProgram(program, 1, &s.device, "", 0, nullptr, nullptr, nullptr, nullptr),
              CL_COMPILE_PROGRAM_FAILURE);
    clReleaseProgram(program);
  }
  EXPECT_EQ(refused(), before + 4) << daemon->status();
  clReleaseProgram(build(s, "kernel void f(global int* x) { x[0] = - - 1; }"));
  close_side(s);
}

// These programs build, and `f` crashes PoCL when it is launched.
constexpr const char* kEndsTheCompiler =
    "kernel void f(global int* x) { __asm__(\".pushsection .data\\n.quad no_such_symbol\\n.popsection\"); "
    "x[get_global_id(0)] = 1; }\nkernel void g(global int* x) { x[0] = 2; }";

// A queue fails behind `f`, also for a program that has no event of it.
void expect_only_f_to_fail(const Side& s, cl_program program) {
  cl_mem memory = clCreateBuffer(s.context, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
  const std::size_t items = 16, group = 4;
  const auto enqueue = [&](cl_command_queue queue, const char* name, cl_event* event) {
    cl_kernel kernel = clCreateKernel(program, name, nullptr);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    EXPECT_EQ(clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &items, &group, 0, nullptr, event), CL_SUCCESS);
    clReleaseKernel(kernel);
  };
  const auto launch = [&](cl_command_queue queue, const char* name) {
    cl_event event = nullptr;
    enqueue(queue, name, &event);
    clWaitForEvents(1, &event);
    const cl_int status = status_of(event);
    clReleaseEvent(event);
    return status;
  };
  const auto read = [&](cl_command_queue queue, cl_int& value) {
    return clEnqueueReadBuffer(queue, memory, CL_TRUE, 0, sizeof value, &value, 0, nullptr, nullptr);
  };
  cl_int value = 0;
  cl_command_queue first = clCreateCommandQueue(s.context, s.device, 0, nullptr);
  cl_command_queue second = clCreateCommandQueue(s.context, s.device, 0, nullptr);
  EXPECT_EQ(launch(first, "f"), CL_OUT_OF_RESOURCES);
  EXPECT_NE(read(first, value), CL_SUCCESS) << "the results of f are not there";
  enqueue(second, "f", nullptr);  // it is known by now
  EXPECT_NE(read(second, value), CL_SUCCESS);
  EXPECT_EQ(clFinish(second), CL_OUT_OF_RESOURCES);
  EXPECT_EQ(launch(s.queue, "g"), CL_COMPLETE);
  EXPECT_EQ(read(s.queue, value), CL_SUCCESS);
  EXPECT_EQ(value, 2);
  for (cl_command_queue queue : {first, second}) clReleaseCommandQueue(queue);
  clReleaseMemObject(memory);
}

TEST(Faults, AKernelThatCrashesTheCompilerAtLaunchFailsOnlyItsClient) {
  Daemon* daemon = the_daemon();
  if (daemon == nullptr) GTEST_SKIP() << "no OpenCL device";
  if (!compiles_at_launch()) GTEST_SKIP() << "others compile all of a program when it is built";
  const Side s = open_side(true);
  cl_program program = build(s, kEndsTheCompiler);
  // PoCL compiles all kernels for a query of the binary.
  std::size_t size = 0;
  EXPECT_EQ(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), CL_OUT_OF_RESOURCES);
  expect_only_f_to_fail(s, program);
  EXPECT_TRUE(stops_saying(*daemon, R"("launches_refused":0)")) << daemon->status();
  clReleaseProgram(program);
  close_side(s);
}

// The programs that it was linked from do not exist any more when it is launched.
TEST(Faults, ALinkedKernelThatCrashesTheCompilerFailsOnlyItsClient) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  if (!compiles_at_launch()) GTEST_SKIP() << "others compile all of a program when it is built";
  const Side s = open_side(true);
  const char *source = "#include \"f.h\"", *name = "f.h", *text = kEndsTheCompiler;
  cl_program header = clCreateProgramWithSource(s.context, 1, &text, nullptr, nullptr);
  cl_program part = clCreateProgramWithSource(s.context, 1, &source, nullptr, nullptr);
  ASSERT_EQ(clCompileProgram(part, 1, &s.device, "", 1, &header, &name, nullptr, nullptr), CL_SUCCESS);
  clReleaseProgram(header);
  cl_int status = CL_SUCCESS;
  cl_program library = clLinkProgram(s.context, 1, &s.device, "-create-library", 1, &part, nullptr, nullptr, &status);
  ASSERT_EQ(status, CL_SUCCESS);
  cl_program program = clLinkProgram(s.context, 1, &s.device, "", 1, &library, nullptr, nullptr, &status);
  ASSERT_EQ(status, CL_SUCCESS);
  clReleaseProgram(part);
  clReleaseProgram(library);
  expect_only_f_to_fail(s, program);
  clReleaseProgram(program);
  close_side(s);
}

// Calls that crash PoCL 3.1: linking programs that did not compile, headers without source, building a library after a
// query of its binary.
TEST(Faults, ProgramsThatCannotBeLinkedOrCompiledFailOnlyTheirClient) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Side s = open_side(true);
  const char *bad = "kernel void f( {", *good = "kernel void f(global int* x) { x[0] = 1; }", *name = "f.h";
  cl_int status = CL_SUCCESS;
  const auto made = [&](const char* text) { return clCreateProgramWithSource(s.context, 1, &text, nullptr, nullptr); };
  const auto linked = [&](cl_program part, const char* options) {
    return clLinkProgram(s.context, 1, &s.device, options, 1, &part, nullptr, nullptr, &status);
  };
  cl_program broken = made(bad), part = made(good);
  EXPECT_EQ(clCompileProgram(broken, 1, &s.device, "", 0, nullptr, nullptr, nullptr, nullptr),
            CL_COMPILE_PROGRAM_FAILURE);
  linked(broken, "");
  EXPECT_EQ(status, CL_INVALID_OPERATION);
  EXPECT_EQ(clCompileProgram(part, 1, &s.device, "", 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  cl_program library = linked(part, "-create-library");
  EXPECT_EQ(status, CL_SUCCESS);
  EXPECT_NE(clCompileProgram(part, 1, &s.device, "", 1, &library, &name, nullptr, nullptr), CL_SUCCESS);
  std::size_t size = 0;
  EXPECT_EQ(clGetProgramInfo(library, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), CL_SUCCESS);
  EXPECT_NE(size, 0U);
  EXPECT_EQ(clBuildProgram(library, 1, &s.device, "", nullptr, nullptr), CL_INVALID_OPERATION);
  for (cl_program program : {broken, part, library}) clReleaseProgram(program);
  clReleaseProgram(build(s, good));
  close_side(s);
}

// A fault of a kernel in the daemon's process fails its launch; other clients and the daemon continue.
TEST(Faults, AKernelFaultOnACpuFailsOnlyItsClient) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  if (!runs_in_the_daemon()) GTEST_SKIP() << "a fault ends the context of a GPU";
  Daemon daemon("contained");
  ASSERT_TRUE(daemon.started());
  ASSERT_EQ(Child(daemon, {"work", "1"}).wait(60), 0) << "compiles the program";
  Child bystander(daemon, {"work"});
  ASSERT_TRUE(comes_to_say(daemon, R"("kernel":"work")"));
  EXPECT_EQ(Child(daemon, {"fault"}).wait(), 42) << "it ends so when a call fails";
  EXPECT_EQ(Child(daemon, {"deep"}).wait(), 42) << "a stack that overflows";
  EXPECT_EQ(Child(daemon, {"null"}).wait(), 0) << "a pointer that is tested, and one that is not";
  EXPECT_FALSE(bystander.wait(0.1)) << "others are not to notice";
  bystander.kill();
  EXPECT_EQ(Child(daemon, {"work", "3"}).wait(), 0);
  EXPECT_TRUE(comes_to_say(daemon, R"("kernel_faults":3)")) << daemon.status();
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive)) << daemon.status();
}

// All kernels share one context of a GPU, and a fault ends it. All clients get an error, none waits, and another daemon
// can start.
TEST(Faults, AKernelFaultOnAGpuEndsTheDaemonAndAllClientsGetErrors) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  if (runs_in_the_daemon()) GTEST_SKIP() << "a fault on a CPU is contained";
  Daemon daemon("fault");
  ASSERT_TRUE(daemon.started());
  Child bystander(daemon, {"work"});
  ASSERT_TRUE(comes_to_say(daemon, R"("kernel":"work")"));
  Child child(daemon, {"fault"});
  EXPECT_EQ(child.wait(), 42) << "it ends so when a call fails";
  // The exit code of a failed call, or of wrong data where the driver returned memory that was never written.
  EXPECT_GE(bystander.wait().value_or(0), 42);
  EXPECT_TRUE(daemon.ends());
}

// Workers stop at the end of a group: a kernel that would run for days ends with its client.
TEST(Faults, AKernelOfManyGroupsEndsWithItsClient) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  if (std::string(WM_REWRITER).empty()) GTEST_SKIP() << "no rewriter here";
  Daemon daemon("many", "moving_shares");
  ASSERT_TRUE(daemon.started());
  Child endless(daemon, {"many"});
  ASSERT_TRUE(comes_to_say(daemon, R"("kernel":"many")"));
  Child other(daemon, {"work", "3"});
  EXPECT_EQ(other.wait(), 0) << "beside it";
  endless.kill();
  EXPECT_TRUE(comes_to_say(daemon, kNothingAlive)) << daemon.status();
}

// A single group cannot be stopped: it keeps its part of the device, and the status reports it.
TEST(Faults, AGroupThatNeverEndsIsReportedAndOtherClientsContinue) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  Daemon daemon("endless");
  ASSERT_TRUE(daemon.started());
  Child endless(daemon, {"endless"});
  ASSERT_TRUE(comes_to_say(daemon, R"("kernel":"endless","workers":1)"));
  endless.kill();
  EXPECT_TRUE(comes_to_say(daemon, R"("orphaned_kernels":[{"client":1,)")) << daemon.status();
  EXPECT_NE(daemon.status().find(R"("left_behind":[{"client":1,)"), std::string::npos) << "the deprecated key";
  EXPECT_NE(daemon.status().find(R"("kernel":"endless","seconds":)"), std::string::npos);
  if (runs_beside_an_endless_kernel()) {
    Child other(daemon, {"work", "3"});
    EXPECT_EQ(other.wait(), 0) << "beside it";
  }
  daemon.kill();  // the kernel ends with the process, and not before
}

}  // namespace
}  // namespace wm::runtime::test
