// Contraction follows ptxas: every case here was assembled by ptxas 13.0 for sm_90 and its SASS compared.
#include "ptx/contraction.h"

#include <gtest/gtest.h>

#include "ptx/dependencies.h"
#include "ptx/parse.h"
#include "ptx/schedule.h"

namespace wm::ptx {
namespace {

Function float_function(const std::string& body) {
  auto module = parse(
      ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 out)\n{\n.reg .pred %p<4>;\n.reg .b64 %a;\n"
      ".reg .f32 %f<32>;\n.reg .f64 %d<32>;\n.reg .b16 %h<32>;\n.reg .b32 %r<32>;\n" +
      body + "\nret;\n}\n");
  EXPECT_TRUE(module.ok()) << module.error().to_string() << "\n" << body;
  return module.ok() ? module->functions[0] : Function{};
}

std::string operand_text(const Function& f, const Operand& o) {
  const std::string text = o.kind == Operand::Kind::reg ? f.registers[o.index].name : std::to_string(o.bits);
  return (o.negated ? "-" : "") + text;
}

// The arithmetic of the contracted body: "fma %f4 %f1 %f2 -%f3; …", without stores, loads and branches.
std::string arithmetic(const std::string& body) {
  const Function f = contracted(float_function(body));
  std::string text;
  for (const Instruction& i : f.body) {
    if (i.opcode == Opcode::st || i.opcode == Opcode::ret || i.opcode == Opcode::bra || i.opcode == Opcode::setp)
      continue;
    text += (i.guard.present ? "@" : "") + std::string(name(i.opcode));
    if (i.has(Suffix::ftz)) text += ".ftz";
    if (i.has(Suffix::sat)) text += ".sat";
    for (const Operand& o : i.operands) text += " " + operand_text(f, o);
    text += "; ";
  }
  return text;
}

std::string stored(const std::string& registers) {
  std::string text;
  for (std::size_t at = 0; at < registers.size(); at += 5)
    text += "st.global.f32 [%a], " + registers.substr(at, 4) + ";";
  return text;
}

TEST(Contraction, AProductIsFusedIntoAnAdditionOnEitherSide) {
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; add.f32 %f11, %f10, %f3; st.global.f32 [%a], %f11;"),
            "fma %f11 %f1 %f2 %f3; ");
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; add.f32 %f11, %f3, %f10; st.global.f32 [%a], %f11;"),
            "fma %f11 %f1 %f2 %f3; ");
}

TEST(Contraction, ASubtractionNegatesTheAddendOrTheProduct) {
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; sub.f32 %f11, %f10, %f3; st.global.f32 [%a], %f11;"),
            "fma %f11 %f1 %f2 -%f3; ");
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; sub.f32 %f11, %f3, %f10; st.global.f32 [%a], %f11;"),
            "fma %f11 -%f1 %f2 %f3; ");
  EXPECT_EQ(arithmetic("mul.f32 %f10, 0f40000000, %f2; sub.f32 %f11, 0f3f800000, %f10; st.global.f32 [%a], %f11;"),
            "fma %f11 1073741824 -%f2 1065353216; ");
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; sub.f32 %f11, %f10, 0f3f800000; st.global.f32 [%a], %f11;"),
            "fma %f11 %f1 %f2 " + std::to_string(0xbf800000U) + "; ");
}

TEST(Contraction, AllTypesAreFused) {
  EXPECT_EQ(arithmetic("mul.f64 %d10, %d1, %d2; sub.f64 %d11, %d3, %d10; st.global.f64 [%a], %d11;"),
            "fma %d11 -%d1 %d2 %d3; ");
  EXPECT_EQ(arithmetic("mul.f16 %h10, %h1, %h2; add.f16 %h11, %h3, %h10; st.global.b16 [%a], %h11;"),
            "fma %h11 %h1 %h2 %h3; ");
  EXPECT_EQ(arithmetic("mul.bf16 %h10, %h1, %h2; add.bf16 %h11, %h3, %h10; st.global.b16 [%a], %h11;"),
            "fma %h11 %h1 %h2 %h3; ");
  EXPECT_EQ(arithmetic("mul.f16x2 %r10, %r1, %r2; add.f16x2 %r11, %r3, %r10; st.global.b32 [%a], %r11;"),
            "fma %r11 %r1 %r2 %r3; ");
}

