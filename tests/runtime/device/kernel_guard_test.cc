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
    "kernel void bad(global int* x) { x[(long)1 << 40] = 1; }\n";

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
  Status run(const std::string& name) {
    const KernelHandle kernel = backend->compilation().create_kernel(*program, name).object;
    const KernelArgument argument{ArgumentKind::memory, 0, nullptr, buffer.get(), nullptr};
    KernelLaunch launch;
    launch.kernel = kernel.get();
    launch.arguments = {&argument, 1};
    launch.global = {kItems, 1, 1};
    launch.local = Size3{64, 1, 1};
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

}  // namespace
}  // namespace wm::runtime
