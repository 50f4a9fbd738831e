// Behaviour that conformance tests check and applications rarely use: printf, empty launches, states of waiting
// commands, the order of accesses to host memory, queries of programs and memory objects.
#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include "runtime/conformance/sides.h"

namespace wm::runtime::test {
namespace {

// The standard output of this process while `body` runs.
std::string output_of(const std::function<void()>& body) {
  std::fflush(stdout);
  const int file = ::memfd_create("output", MFD_CLOEXEC), own = ::dup(STDOUT_FILENO);
  // PoCL writes from the threads that run groups; without O_APPEND they overwrite each other's output.
  ::fcntl(file, F_SETFL, O_APPEND);
  ::dup2(file, STDOUT_FILENO);
  body();
  std::fflush(stdout);
  ::dup2(own, STDOUT_FILENO);
  ::close(own);
  std::string text(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)), '\0');
  EXPECT_EQ(::pread(file, text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  ::close(file);
  return text;
}

// NVIDIA's driver (580.159) leaves out the text before a vector, so the vector comes first.
TEST(Conformance, PrintfOutputReachesTheClientsStdout) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_program program = build(s,
                               "kernel void p(int n) { if (get_global_id(0) == 1) printf(\"%v2d|%d %s\\n\", "
                               "(int2)(n, 7), n, \"words\"); }\n/* printf */ kernel void quiet() {}");
    cl_kernel kernel = clCreateKernel(program, "p", nullptr), quiet = clCreateKernel(program, "quiet", nullptr);
    const std::size_t items = 4, group = 2, one = 1;
    t.say("output", output_of([&] {
            for (cl_int n = 1; n < 4; ++n) {
              clSetKernelArg(kernel, 0, sizeof n, &n);
              t.say("launch", clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &items, &group, 0, nullptr, nullptr));
            }
            clFinish(s.queue);
          }));
    t.say("none", output_of([&] {
            clEnqueueNDRangeKernel(s.queue, quiet, 1, nullptr, &items, nullptr, 0, nullptr, nullptr);
            clFinish(s.queue);
          }));
    cl_event event = nullptr;
    t.say("by an event", output_of([&] {
            clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &items, nullptr, 0, nullptr, &event);
            clWaitForEvents(1, &event);
          }));
    cl_program groups = build(s, "kernel void g() { for (int i = 0; i < 99; ++i) printf(\"%d\\n\", i); }");
    cl_kernel per_group = clCreateKernel(groups, "g", nullptr);
    for (int i = 0; i < 5; ++i) {
      const std::string lines = output_of([&] {
        clEnqueueNDRangeKernel(s.queue, per_group, 1, nullptr, &items, &one, 0, nullptr, nullptr);
        clFinish(s.queue);
      });
      t.say("lines", std::count(lines.begin(), lines.end(), '\n'));
    }
    clReleaseKernel(per_group);
    clReleaseProgram(groups);
    clReleaseEvent(event);
    clReleaseKernel(quiet);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
  });
}

TEST(Conformance, EmptyLaunchesKeepTheirPlaceInTheQueue) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_program program = build(s, "kernel void f() {}");
    cl_kernel kernel = clCreateKernel(program, "f", nullptr);
    const std::size_t global[3] = {2, 0, 2}, local = 1;
    const auto launch = [&](cl_uint dimensions, const std::size_t* sizes, const std::size_t* group) {
      return clEnqueueNDRangeKernel(s.queue, kernel, dimensions, nullptr, sizes, group, 0, nullptr, nullptr);
    };
    t.say("one", launch(1, global + 1, nullptr));
    t.say("two", launch(2, global, nullptr));
    t.say("three", launch(3, global, nullptr));
    t.say("grouped", launch(1, global + 1, &local));
    t.say("no sizes", launch(1, nullptr, nullptr));
    cl_event user = clCreateUserEvent(s.context, nullptr), event = nullptr;
    t.say("waiting", clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, global + 1, nullptr, 1, &user, &event));
    if (event != nullptr) {
      t.say("queued", status_of(event));
      clSetUserEventStatus(user, CL_COMPLETE);
      t.say("finish", clFinish(s.queue));
      t.say("complete", status_of(event));
      cl_command_type type = 0;
      clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, nullptr);
      t.say("type", type);
      cl_ulong time = 0;
      t.say("times", clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof time, &time, nullptr));
      t.say("a time", time != 0 ? 1 : 0);
      clReleaseEvent(event);
    }
    clReleaseEvent(user);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
  });
}

