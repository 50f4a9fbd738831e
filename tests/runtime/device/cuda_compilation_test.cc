// Programs of the CUDA backend: they are loaded when they are built or linked, and say why they are not.
#include <cstring>
#include <gtest/gtest.h>

#include "runtime/device/cuda/backend.h"
#include "runtime/device/fake_cuda.h"
#include "runtime/device/ptx_front_end.h"

namespace wm::runtime::cuda {
namespace {

const std::string kStraightLine = ptx_kernel("straight", ".param .u32 n", "ld.param.u32 %r1, [n]; ret;");
const std::string kLooping = ptx_kernel(
    "loop", ".param .u64 .ptr .global .align 4 out, .param .u64 .ptr .shared .align 4 scratch, .param .u32 n",
    "ld.param.u32 %r2, [n]; mov.u32 %r1, 0; again: add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra again; "
    "ret;");

struct CudaPrograms : testing::Test {
  CudaPrograms() {
    fake.static_shared = 48;
    backend.emplace(std::move(*Device::open(FakeCuda::install(fake))), std::make_unique<PtxFrontEnd>());
  }
  Compilation& compiler() { return backend->compilation(); }
  ProgramHandle source(const std::string& text) { return compiler().program_from_source(text).object; }
  // The log of a program that does not build.
  std::string failure(const std::string& text) {
    const ProgramHandle program = source(text);
    EXPECT_EQ(compiler().build(*program, ""), status::kBuildProgramFailure);
    EXPECT_TRUE(compiler().build_failed(*program));
    EXPECT_FALSE(compiler().create_kernel(*program, "straight").object);
    return compiler().build_log(*program).c_str();
  }
  FakeCuda fake;
  std::optional<CudaBackend> backend;
};

TEST_F(CudaPrograms, AProgramThatIsNotLoadedSaysWhy) {
  EXPECT_NE(failure("no binary").find("the compiler gives no PTX"), std::string::npos);
  EXPECT_NE(failure("no PTX").find("cannot be loaded with the CUDA driver"), std::string::npos);
  const ProgramHandle failed = source("failed");
  EXPECT_TRUE(compiler().build_failed(*failed)) << "the compiler says so";
  EXPECT_FALSE(compiler().build_failed(*source(opencl_ptx(kStraightLine))));
}

TEST_F(CudaPrograms, AProgramIsBuiltWithoutAKernelThatIsRefusedAndSaysWhy) {
  const std::string refused = ptx_kernel("taken", ".param .u64 .ptr .shared .align 4 a", "mov.b64 %d1, a; ret;");
  const ProgramHandle program = source(opencl_ptx(refused + kStraightLine));
  ASSERT_EQ(compiler().build(*program, ""), status::kSuccess);
  EXPECT_FALSE(compiler().build_failed(*program));
  EXPECT_TRUE(compiler().create_kernel(*program, "straight").object);
  EXPECT_FALSE(compiler().create_kernel(*program, "taken").object);
  EXPECT_NE(compiler().build_log(*program).find("kernel 'taken' cannot run on the CUDA driver: the __local parameter"),
            std::string::npos);
}

TEST_F(CudaPrograms, ClientsThatAskForTheBuildLearnWhatTheDriverRefused) {
  constexpr PropertyName kBuildStatus = 0x1181, kBuildLog = 0x1183;
  const ProgramHandle program = source("no PTX");
  ASSERT_EQ(compiler().build(*program, ""), status::kBuildProgramFailure);
  std::vector<std::byte> answer;
  ASSERT_EQ(compiler().build_info(*program, kBuildLog, answer), status::kSuccess);
  EXPECT_NE(std::string(reinterpret_cast<const char*>(answer.data())).find("cannot be loaded"), std::string::npos);
  ASSERT_EQ(compiler().build_info(*program, kBuildStatus, answer), status::kSuccess);
  std::int32_t built = 0;
  std::memcpy(&built, answer.data(), sizeof built);
  EXPECT_EQ(built, -2) << "CL_BUILD_ERROR";
}

TEST_F(CudaPrograms, TheDriverAnswersQueriesThatTheCompilerCannot) {
  constexpr PropertyName kLocalMemorySize = 0x11b2;
  const ProgramHandle program = source(opencl_ptx(kStraightLine));
  ASSERT_EQ(compiler().build(*program, ""), status::kSuccess);
  const KernelHandle kernel = compiler().create_kernel(*program, "straight").object;
  ASSERT_TRUE(kernel);
  std::vector<std::byte> answer;
  ASSERT_EQ(compiler().group_info(*kernel, kLocalMemorySize, answer), status::kSuccess);
  std::uint64_t bytes = 0;
  std::memcpy(&bytes, answer.data(), sizeof bytes);
  EXPECT_EQ(bytes, 48U);
  EXPECT_EQ(compiler().group_info(*kernel, 0, answer), status::kInvalidValue);
}

TEST_F(CudaPrograms, TextBehindAZeroIsLeftOut) {
  const ProgramHandle program = source(opencl_ptx(kStraightLine) + std::string("\0rest that is no PTX", 21));
  EXPECT_EQ(compiler().build(*program, ""), status::kSuccess);
}

TEST_F(CudaPrograms, AProgramIsLinkedFromItsPartsAndLoaded) {
  const ProgramHandle header = source(opencl_ptx("")), first = source(kStraightLine), second = source(kLooping);
  const Compilation::Header headers[] = {{"head.h", header}};
  ASSERT_EQ(compiler().compile(*first, "", headers), status::kSuccess);
  ASSERT_EQ(compiler().compile(*second, "", {}), status::kSuccess);
  const ProgramHandle parts[] = {first, second};
  const auto linked = compiler().link(parts, "");
  ASSERT_EQ(linked.status, status::kSuccess);
  EXPECT_TRUE(compiler().create_kernel(*linked.object, "straight").object);
  EXPECT_TRUE(compiler().create_kernel(*linked.object, "loop").object);
}

TEST_F(CudaPrograms, AProgramThatIsLinkedAndNotLoadedIsAFailure) {
  const ProgramHandle parts[] = {source("no PTX")};
  const auto linked = compiler().link(parts, "");
  EXPECT_EQ(linked.status, status::kLinkProgramFailure);
  ASSERT_TRUE(linked.object);
  EXPECT_TRUE(compiler().build_failed(*linked.object));
  const auto library = compiler().link(parts, "library");
  EXPECT_EQ(library.status, status::kSuccess) << "a library is not loaded";
  EXPECT_FALSE(compiler().build_failed(*library.object));
  const auto none = compiler().link(parts, "fail");
  EXPECT_EQ(none.status, status::kLinkProgramFailure);
  EXPECT_FALSE(none.object);
}

TEST_F(CudaPrograms, KernelsWithLoopsHaveGates) {
  const ProgramHandle program = source(opencl_ptx(kStraightLine + kLooping));
  ASSERT_EQ(compiler().build(*program, ""), status::kSuccess);
  const auto straight = compiler().create_kernel(*program, "straight"),
             loop = compiler().create_kernel(*program, "loop");
  ASSERT_TRUE(straight.object && loop.object);
  EXPECT_EQ(of(*straight.object).gated, nullptr);
  EXPECT_NE(of(*loop.object).gated, nullptr);
  EXPECT_EQ(of(*loop.object).workers, nullptr) << "nobody asked for workers";
}

TEST_F(CudaPrograms, TheTextOfAKernelTellsItsParameters) {
  const ProgramHandle program = source(opencl_ptx(kLooping));
  ASSERT_EQ(compiler().build(*program, ""), status::kSuccess);
  const auto kernel = compiler().create_kernel(*program, "loop");
  ASSERT_TRUE(kernel.object);
  const KernelInfo info = compiler().properties(*kernel.object);
  EXPECT_EQ(info.parameters,
            (std::vector<ParameterKind>{ParameterKind::memory, ParameterKind::local, ParameterKind::value}));
  EXPECT_EQ(info.local_bytes, 48U);
  EXPECT_EQ(info.max_items, 1024U);
  EXPECT_EQ(info.workers->refusal, "the rewriter has no workers for it");
}

// NVIDIA's compiler tells a smaller limit than its driver has. A client that did not know would wait for the start of
// each launch of larger groups.
TEST_F(CudaPrograms, GroupsUpToTheLimitOfTheDriverAreCertainToBeAccepted) {
  CudaBackend other(std::move(*Device::open(FakeCuda::install(fake))), std::make_unique<PtxFrontEnd>(256));
  const ProgramHandle program = other.compilation().program_from_source(opencl_ptx(kStraightLine)).object;
  ASSERT_EQ(other.compilation().build(*program, ""), status::kSuccess);
  const auto kernel = other.compilation().create_kernel(*program, "straight");
  ASSERT_TRUE(kernel.object);
  const KernelInfo info = other.compilation().properties(*kernel.object);
  EXPECT_EQ(info.max_items, 256U);
  EXPECT_EQ(info.accepted_items, 1024U);
}

}  // namespace
}  // namespace wm::runtime::cuda