TEST(Contraction, ARoundingOfEitherInstructionForbidsIt) {
  EXPECT_EQ(arithmetic("mul.rn.f32 %f10, %f1, %f2; add.f32 %f11, %f10, %f3; st.global.f32 [%a], %f11;"),
            "mul %f10 %f1 %f2; add %f11 %f10 %f3; ");
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; add.rn.f32 %f11, %f10, %f3; st.global.f32 [%a], %f11;"),
            "mul %f10 %f1 %f2; add %f11 %f10 %f3; ");
}

TEST(Contraction, FlushingMustAgreeAndOnlyTheSumMaySaturate) {
  EXPECT_EQ(arithmetic("mul.ftz.f32 %f10, %f1, %f2; add.f32 %f11, %f10, %f3; st.global.f32 [%a], %f11;"),
            "mul.ftz %f10 %f1 %f2; add %f11 %f10 %f3; ");
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; add.ftz.f32 %f11, %f10, %f3; st.global.f32 [%a], %f11;"),
            "mul %f10 %f1 %f2; add.ftz %f11 %f10 %f3; ");
  EXPECT_EQ(arithmetic("mul.ftz.f32 %f10, %f1, %f2; add.ftz.sat.f32 %f11, %f10, %f3; st.global.f32 [%a], %f11;"),
            "fma.ftz.sat %f11 %f1 %f2 %f3; ");
  EXPECT_EQ(arithmetic("mul.sat.f32 %f10, %f1, %f2; add.f32 %f11, %f10, %f3; st.global.f32 [%a], %f11;"),
            "mul.sat %f10 %f1 %f2; add %f11 %f10 %f3; ");
}

TEST(Contraction, OfTwoProductsTheFirstOperandIsFused) {
  const std::string both = "mul.f32 %f10, %f1, %f2; mul.f32 %f11, %f3, %f4; ";
  EXPECT_EQ(arithmetic(both + "add.f32 %f12, %f10, %f11; st.global.f32 [%a], %f12;"),
            "mul %f11 %f3 %f4; fma %f12 %f1 %f2 %f11; ");
  EXPECT_EQ(arithmetic(both + "add.f32 %f12, %f11, %f10; st.global.f32 [%a], %f12;"),
            "mul %f10 %f1 %f2; fma %f12 %f3 %f4 %f10; ");
  EXPECT_EQ(arithmetic(both + "sub.f32 %f12, %f10, %f11; st.global.f32 [%a], %f12;"),
            "mul %f11 %f3 %f4; fma %f12 %f1 %f2 -%f11; ");
}

TEST(Contraction, AProductOfSeveralSumsIsFusedIntoAllOfThem) {
  EXPECT_EQ(
      arithmetic("mul.f32 %f10, %f1, %f2; add.f32 %f11, %f10, %f3; sub.f32 %f12, %f4, %f10;" + stored("%f11 %f12")),
      "fma %f11 %f1 %f2 %f3; fma %f12 -%f1 %f2 %f4; ");
  EXPECT_EQ(
      arithmetic("mul.f32 %f10, %f1, %f2; mul.f32 %f11, %f3, %f4; add.f32 %f12, %f10, %f5; add.f32 %f13, %f11, %f6;"
                 "add.f32 %f14, %f10, %f11;" +
                 stored("%f12 %f13 %f14")),
      "mul %f11 %f3 %f4; fma %f12 %f1 %f2 %f5; fma %f13 %f3 %f4 %f6; fma %f14 %f1 %f2 %f11; ");
}

