// Programs from binaries: the source that the daemon attaches lets their kernels run as workers, and the reason that
// the status shows for other kernels is the true one.
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/conformance/sides.h"

namespace wm::runtime::test {
namespace {

using Binary = std::vector<unsigned char>;

Binary bytes_of(cl_program program) {
  std::size_t size = 0;
  EXPECT_EQ(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), CL_SUCCESS);
  Binary binary(size);
  unsigned char* to = binary.data();
  EXPECT_EQ(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof to, &to, nullptr), CL_SUCCESS);
  return binary;
}

cl_program from_binary(const Side& s, const Binary& binary) {
  const unsigned char* bytes = binary.data();
  const std::size_t size = binary.size();
  cl_int loaded = 1, status = 1;
  cl_program program = clCreateProgramWithBinary(s.context, 1, &s.device, &size, &bytes, &loaded, &status);
  EXPECT_EQ(status, CL_SUCCESS);
  EXPECT_EQ(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
  return program;
}

// The status of this process's client.
nlohmann::json this_client() {
  const auto status = nlohmann::json::parse(the_daemon()->status());
  for (const auto& c : status["clients"]) {
    if (c["pid"] == ::getpid()) return c;
  }
  return {};
}

struct Outcome {
  int as_workers = 0;
  std::string reason;  // why the kernel runs unmodified
  std::vector<cl_int> result;
};

// Runs the kernel f over 64 groups.
Outcome run_groups(const Side& s, cl_program program) {
  constexpr std::size_t kItems = 1024, kLocal = 16;
  const int before = this_client().value("as_workers", 0);
  cl_kernel kernel = clCreateKernel(program, "f", nullptr);
  Outcome outcome;
  outcome.result.resize(kItems);
  cl_mem memory = clCreateBuffer(s.context, CL_MEM_READ_WRITE, kItems * 4, nullptr, nullptr);
  clSetKernelArg(kernel, 0, sizeof memory, &memory);
  EXPECT_EQ(clEnqueueNDRangeKernel(s.queue, kernel, 1, nullptr, &kItems, &kLocal, 0, nullptr, nullptr), CL_SUCCESS);
  clEnqueueReadBuffer(s.queue, memory, CL_TRUE, 0, kItems * 4, outcome.result.data(), 0, nullptr, nullptr);
  const auto after = this_client();
  outcome.as_workers = after.value("as_workers", 0) - before;
  if (after.contains("unmodified_kernels")) outcome.reason = after["unmodified_kernels"].value("f", "");
  clReleaseMemObject(memory);
  clReleaseKernel(kernel);
  return outcome;
}

class Binaries : public testing::Test {
 protected:
  void SetUp() override {
    if (the_daemon() == nullptr) GTEST_SKIP() << "no native device";
    side_ = open_side(true);
  }
  void TearDown() override {
    if (side_.context != nullptr) close_side(side_);
  }
  // Whether programs from source must run as workers under this daemon's policy: on CUDA only policies that own SMs use
  // them.
  bool makes_workers() {
    if (is_on_cpu()) return true;
    cl_program program = build(side_, "kernel void f(global int* x) { x[get_global_id(0)] = 1; }");
    const bool as_workers = run_groups(side_, program).as_workers != 0;
    clReleaseProgram(program);
    return as_workers;
  }
  Side side_;
};

constexpr const char* kGroupsSource =
    "kernel void f(global int* x) { x[get_global_id(0)] = N * (int)get_group_id(0); }";

TEST_F(Binaries, AProgramFromItsBinaryRunsAsWorkersLikeTheOriginal) {
  if (!makes_workers()) GTEST_SKIP() << "no kernel runs as workers here";
  cl_program original = build(side_, kGroupsSource, "-DN=3");
  const Binary binary = bytes_of(original);
  const Outcome first = run_groups(side_, original);
  cl_program again = from_binary(side_, binary);
  const Outcome second = run_groups(side_, again);
  EXPECT_EQ(first.as_workers, 1);
  EXPECT_EQ(second.as_workers, 1) << second.reason;
  EXPECT_EQ(second.result, first.result);
  cl_program third = from_binary(side_, bytes_of(again));
  EXPECT_EQ(run_groups(side_, third).as_workers, 1) << "a binary of a program from a binary carries the source on";
  for (cl_program p : {original, again, third}) clReleaseProgram(p);
}

TEST_F(Binaries, ABinaryWithoutSourceRunsUnmodifiedAndSaysSo) {
  const Side native = open_side(false);
  cl_program original = build(native, kGroupsSource, "-DN=5");
  const Binary binary = bytes_of(original);
  clReleaseProgram(original);
  close_side(native);
  cl_program program = from_binary(side_, binary);
  const Outcome outcome = run_groups(side_, program);
  EXPECT_EQ(outcome.as_workers, 0);
  EXPECT_EQ(outcome.reason, "its binary came without its source");
  EXPECT_EQ(outcome.result[16], 5);
  clReleaseProgram(program);
}

TEST_F(Binaries, WorkersAreNotMadeFromFilesThatHaveChangedSince) {
  if (!makes_workers()) GTEST_SKIP() << "no kernel runs as workers here";
  const auto folder = std::filesystem::temp_directory_path() / ("wm-binary-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "n.h") << "#define N 3\n";
  cl_program original =
      build(side_, ("#include \"n.h\"\n" + std::string(kGroupsSource)).c_str(), ("-I" + folder.string()).c_str());
  const Binary binary = bytes_of(original);
  cl_program same = from_binary(side_, binary);
  EXPECT_EQ(run_groups(side_, same).as_workers, 1);
  std::ofstream(folder / "n.h") << "#define N 4\n";
  cl_program changed = from_binary(side_, binary);
  const Outcome outcome = run_groups(side_, changed);
  EXPECT_EQ(outcome.as_workers, 0);
  EXPECT_EQ(outcome.reason, "files that its source includes have changed since its binary was made");
  EXPECT_EQ(outcome.result[16], 3);
  for (cl_program p : {original, same, changed}) clReleaseProgram(p);
  std::filesystem::remove_all(folder);
}

TEST_F(Binaries, ALinkedProgramRunsUnmodifiedAndSaysSo) {
  const char* source = kGroupsSource;
  cl_program part = clCreateProgramWithSource(side_.context, 1, &source, nullptr, nullptr);
  ASSERT_EQ(clCompileProgram(part, 0, nullptr, "-DN=1", 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  cl_program linked = clLinkProgram(side_.context, 0, nullptr, "", 1, &part, nullptr, nullptr, nullptr);
  EXPECT_EQ(run_groups(side_, linked).reason, "linked from programs that were compiled apart");
  clReleaseProgram(linked);
  clReleaseProgram(part);
}

}  // namespace
}  // namespace wm::runtime::test
