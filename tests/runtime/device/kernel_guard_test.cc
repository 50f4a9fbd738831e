// Kernels that fault on a CPU device, in this process, beside its compiler.
#include "runtime/device/kernel_guard.h"

#include <csignal>
#include <gtest/gtest.h>

#include "runtime/device/backend.h"
#include "runtime/device/null_opencl.h"

namespace wm::runtime {
namespace {

constexpr const char* kFaultingSource =
    "kernel void good(global int* x) { x[get_global_id(0)] = 7; }\n"
    "kernel void bad(global int* x) { x[(long)1 << 40] = 1; }\n"
    "kernel void where(global int* x) {\n"
    "  x[get_global_id(0) + 8 * (get_global_id(1) + 6 * get_global_id(2))] =\n"
    "      get_group_id(0) + 10 * get_group_id(1) + 100 * get_group_id(2);\n"
    "}\n";

void (*segv_handler())(int, siginfo_t*, void*) {
  struct sigaction now {};
  ::sigaction(SIGSEGV, nullptr, &now);
  return now.sa_sigaction;
}

struct KernelGuardTest : testing::Test {
  void SetUp() override {
#if defined(WM_SANITIZED)
    GTEST_SKIP() << "a sanitizer would report errors of the OpenCL driver";
#endif
    const auto of_another_driver = test::null_backend(true);  // opened before PoCL is loaded
    auto opened = open_backend("Portable");
    if (!opened) GTEST_SKIP() << "no PoCL: " << opened.error().to_string();
    backend = std::move(*opened);
    handler = segv_handler();
    program = backend->compilation().program_from_source(kFaultingSource).object;
    ASSERT_EQ(backend->compilation().build(*program, ""), status::kSuccess);
    queue = backend->allocation().create_queue(true, false).object;
    buffer = backend->allocation().create_buffer({0, kItems * sizeof(int), {}}).object;
  }
  Status run(const std::string& name, const Size3& global = {kItems, 1, 1}, const Size3& local = {64, 1, 1}) {
    const KernelHandle kernel = backend->compilation().create_kernel(*program, name).object;
    const KernelArgument argument{ArgumentKind::memory, 0, nullptr, buffer.get(), nullptr};
    KernelLaunch launch;
    launch.kernel = kernel.get();
    launch.arguments = {&argument, 1};
    launch.dimensions = 3;
    launch.global = global;
    launch.local = local;
    EventHandle event = nullptr;
    if (const Status s = backend->submission().launch(*queue, launch, &event); s != status::kSuccess) return s;
    backend->submission().finish(*queue);
    const Status state = backend->submission().state(event);
    backend->submission().release(event);
    return state;
  }
  static constexpr std::size_t kItems = 4096;

  std::unique_ptr<Backend> backend;
  void (*handler)(int, siginfo_t*, void*) = nullptr;
  ProgramHandle program;
  QueueHandle queue;
  MemoryHandle buffer;
};

// LLVM installs handlers of its own when it first writes a file. Where they replace ours, a fault of two threads at
// once ends the process.
TEST_F(KernelGuardTest, ACompilerInTheProcessDoesNotReplaceTheHandlers) { EXPECT_EQ(segv_handler(), handler); }

TEST_F(KernelGuardTest, AFaultFailsItsLaunchAndNoOther) {
  const std::uint64_t before = backend->kernel_fault_count();
  EXPECT_EQ(run("good"), status::kComplete);
  EXPECT_EQ(run("bad"), status::kOutOfResources);
  EXPECT_EQ(run("good"), status::kComplete);
  EXPECT_EQ(backend->kernel_fault_count(), before + 1) << "a launch counts once, however many of its groups fault";
  const auto faults = backend->take_kernel_faults();
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(faults.back().kernel, "bad");
  EXPECT_EQ(faults.back().signal, SIGSEGV);
}

TEST_F(KernelGuardTest, AGroupKnowsItsPlaceInAllDimensions) {
  ASSERT_EQ(run("where", {8, 6, 4}, {4, 2, 1}), status::kComplete);
  std::vector<int> found(std::size_t{8} * 6 * 4);
  const BufferTransfer read{false, buffer, 0, std::as_writable_bytes(std::span(found)), true};
  ASSERT_EQ(backend->submission().submit(*queue, read, nullptr), status::kSuccess);
  backend->submission().finish(*queue);
  for (int z = 0; z < 4; ++z) {
    for (int y = 0; y < 6; ++y) {
      for (int x = 0; x < 8; ++x) {
        EXPECT_EQ(found[static_cast<std::size_t>(x + 8 * (y + 6 * z))], x / 4 + 10 * (y / 2) + 100 * z);
      }
    }
  }
}

}  // namespace
}  // namespace wm::runtime
