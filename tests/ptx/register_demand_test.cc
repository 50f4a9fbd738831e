#include <gtest/gtest.h>

#include "ptx/analysis.h"
#include "ptx/parse.h"
#include "ptx/value_cost.h"

namespace wm::ptx {
namespace {

Module module_with(const std::string& functions) {
  auto module = parse(".version 8.0\n.target sm_80\n.address_size 64\n.shared .b32 tile[64];\n" + functions);
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return *std::move(module);
}

Module kernel_of(const std::string& body) {
  return module_with(
      ".entry k(.param .u64 a, .param .u32 n) { .reg .pred %p<8>; .reg .b32 %r<90>; .reg .b64 %rd<40>; .reg .f32 "
      "%f<90>; " +
      body + " }");
}

std::uint32_t words_of(const Module& module, const std::string& name) {
  const Function& function = module.functions.back();
  for (std::uint32_t r = 0; r < function.registers.size(); ++r)
    if (function.registers[r].name == name) return ValueCost(function).words(r);
  ADD_FAILURE() << name << " is not in use";
  return 0;
}

TEST(ValueCost, ConstantsParametersAndWhatAWarpSharesNeedNoRegister) {
  const Module m = kernel_of(
      "mov.u32 %r1, 7; ld.param.u32 %r2, [n]; mov.u32 %r3, %ctaid.x; mad.lo.s32 %r4, %r3, %r2, %r1; mov.u32 %r5, "
      "%tid.x;"
      "add.s32 %r6, %r4, %r5; ld.param.u64 %rd1, [a]; st.global.u32 [%rd1], %r6;");
  EXPECT_EQ(words_of(m, "%r1"), 0U);
  EXPECT_EQ(words_of(m, "%r2"), 0U);
  EXPECT_EQ(words_of(m, "%r4"), 0U);
  EXPECT_EQ(words_of(m, "%rd1"), 0U);
  EXPECT_EQ(words_of(m, "%r5"), 1U);
  EXPECT_EQ(words_of(m, "%r6"), 1U);
}

TEST(ValueCost, AnAddressInSharedMemoryIsOneWordAndInGlobalMemoryTwo) {
  const Module m = kernel_of(
      "mov.u32 %r1, %tid.x; mov.u64 %rd1, tile; cvt.u64.u32 %rd2, %r1; shl.b64 %rd3, %rd2, 2; add.s64 %rd4, %rd1, %rd3;"
      "ld.shared.u32 %r2, [%rd4]; ld.param.u64 %rd5, [a]; add.s64 %rd6, %rd5, %rd3; st.global.u32 [%rd6], %r2;");
  EXPECT_EQ(words_of(m, "%rd4"), 1U);
  EXPECT_EQ(words_of(m, "%rd6"), 2U);
  EXPECT_EQ(words_of(m, "%rd3"), 0U) << "a widened and scaled index is made again where it is read";
}

TEST(RegisterDemand, ASmallKernelHasTheMinimum) {
  const Module m = kernel_of("ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; st.global.u32 [%rd1], %r1; ret;");
  EXPECT_EQ(register_demand(m, m.functions[0]).registers, 12U);
  EXPECT_EQ(register_demand(m, m.functions[0]).predicates, 0U);
}

// `count` values loaded first and all summed afterwards, with a barrier so that no order avoids having them at once.
std::string gathered(int count) {
  std::string text =
      "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; ";
  for (int i = 0; i < count; ++i)
    text += "ld.global.f32 %f" + std::to_string(i) + ", [%rd3+" + std::to_string(4 * i) + "]; ";
  text += "bar.sync 0; ";
  for (int i = 1; i < count; ++i) text += "add.f32 %f0, %f0, %f" + std::to_string(i) + "; ";
  return text + "st.global.f32 [%rd3], %f0; ret;";
}

TEST(RegisterDemand, GrowsWithWhatIsLiveAtOnce) {
  for (const int count : {40, 60, 80}) {
    const Module m = kernel_of(gathered(count));
    const std::uint32_t registers = register_demand(m, m.functions[0]).registers;
    EXPECT_GE(registers, static_cast<std::uint32_t>(count) + 2);
    EXPECT_LE(registers, static_cast<std::uint32_t>(count) + 10);
  }
}

TEST(RegisterDemand, CountsPredicatesApart) {
  const Module m = kernel_of(
      "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 1; setp.eq.s32 %p2, %r1, 2; setp.eq.s32 %p3, %r1, 3;"
      "@%p1 mov.u32 %r2, 1; @%p2 mov.u32 %r2, 2; @%p3 mov.u32 %r2, 3; ld.param.u64 %rd1, [a]; st.global.u32 [%rd1], "
      "%r2;");
  EXPECT_EQ(register_demand(m, m.functions[0]).predicates, 3U);
}

TEST(RegisterDemand, ACallNeedsWhatIsLiveAcrossItAndTheCallee) {
  const std::string callee = ".func f() { .reg .b32 %r<3>; .reg .b64 %rd<3>; st.global.u32 [%rd1], %r1; ret; }";
  const std::string entry = ".entry k(.param .u64 a) { .reg .b32 %r<90>; .reg .b64 %rd<40>; .reg .f32 %f<90>; ";
  std::string body = gathered(40);
  const Module without = module_with(callee + entry + body + " }");
  body.replace(body.find("bar.sync 0;"), 11, "call f;");
  const Module with = module_with(callee + entry + body + " }");
  EXPECT_GE(register_demand(with, with.functions[1]).registers,
            register_demand(without, without.functions[1]).registers + 10);
}

TEST(RegisterDemand, ARecursionEndsAtTheEncodingsLimit) {
  const Module m = module_with(
      ".func f() { .reg .b32 %r<3>; .reg .b64 %rd<3>; mov.u32 %r1, %tid.x; call f; st.global.u32 [%rd1], %r1; ret; }"
      ".entry k() { call f; ret; }");
  EXPECT_EQ(register_demand(m, m.functions[1]).registers, 255U);
}

}  // namespace
}  // namespace wm::ptx