// A dimension that is not given counts as 1.
TEST(Conformance, RequiredGroupSizesApplyToAllDimensions) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_program program = build(s, "__attribute__((reqd_work_group_size(4, 2, 1))) kernel void f() {}");
    cl_kernel kernel = clCreateKernel(program, "f", nullptr);
    const std::size_t global[3] = {8, 2, 1}, local[3] = {4, 2, 1};
    for (cl_uint n = 1; n <= 3; ++n) {
      t.say("dimensions", clEnqueueNDRangeKernel(s.queue, kernel, n, nullptr, global, local, 0, nullptr, nullptr));
    }
    t.say("finish", clFinish(s.queue));
    clReleaseKernel(kernel);
    clReleaseProgram(program);
  });
}

TEST(Conformance, CommandsAreQueuedUntilTheirDependenciesComplete) {
  same_on_both([](const Side& s, Transcript& t) {
    cl_event user = clCreateUserEvent(s.context, nullptr), first = nullptr, second = nullptr;
    cl_mem memory = clCreateBuffer(s.context, 0, 64, nullptr, nullptr);
    clEnqueueMarkerWithWaitList(s.queue, 1, &user, &first);
    std::vector<char> bytes(64, 1);
    clEnqueueReadBuffer(s.queue, memory, CL_FALSE, 0, 64, bytes.data(), 0, nullptr, &second);
    clFlush(s.queue);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    t.say("first", status_of(first));
    t.say("second", status_of(second));
    clSetUserEventStatus(user, CL_COMPLETE);
    clFinish(s.queue);
    t.say("first", status_of(first));
    t.say("second", status_of(second));
    for (cl_event event : {first, second, user}) clReleaseEvent(event);
    clReleaseMemObject(memory);
  });
}

// Host memory that one command writes and a later one reads, while both wait for a user event.
TEST(Conformance, AWriteWaitsForAPendingReadOfItsHostMemory) {
  same_on_both([](const Side& s, Transcript& t) {
    for (const std::size_t size : {std::size_t{512}, std::size_t{1} << 20}) {
      std::vector<unsigned char> first(size, 3), between(size, 4), last(size, 5);
      cl_mem from = clCreateBuffer(s.context, CL_MEM_COPY_HOST_PTR, size, first.data(), nullptr);
      cl_mem to = clCreateBuffer(s.context, CL_MEM_COPY_HOST_PTR, size, last.data(), nullptr);
      cl_event user = clCreateUserEvent(s.context, nullptr), written = nullptr;
      t.say("read", clEnqueueReadBuffer(s.queue, from, CL_FALSE, 0, size, between.data(), 1, &user, nullptr));
      t.say("write", clEnqueueWriteBuffer(s.queue, to, CL_FALSE, 0, size, between.data(), 0, nullptr, &written));
      clSetUserEventStatus(user, CL_COMPLETE);
      t.say("wait", clWaitForEvents(1, &written));
      clEnqueueReadBuffer(s.queue, to, CL_TRUE, 0, size, last.data(), 0, nullptr, nullptr);
      t.say("arrived", last == first ? 1 : 0);
      clReleaseEvent(written);
      clReleaseEvent(user);
      clReleaseMemObject(to);
      clReleaseMemObject(from);
    }
  });
}

