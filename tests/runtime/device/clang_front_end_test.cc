// Parts of our own OpenCL compiler that need neither clang nor libclc.
#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>

#include "runtime/device/cuda/clang_compilation.h"
#include "runtime/device/cuda/clang_device_info.h"
#include "runtime/device/cuda/clang_program.h"
#include "runtime/device/cuda/front_end.h"

namespace wm::runtime::cuda {
namespace {

using rewrite::CompileReply;
using testing::HasSubstr;

CompileReply executable() {
  CompileReply reply;
  reply.outcome = CompileReply::Outcome::executable;
  reply.code = ".version 7.8\n";
  reply.kernels = {{"f", {{"in", "float*", "global", "none", "const"}}, "reqd_work_group_size(8,1,1)", {8, 1, 1}}};
  return reply;
}

TEST(ClangProgram, BinariesKeepTheirKindCodeAndKernels) {
  for (const auto outcome :
       {CompileReply::Outcome::object, CompileReply::Outcome::library, CompileReply::Outcome::executable}) {
    CompileReply reply = executable();
    reply.outcome = outcome;
    if (outcome != CompileReply::Outcome::executable) reply.kernels.clear();
    const auto again = read_clang_binary(clang_binary(reply));
    ASSERT_TRUE(again.ok()) << again.error().what;
    EXPECT_EQ(again->outcome, outcome);
    EXPECT_EQ(again->code, reply.code);
    EXPECT_EQ(again->kernels, reply.kernels);
  }
  EXPECT_EQ(clang_binary({}), "");
}

TEST(ClangProgram, OtherBinariesAreRefused) {
  const std::string binary = clang_binary(executable());
  for (const std::string& other :
       {std::string(), std::string("PTX without kernels"), binary.substr(0, binary.size() - 1), binary + "more"}) {
    EXPECT_FALSE(read_clang_binary(other).ok());
    ClangCompilation compilation{{}};
    EXPECT_EQ(compilation.program_from_binary(other).status, status::kInvalidBinary);
  }
}

TEST(ClangProgram, ACompilerThatEndsFailsOneBuildAndSaysSo) {
  for (const auto& [program, reason] : {std::pair{"/bin/false", "the OpenCL compiler ended its process"},
                                        std::pair{"/nonexistent", "cannot start /nonexistent"}}) {
    ClangCompilation compilation{{.program = program, .library = "", .target = "sm_70"}};
    const ProgramHandle source = compilation.program_from_source("kernel void f() {}").object;
    EXPECT_EQ(compilation.build(*source, ""), status::kBuildProgramFailure);
    EXPECT_TRUE(compilation.build_failed(*source));
    EXPECT_THAT(compilation.build_log(*source), HasSubstr(reason));
    EXPECT_EQ(compilation.create_kernel(*source, "f").status, status::kInvalidProgramExecutable);
  }
}

TEST(ClangProgram, OnlyObjectsAndLibrariesAreLinked) {
  ClangCompilation compilation{{}};
  const ProgramHandle parts[] = {compilation.program_from_source("kernel void f() {}").object};
  EXPECT_EQ(compilation.link(parts, "").status, status::kInvalidOperation);
}

TEST(ClangProgram, AMissingCompilerIsNamed) {
  ::unsetenv("WM_COMPILE");
  EXPECT_THAT(open_clang({}).error().what, HasSubstr("wm-compile was not found"));
}

TEST(ClangDeviceInfo, IsWhatTheDriverSays) {
  DeviceFacts facts;
  facts.name = "A100";
  facts.multiprocessors = 108;
  facts.memory_bytes = 40ULL << 30;
  facts.driver_version = 12040;
  const auto text = [&](PropertyName name) {
    std::vector<std::byte> answer;
    EXPECT_EQ(clang_device_info(facts, name, answer), status::kSuccess);
    return std::string(reinterpret_cast<const char*>(answer.data()));
  };
  const auto number = [&](PropertyName name) {
    std::vector<std::byte> answer;
    EXPECT_EQ(clang_device_info(facts, name, answer), status::kSuccess);
    std::uint64_t value = 0;
    std::memcpy(&value, answer.data(), answer.size());
    return value;
  };
  EXPECT_EQ(text(CL_DEVICE_NAME), "A100");
  EXPECT_EQ(text(CL_DRIVER_VERSION), "CUDA 12.4");
  EXPECT_EQ(number(CL_DEVICE_MAX_COMPUTE_UNITS), 108U);
  EXPECT_EQ(number(CL_DEVICE_GLOBAL_MEM_SIZE), 40ULL << 30);
  EXPECT_EQ(number(CL_DEVICE_MAX_WORK_GROUP_SIZE), 1024U);
  EXPECT_EQ(number(CL_DEVICE_TYPE), CL_DEVICE_TYPE_GPU);
  std::vector<std::byte> answer;
  EXPECT_EQ(clang_device_info(facts, 0, answer), status::kInvalidValue);
  ASSERT_EQ(clang_device_info(facts, CL_DEVICE_MAX_WORK_ITEM_SIZES, answer), status::kSuccess);
  Size3 sizes{};
  ASSERT_EQ(answer.size(), sizeof sizes);
  std::memcpy(&sizes, answer.data(), sizeof sizes);
  EXPECT_EQ(sizes, (Size3{1024, 1024, 64}));
}

}  // namespace
}  // namespace wm::runtime::cuda