TEST(Contraction, AProductWithAnotherUseStaysApart) {
  const std::string apart = "mul %f10 %f1 %f2; add %f11 %f10 %f3; ";
  const std::string mul_add = "mul.f32 %f10, %f1, %f2; add.f32 %f11, %f10, %f3; ";
  EXPECT_EQ(arithmetic(mul_add + "st.global.f32 [%a], %f11; st.global.f32 [%a], %f10;"), apart);
  EXPECT_EQ(arithmetic(mul_add + "mul.f32 %f12, %f10, %f4; st.global.f32 [%a], %f11; st.global.f32 [%a], %f12;"),
            apart + "mul %f12 %f10 %f4; ");
  EXPECT_EQ(
      arithmetic(mul_add + "fma.rn.f32 %f12, %f4, %f5, %f10;" + "st.global.f32 [%a], %f11; st.global.f32 [%a], %f12;"),
      apart + "fma %f12 %f4 %f5 %f10; ");
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; add.f32 %f11, %f10, %f10; st.global.f32 [%a], %f11;"),
            "mul %f10 %f1 %f2; add %f11 %f10 %f10; ");
}

TEST(Contraction, CopiesAndNegationsAreLookedThrough) {
  EXPECT_EQ(
      arithmetic("mul.f32 %f10, %f1, %f2; neg.f32 %f11, %f10; add.f32 %f12, %f11, %f3; st.global.f32 [%a], %f12;"),
      "fma %f12 -%f1 %f2 %f3; ");
  EXPECT_EQ(
      arithmetic("mul.f32 %f10, %f1, %f2; mov.f32 %f11, %f10; sub.f32 %f12, %f3, %f11; st.global.f32 [%a], %f12;"),
      "fma %f12 -%f1 %f2 %f3; ");
  EXPECT_EQ(
      arithmetic("mul.f32 %f10, %f1, %f2; neg.f32 %f11, %f10; sub.f32 %f12, %f3, %f11; st.global.f32 [%a], %f12;"),
      "fma %f12 %f1 %f2 %f3; ");
}

TEST(Contraction, AGuardedSumIsFusedAndAGuardedProductIsNot) {
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; @%p1 add.f32 %f4, %f10, %f3; st.global.f32 [%a], %f4;"),
            "@fma %f4 %f1 %f2 %f3; ");
  EXPECT_EQ(arithmetic("@%p1 mul.f32 %f10, %f1, %f2; @%p1 add.f32 %f4, %f10, %f3; st.global.f32 [%a], %f4;"),
            "@mul %f10 %f1 %f2; @add %f4 %f10 %f3; ");
}

TEST(Contraction, AProductUsedInAnotherBlockStaysApart) {
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; @%p1 bra X; mov.f32 %f5, %f6; X: add.f32 %f4, %f10, %f3;"
                       "st.global.f32 [%a], %f4;"),
            "mul %f10 %f1 %f2; mov %f5 %f6; add %f4 %f10 %f3; ");
}

TEST(Contraction, AFactorThatIsWrittenInBetweenIsCopied) {
  EXPECT_EQ(arithmetic("mul.f32 %f10, %f1, %f2; add.f32 %f1, %f1, %f5; add.f32 %f11, %f10, %f3;"
                       "st.global.f32 [%a], %f11; st.global.f32 [%a], %f1;"),
            "mov %wm_factor7 %f1; add %f1 %f1 %f5; fma %f11 %wm_factor7 %f2 %f3; ");
  EXPECT_EQ(arithmetic("mul.f32 %f1, %f1, %f2; add.f32 %f11, %f1, %f3; st.global.f32 [%a], %f11;"),
            "fma %f11 %f1 %f2 %f3; ");
}

TEST(Contraction, LabelsKeepTheirInstructions) {
  const Function f = contracted(
      float_function("mul.f32 %f10, %f1, %f2; add.f32 %f11, %f10, %f3; L: st.global.f32 [%a], %f11; @%p1 bra L;"));
  ASSERT_EQ(f.labels.size(), 1U);
  EXPECT_EQ(f.labels[0].at, 1U);
  EXPECT_EQ(f.body[1].opcode, Opcode::st);
  EXPECT_EQ(violated_dependency(f, in_latency_order(f)), std::nullopt);
}

}  // namespace
}  // namespace wm::ptx