TEST(Conformance, DestructorCallbacksAreCalledWhenNoCommandUsesTheMemory) {
  same_on_both([](const Side& s, Transcript& t) {
    static std::mutex mutex;
    static std::vector<int> told;
    told.clear();
    const auto tell = [](cl_mem, void* number) {
      const std::lock_guard lock(mutex);
      told.push_back(static_cast<int>(reinterpret_cast<std::intptr_t>(number)));
    };
    const auto so_far = [] {
      const std::lock_guard lock(mutex);
      return told;
    };
    cl_mem unused = clCreateBuffer(s.context, 0, 64, nullptr, nullptr);
    for (std::intptr_t i = 0; i < 3; ++i) clSetMemObjectDestructorCallback(unused, tell, reinterpret_cast<void*>(i));
    clReleaseMemObject(unused);
    const auto wait_for = [&](std::size_t calls) {
      for (int i = 0; i < 2000 && so_far().size() < calls; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    };
    wait_for(3);  // some drivers call from a thread of their own
    t.data("latest first", so_far());
    cl_program program = build(s, "kernel void f(global int* x) { x[0] = 1; }");
    cl_kernel kernel = clCreateKernel(program, "f", nullptr);
    cl_mem memory = clCreateBuffer(s.context, 0, 64, nullptr, nullptr);
    clSetKernelArg(kernel, 0, sizeof memory, &memory);
    clSetMemObjectDestructorCallback(memory, tell, reinterpret_cast<void*>(std::intptr_t{9}));
    cl_event user = clCreateUserEvent(s.context, nullptr);
    const std::size_t one = 1;
    clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &one, nullptr, 1, &user, nullptr);
    clReleaseMemObject(memory);
    t.data("not yet", so_far());
    clSetUserEventStatus(user, CL_COMPLETE);
    clFinish(s.queue);
    wait_for(4);
    t.data("then", so_far());
    clReleaseEvent(user);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
  });
}

TEST(Conformance, ProgramQueriesAnswerTheSame) {
  same_on_both([](const Side& s, Transcript& t) {
    const char *nothing = "", *unresolved = "void g(); kernel void f() { g(); }";
    cl_int status = 1;
    cl_program empty = clCreateProgramWithSource(s.context, 1, &nothing, nullptr, &status);
    t.say("empty", status);
    t.say("builds", clBuildProgram(empty, 0, nullptr, nullptr, nullptr, nullptr));
    clReleaseProgram(empty);
    cl_program part = clCreateProgramWithSource(s.context, 1, &unresolved, nullptr, nullptr);
    t.say("compiles", clCompileProgram(part, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr));
    std::atomic<int> calls{0};
    cl_program linked = clLinkProgram(
        s.context, 0, nullptr, nullptr, 1, &part, [](cl_program, void* n) { ++*static_cast<std::atomic<int>*>(n); },
        &calls, &status);
    t.say("does not link", status);
    t.say("told", calls.load());
    if (linked != nullptr) clReleaseProgram(linked);
    clReleaseProgram(part);
    cl_program executable = build(s, "kernel void f() {}", "-DX=1");
    std::size_t size = 0;
    clGetProgramInfo(executable, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr);
    std::vector<unsigned char> binary(size);
    unsigned char* bytes = binary.data();
    clGetProgramInfo(executable, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr);
    const unsigned char* again = bytes;
    cl_program from = clCreateProgramWithBinary(s.context, 1, &s.device, &size, &again, nullptr, &status);
    t.say("from its binary", clBuildProgram(from, 0, nullptr, "-DY", nullptr, nullptr));
    char options[64] = {};
    clGetProgramBuildInfo(from, s.device, CL_PROGRAM_BUILD_OPTIONS, sizeof options, options, nullptr);
    t.say("options", options);
    clReleaseProgram(from);
    clReleaseProgram(executable);
  });
}

