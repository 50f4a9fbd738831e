// Operands that an instruction takes, each beside one that it does not.
#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

Result<Module> kernel_with(const std::string& line) {
  return parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.shared .b32 s[4];\n.visible .entry k(.param .u64 a)\n{\n"
      ".reg .pred %p<4>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .f64 %d<8>; .reg "
      ".s32 %s<4>; "
      ".reg .u32 %u<4>; .reg .f16 %x<4>;\n" +
          line + "\nret;\n}\n",
      "f.ptx");
}

void expect_taken(std::initializer_list<const char*> lines) {
  for (const char* line : lines) {
    const auto module = kernel_with(line);
    EXPECT_TRUE(module.ok()) << line << ": " << module.error().to_string();
  }
}

// Refused because of an operand, not of its name.
void expect_refused(std::initializer_list<const char*> lines) {
  for (const char* line : lines) {
    const auto module = kernel_with(line);
    ASSERT_FALSE(module.ok()) << line;
    EXPECT_NE(module.error().to_string().find("operand"), std::string::npos) << module.error().to_string();
  }
}

TEST(Operands, RegistersHaveTheWidthAndClassOfTheType) {
  expect_taken({"add.s32 %u1, %r1, %s1;", "add.u32 %s1, %u1, 5;", "add.f32 %f1, %r1, %f2;", "mov.b32 %r1, %f1;"});
  expect_refused({"add.s32 %rd1, %r1, %r2;", "add.s32 %r1, %h1, %r2;", "add.s32 %r1, %rd1, %r2;",
                  "add.s32 %f1, %r1, %r2;", "add.s32 %p1, %r1, %r2;", "and.pred %p1, %r1, %p2;",
                  "add.f32 %f1, %s1, %f2;", "add.f32 %f1, %f2, 3;", "add.u32 5, %r1, %r2;",
                  "mul.wide.u32 %r1, %r2, %r3;", "setp.eq.s32 %r1, %r2, %r3;"});
}

TEST(Operands, PackedTypesLiveInAnyRegisterOfTheirWidth) {
  expect_taken({"add.u16x2 %r1, %u1, %s1;", "add.s16x2 %r1, %r2, %r3;", "cvt.rn.satfinite.e4m3x2.f32 %h1, %f1, %f2;",
                "cvt.rn.satfinite.e5m2x2.f32 %h1, %f1, %f2;", "cvt.rn.f16x2.e4m3x2 %r1, %h1;",
                "cvt.rn.f16x2.e5m2x2 %r1, %h1;"});
  expect_refused({"add.u16x2 %rd1, %r2, %r3;", "cvt.rn.satfinite.e4m3x2.f32 %r1, %f1, %d2;"});
}

TEST(Operands, FloatLiteralsAreBitsOfTheirWidth) {
  expect_taken({"mov.b32 %r1, 0f3F800000;", "mov.b64 %rd1, 0d3FF0000000000000;",
                "add.f32 %f1, %f2, 0d3FF0000000000000;", "add.f64 %d1, %d2, 0f3F800000;"});
  expect_refused({"mov.b64 %rd1, 0f3F800000;", "mov.b32 %r1, 0d3FF0000000000000;", "add.s32 %r1, %r2, 0f3F800000;",
                  "mov.u32 %r1, 0f3F800000;"});
}

TEST(Operands, LiteralsBecomeThoseOfTheType) {
  const auto literal = [](const char* line) {
    const auto module = kernel_with(line);
    return module ? module->functions[0].body[0].operands[2] : Operand{};
  };
  EXPECT_EQ(literal("add.f64 %d1, %d2, 0f3F800000;").kind, Operand::Kind::f64);
  EXPECT_EQ(literal("add.f64 %d1, %d2, 0f3F800000;").bits, 0x3ff0000000000000U);
  EXPECT_EQ(literal("add.f32 %f1, %f2, 0d3FF0000000000000;").kind, Operand::Kind::f32);
  EXPECT_EQ(literal("add.f32 %f1, %f2, 0d3FF0000000000000;").bits, 0x3f800000U);
  const auto stored = kernel_with("st.global.v2.f32 [%rd1], {0d3FF0000000000000, %f1};");
  ASSERT_TRUE(stored.ok()) << stored.error().to_string();
  EXPECT_EQ(stored->functions[0].body[0].operands[1].elements[0].bits, 0x3f800000U);
}

TEST(Operands, PairsAreAResultAndAPredicate) {
  expect_taken({"shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;", "shfl.sync.idx.b32 %r1|_, %r2, 0, 31, -1;",
                "shfl.sync.idx.b32 _|%p1, %r2, 0, 31, -1;"});
  expect_refused({"shfl.sync.idx.b32 %rd1|%p1, %r2, 0, 31, -1;", "shfl.sync.idx.b32 %r1|%r3, %r2, 0, 31, -1;",
                  "add.s32 %r1|%p1, %r2, %r3;", "shfl.sync.idx.b32 %r1|%h1, %r2, 0, 31, -1;"});
}

TEST(Operands, LoadsAndStoresTakeWiderRegistersAndVectors) {
  expect_taken({"ld.global.u8 %r1, [%rd1];", "ld.global.u16 %rd2, [%rd1];",
                "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1];", "ld.global.v2.f64 {%d1,_}, [%rd1];",
                "st.global.u32 [%rd1], 5;", "st.global.v2.u32 [%rd1], {%r1, 5};",
                "ld.global.v4.u32 {%r1,_,_,%r2}, [%rd1];"});
  expect_refused({"ld.global.u32 %h1, [%rd1];", "ld.global.v4.f64 {%d1,%d2,%d3,%d4}, [%rd1];",
                  "ld.global.u32 _, [%rd1];", "ld.global.v2.u32 {%r1,%r2,%r3}, [%rd1];",
                  "ld.global.v2.u32 %r1, [%rd1];", "st.global.v2.u32 [%rd1], {%r1,_};",
                  "ld.global.v2.u32 {%r1,5}, [%rd1];", "ld.global.u32 {%r1,%r2}, [%rd1];", "ld.global.u32 5, [%rd1];"});
}

