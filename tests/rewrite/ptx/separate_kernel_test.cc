// Kernels in modules of their own use the variables of the module they come from.
#include "rewrite/ptx/separate_kernel.h"

#include "ptx/parse.h"
#include "ptx/print.h"
#include "rewrite/ptx/rewritten.h"

namespace wm::rewrite {
namespace {

const std::string kSeparateHead = ".version 7.8\n.target sm_75\n.address_size 64\n";

std::optional<std::uint64_t> fixed_address(const std::string& variable) {
  return variable.starts_with("hidden") ? std::nullopt : std::optional<std::uint64_t>(0x7f0000000000U);
}

std::string separated(const std::string& text) {
  const auto module = separate_kernel(parsed(kSeparateHead + text), "k", fixed_address);
  return module ? ptx::print(*module) : "refused: " + module.error().what;
}

std::string kernel_of(const std::string& instructions) {
  return ".visible .entry k(.param .u64 out) {\n.reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p<2>;\n" + instructions +
         "\nret;\n}\n";
}

TEST(SeparateKernel, VariablesBecomeTheirAddresses) {
  const std::string text =
      separated(".global .u32 count;\n" + kernel_of("ld.global.u32 %r1, [count+4]; mov.u64 %d1, count;"));
  EXPECT_EQ(text.find("count"), std::string::npos) << text;
  EXPECT_NE(text.find("139637976727552"), std::string::npos) << text;
  EXPECT_NE(text.find("+4]"), std::string::npos) << text;
}

TEST(SeparateKernel, AnInternalKernelBecomesVisible) {
  EXPECT_NE(separated(".entry k() { ret; }\n").find(".visible .entry k"), std::string::npos);
}

TEST(SeparateKernel, LinesOfTheSourceComeWithTheirFiles) {
  const std::string text =
      separated(".file 1 \"kernel.cu\"\n.global .u32 count;\n" + kernel_of(".loc 1 7 3\nmov.u64 %d1, count;"));
  const auto again = ptx::parse(text, "separated");
  ASSERT_TRUE(again.ok()) << again.error().to_string() << "\n" << text;
  ASSERT_EQ(again->files.size(), 2U);
  EXPECT_EQ(again->files[1], "kernel.cu");
  EXPECT_EQ(again->functions[0].body.back().source, (ptx::SourceLine{1, 7, 3}));
}

TEST(SeparateKernel, ConstantsAreReadFromGlobalMemory) {
  const std::string text = separated(".const .u32 factor;\n" + kernel_of("ld.const.u32 %r1, [factor];"));
  EXPECT_NE(text.find("ld.global.u32"), std::string::npos) << text;
  EXPECT_EQ(text.find("const"), std::string::npos) << text;
}

TEST(SeparateKernel, ConstantsThatTheHostCannotReachAreCopied) {
  const std::string text = separated(".const .u32 hidden = 7;\n" + kernel_of("ld.const.u32 %r1, [hidden];"));
  EXPECT_NE(text.find(".const"), std::string::npos) << text;
  EXPECT_NE(text.find("ld.const.u32"), std::string::npos) << text;
  EXPECT_EQ(separated(".const .u32 factor;\n.const .u32 hidden = 7;\n" +
                      kernel_of("ld.const.u32 %r1, [hidden]; ld.const.u32 %r2, [factor];")),
            "refused: only some of its constants have addresses");
}

TEST(SeparateKernel, SharedVariablesAndCalledFunctionsComeAlong) {
  const std::string text = separated(
      ".global .u32 other;\n.shared .u32 tile[32];\n.func unused() { ret; }\n"
      ".func helper() { .reg .b32 %r<2>; ld.shared.u32 %r1, [tile]; ret; }\n.visible .entry second() { ret; }\n" +
      kernel_of("call.uni helper;"));
  for (const char* needed : {"tile", "helper", "call"}) EXPECT_NE(text.find(needed), std::string::npos) << text;
  for (const char* dropped : {"other", "unused", "second"}) EXPECT_EQ(text.find(dropped), std::string::npos) << text;
  EXPECT_TRUE(ptx::parse(text));
}

TEST(SeparateKernel, AReasonIsGivenForEachRefusal) {
  EXPECT_EQ(separated(".global .u32 hidden;\n" + kernel_of("ld.global.u32 %r1, [hidden];")),
            "refused: the driver gives no address for its variable 'hidden'");
  EXPECT_EQ(separated(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n" +
                      kernel_of("{ .param .b64 a; .param .b64 b; .param .b32 r; call.uni (r), vprintf, (a, b); }")),
            "refused: it calls 'vprintf' of the driver or of another module");
  EXPECT_EQ(separated(kernel_of("L: ld.volatile.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;")),
            "refused: a loop of it may wait for another block");
  EXPECT_EQ(separated(kernel_of("mov.u32 %r1, %envreg1;")), "refused: it synchronises its grid (%envreg)");
  EXPECT_EQ(separated(".global .texref picture;\n" +
                      kernel_of(".reg .f32 %f<5>; tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [picture, {%r1}];")),
            "refused: it uses the texture or surface 'picture'");
  EXPECT_EQ(separated(".visible .entry other() { ret; }\n"), "refused: its PTX is not in the program");
}

}  // namespace
}  // namespace wm::rewrite
