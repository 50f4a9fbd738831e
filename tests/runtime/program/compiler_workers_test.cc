// Workers that the device's compiler makes, on the CUDA backend with a fake driver.
#include <gtest/gtest.h>

#include "runtime/device/cuda/backend.h"
#include "runtime/device/fake_cuda.h"
#include "runtime/device/ptx_front_end.h"
#include "runtime/program/worker_program.h"

namespace wm::runtime::test {
namespace {

struct CompilerWorkersTest : testing::Test {
  CompilerWorkersTest() {
    fake.static_shared = 64;
    fake.registers = 24;
    backend.emplace(std::move(*cuda::Device::open(cuda::FakeCuda::install(fake))),
                    std::make_unique<cuda::PtxFrontEnd>());
    backend->make_workers();
    Compilation& compiler = backend->compilation();
    const ProgramHandle program = compiler
                                      .program_from_source(cuda::opencl_ptx(cuda::ptx_kernel(
                                          "k", ".param .u64 .ptr .global .align 4 out",
                                          "ld.param.u64 %d1, [out]; mov.u32 %r1, 5; st.global.u32 [%d1], %r1; ret;")))
                                      .object;
    EXPECT_EQ(compiler.build(*program, ""), status::kSuccess);
    kernel.handle = compiler.create_kernel(*program, "k").object;
    kernel.name = "k";
    kernel.program = std::make_shared<Program>();
  }
  std::shared_ptr<const KernelForm> form(bool rewrites) {
    kernel.form = nullptr;
    return WorkerPrograms(*backend, counts, compilers, rewrites ? &rewriter : nullptr, sandbox, true).of(kernel);
  }

  cuda::FakeCuda fake;
  std::optional<cuda::CudaBackend> backend;
  rewrite::Rewriter rewriter{{.worker = "", .cache_folder = ""}};
  ObjectCounts counts;
  Compilers compilers;
  sandbox::Sandbox sandbox{{}};
  Kernel kernel;
};

TEST_F(CompilerWorkersTest, AreLaunchedByTheKernelsOwnObject) {
  const auto workers = form(true);
  EXPECT_EQ(workers->workers, kernel.handle);
  EXPECT_EQ(workers->not_rewritten_reason, "");
  const KernelInfo info = backend->compilation().properties(*kernel.handle);
  ASSERT_TRUE(info.workers.has_value());
  EXPECT_EQ(workers->chunk, info.workers->chunk);
  EXPECT_EQ(workers->max_chunk, 8U);
  EXPECT_EQ(workers->registers, 24U);
  EXPECT_EQ(workers->undivided_registers, 24U);
  EXPECT_EQ(workers->max_items, 1024U);
  EXPECT_EQ(workers->extra_local_bytes, 0U) << "as much as the kernel itself";
}

TEST_F(CompilerWorkersTest, AreNotUsedWithoutRewritingOrWithPrintf) {
  EXPECT_EQ(form(false)->not_rewritten_reason, "rewriting is off");
  EXPECT_EQ(form(false)->workers, nullptr);
  kernel.program->uses_printf = true;
  EXPECT_EQ(form(true)->not_rewritten_reason, "its program prints");
  EXPECT_EQ(form(true)->workers, nullptr);
}

}  // namespace
}  // namespace wm::runtime::test