TEST(Operands, VectorsOfMatrixFragmentsAreExact) {
  expect_taken({"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1,%r2}, [%r3];"});
  expect_refused({"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1,%r2,%r4}, [%r3];",
                  "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%rd1,%r2}, [%r3];",
                  "ldmatrix.sync.aligned.m8n8.x2.shared.b16 %r1, [%r3];"});
}

TEST(Operands, PacksTogetherHaveTheWidthOfTheOtherOperand) {
  expect_taken({"mov.b32 %r1, {%h1,%h2};", "mov.b64 %rd1, {%r1,%r2};", "mov.b64 {%r1,%r2}, %rd1;",
                "mov.b64 {_,%r2}, %rd1;", "mov.b64 %rd1, {%h1,%h2,%h3,%h4};", "mov.b64 %rd1, {%r1,0};",
                "mov.b32 {%h1,%h2}, %r1;", "mov.b64 %rd1, {%r1,%clock};"});
  expect_refused({"mov.b32 %r1, {%r1,%r2};", "mov.b64 %rd1, {%h1,%h2};", "mov.b64 %rd1, {%r1,%r2,%r3};",
                  "mov.b64 {%r1,0}, %rd1;", "mov.b64 %rd1, {_,%r2};", "mov.b64 %rd1, {%rd1,%rd2};",
                  "mov.b64 %rd1, {%r1,%clock64};", "mov.b64 %rd1, {%rd2,0};"});
}

TEST(Operands, SpecialRegistersHaveAWidth) {
  expect_taken({"mov.u32 %r1, %tid.x;", "mov.u16 %h1, %tid.x;", "mov.u64 %rd1, %clock64;", "mov.u64 %rd1, s;",
                "mov.u32 %r1, s;"});
  expect_refused({"mov.u64 %rd1, %tid.x;", "mov.u32 %r1, %clock64;", "mov.u16 %h1, %clock64;", "mov.u16 %h1, s;",
                  "mov.u32 %r1, %rd1;", "mov.u32 %rd1, 5;"});
}

TEST(Operands, AddressesAreInIntegersOfWordsOrMore) {
  expect_taken({"ld.shared.u32 %r1, [%r2];", "ld.global.u32 %r1, [%rd2];", "ld.shared.u32 %r1, [s];"});
  expect_refused({"ld.shared.u32 %r1, [%h2];", "ld.shared.u32 %r1, [%f2];", "ld.global.u32 %r1, [%d2];",
                  "ld.shared.u32 %r1, %r2;"});
}

TEST(Operands, TexturesHaveHandlesAndCoordinates) {
  expect_taken(
      {"tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1}];", "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%f1,%f2}];",
       "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [a, {5}];", "tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1}];"});
  expect_refused(
      {"tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%r1, {%r1}];", "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%rd1}];",
       "tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%rd1, {%d1}];", "tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [5, {%r1}];"});
}

TEST(Operands, OneElementOfASurfaceMayStandInBraces) {
  for (const auto& [braces, plain] :
       {std::pair{"sust.b.2d.b32.trap [%rd1, {%r1,%r2}], {%r3};", "sust.b.2d.b32.trap [%rd1, {%r1,%r2}], %r3;"},
        std::pair{"suld.b.2d.b32.trap {%r3}, [%rd1, {%r1,%r2}];", "suld.b.2d.b32.trap %r3, [%rd1, {%r1,%r2}];"}}) {
    const auto one = kernel_with(braces);
    const auto other = kernel_with(plain);
    ASSERT_TRUE(one.ok()) << one.error().to_string();
    EXPECT_TRUE(*one == *other) << braces;
  }
  expect_refused({"sust.b.2d.b32.trap [%rd1, {%r1,%r2}], {%r3,%r4};", "st.global.u32 [%rd1], {%r3};",
                  "sust.b.2d.v2.b32.trap [%rd1, {%r1,%r2}], {%r3};"});
}

TEST(Operands, ConversionsTakeWiderRegisters) {
  expect_taken({"cvt.u8.u32 %r1, %r2;", "cvt.u32.u8 %r1, %r2;", "cvt.u32.u16 %r1, 5;", "cvt.u16.u32 %r1, %r2;"});
  expect_refused({"cvt.u32.u8 %h1, %r2;", "cvt.u32.u8 5, %r2;", "cvt.u64.u32 %rd1, %h2;"});
}

TEST(Operands, PredicatesMayBeNegatedWhereTheyAreRead) {
  expect_taken({"selp.b32 %r1, %r2, %r3, %p1;", "setp.eq.and.s32 %p1, %r1, %r2, !%p2;", "and.pred %p1, %p2, %p3;"});
  expect_refused({"selp.b32 %r1, %r2, %r3, %r1;", "setp.eq.and.s32 %p1, %r1, %r2, %r3;", "add.s32 %r1, !%p1, %r2;"});
}

TEST(Operands, SomeResultsMayBeDropped) {
  expect_taken({"mbarrier.arrive.shared.b64 _, [%r1];", "mbarrier.arrive.shared.b64 %rd1, [%r1];"});
  expect_refused({"mbarrier.arrive.shared.b64 %r1, [%r1];"});
}

}  // namespace
}  // namespace wm::ptx