TEST(Conformance, IncludedFilesAreSearchedInTheApplicationsFolder) {
  const auto folder = std::filesystem::temp_directory_path() / ("wm-include-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder / "below");
  std::ofstream(folder / "one.h") << "#define ONE 1\n";
  std::ofstream(folder / "below/two.h") << "#define TWO 2\n";
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  same_on_both([](const Side& s, Transcript& t) {
    const char* source = "#include \"one.h\"\n#include \"two.h\"\nkernel void f(global int* x) { x[0] = ONE + TWO; }";
    for (const char* options : {"-I below", "-Ibelow -DX", "-DX -I ./below", ""}) {
      cl_program program = clCreateProgramWithSource(s.context, 1, &source, nullptr, nullptr);
      t.say("build", clBuildProgram(program, 0, nullptr, options, nullptr, nullptr));
      char told[64] = {};
      clGetProgramBuildInfo(program, s.device, CL_PROGRAM_BUILD_OPTIONS, sizeof told, told, nullptr);
      t.say("options", told);
      clReleaseProgram(program);
    }
  });
  std::filesystem::current_path(before);
  std::filesystem::remove_all(folder);
}

// PoCL 3.1 crashes with these calls; the daemon must not.
TEST(Conformance, SubBuffersAreCopiedAndFilled) {
  if (the_daemon() == nullptr) GTEST_SKIP() << "no OpenCL device";
  const Side s = open_side(true);
  std::vector<unsigned char> bytes(8192), back(64), rows(64);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7);
  cl_mem memory = clCreateBuffer(s.context, CL_MEM_COPY_HOST_PTR, bytes.size(), bytes.data(), nullptr);
  const cl_buffer_region first{1024, 1024}, second{4096, 1024};
  cl_mem from = clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &first, nullptr);
  cl_mem to = clCreateSubBuffer(memory, 0, CL_BUFFER_CREATE_TYPE_REGION, &second, nullptr);
  const std::size_t zero[3] = {0, 0, 0}, box[3] = {8, 8, 1}, row[3] = {16, 1, 1};
  EXPECT_EQ(clEnqueueCopyBufferRect(s.queue, from, to, zero, zero, box, 16, 0, 16, 0, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(
      clEnqueueReadBufferRect(s.queue, to, CL_TRUE, zero, zero, box, 16, 0, 8, 0, rows.data(), 0, nullptr, nullptr),
      CL_SUCCESS);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(rows[i], bytes[1024 + i / 8 * 16 + i % 8]);
  if (cl_bool images = CL_FALSE;
      clGetDeviceInfo(s.device, CL_DEVICE_IMAGE_SUPPORT, sizeof images, &images, nullptr) == CL_SUCCESS && images) {
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    desc.image_width = 64;
    desc.mem_object = memory;
    cl_mem image = clCreateImage(s.context, CL_MEM_READ_WRITE, &format, &desc, nullptr, nullptr);
    ASSERT_NE(image, nullptr);
    const cl_uint colour[4] = {1, 2, 3, 4};
    const std::size_t at[3] = {16, 0, 0};
    EXPECT_EQ(clEnqueueFillImage(s.queue, image, colour, at, row, 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(clEnqueueCopyImageToBuffer(s.queue, image, to, at, row, 0, 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(clEnqueueReadBuffer(s.queue, to, CL_TRUE, 0, 64, back.data(), 0, nullptr, nullptr), CL_SUCCESS);
    for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(back[i], i % 4 + 1);
    clReleaseMemObject(image);
  }
  clReleaseMemObject(to);
  clReleaseMemObject(from);
  clReleaseMemObject(memory);
  close_side(s);
}

TEST(Conformance, FlagsAndTimersAnswerTheSame) {
  same_on_both([](const Side& s, Transcript& t) {
    std::vector<char> host(256, 1);
    for (const cl_mem_flags flags : {cl_mem_flags{0}, cl_mem_flags{CL_MEM_COPY_HOST_PTR},
                                     cl_mem_flags{CL_MEM_ALLOC_HOST_PTR}, cl_mem_flags{CL_MEM_HOST_READ_ONLY}}) {
      void* bytes = (flags & CL_MEM_COPY_HOST_PTR) != 0 ? host.data() : nullptr;
      cl_mem memory = clCreateBuffer(s.context, flags, host.size(), bytes, nullptr);
      cl_mem_flags told = 0;
      clGetMemObjectInfo(memory, CL_MEM_FLAGS, sizeof told, &told, nullptr);
      t.say("flags", static_cast<long long>(told));
      clReleaseMemObject(memory);
    }
    cl_ulong device = 0, here = 0;
    t.say("both timers", clGetDeviceAndHostTimer(s.device, &device, &here));
    t.say("host timer", clGetHostTimer(s.device, &here));
  });
}

}  // namespace
}  // namespace wm::runtime::test
