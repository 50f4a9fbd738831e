// The text of single declarations and instructions.
#include "ptx/print.h"

#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

constexpr const char* kStart = ".version 8.0\n.target sm_90\n.address_size 64\n";

// The print of a module, which must mean the same.
std::string printed(const std::string& text) {
  const auto module = parse(kStart + text + "\n", "f.ptx");
  if (!module) return module.error().to_string();
  const std::string print_of = print(*module);
  const auto again = parse(print_of, "printed");
  EXPECT_TRUE(again.ok() && *again == *module) << print_of;
  return print_of;
}

std::string declaration(const std::string& text) {
  const std::string print_of = printed(".global .u32 g;\n" + text);
  const auto at = print_of.find('\n', print_of.find(" g;"));
  return at == std::string::npos ? print_of : print_of.substr(at + 1, print_of.size() - at - 2);
}

std::string line(const std::string& text) {
  const std::string print_of = printed(
      ".global .surfref s;\n.visible .entry k() {\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; "
      ".reg .b64 %rd<4>; .reg .f32 %f<4>;\n" +
      text + "\nret;\n}");
  const auto end = print_of.find("\n  ret;");
  if (end == std::string::npos) return print_of;
  const auto begin = print_of.rfind('\n', end - 1) + 3;
  return print_of.substr(begin, end - begin);
}

TEST(Print, AlignmentsThatATypeHasAreNotWritten) {
  EXPECT_EQ(declaration(".global .align 8 .v2 .u32 v;"), ".global .v2 .u32 v;");
  EXPECT_EQ(declaration(".global .align 4 .v2 .u32 v;"), ".global .align 4 .v2 .u32 v;");
  EXPECT_EQ(declaration(".global .align 16 .u32 v;"), ".global .align 16 .u32 v;");
}

TEST(Print, InitialValuesOfArraysAreRowsWithoutTheirLastZeros) {
  EXPECT_EQ(declaration(".global .u32 v = 7;"), ".global .u32 v = 7;");
  EXPECT_EQ(declaration(".global .u8 v[4] = {1, 2, 0, 0};"), ".global .u8 v[4] = {1, 2};");
  EXPECT_EQ(declaration(".global .u8 v[2][3] = {{1}, {2, 3}};"), ".global .u8 v[2][3] = {{1, 0, 0}, {2, 3}};");
  EXPECT_EQ(declaration(".global .u8 v[2][2][2] = {{{1}}, {{2}, {3}}};"),
            ".global .u8 v[2][2][2] = {{{1, 0}, {0, 0}}, {{2, 0}, {3}}};");
  EXPECT_EQ(declaration(".global .f32 v[2] = {1.0, 2.0};"), ".global .f32 v[2] = {0f3F800000, 0f40000000};");
  EXPECT_EQ(declaration(".global .f64 v[1] = {1.0};"), ".global .f64 v[1] = {0d3FF0000000000000};");
}

TEST(Print, VectorsAreWrittenWhole) {
  EXPECT_EQ(declaration(".global .v2 .u8 v = {1, 0};"), ".global .v2 .u8 v = {1, 0};");
  EXPECT_EQ(declaration(".global .v4 .u8 v[2] = {{1}, {2}};"), ".global .v4 .u8 v[2] = {{1, 0, 0, 0}, {2, 0, 0, 0}};");
  EXPECT_EQ(declaration(".global .v2 .u8 v[2][2] = {{{1, 2}}, {{3, 0}}};"),
            ".global .v2 .u8 v[2][2] = {{{1, 2}, {0, 0}}, {{3, 0}}};");
}

TEST(Print, AddressesHaveTheirOffsets) {
  EXPECT_EQ(declaration(".global .u64 v[3] = {g+1, g-1, generic(g)+4};"),
            ".global .u64 v[3] = {g+1, g-1, generic(g)+4};");
  EXPECT_EQ(declaration(".global .u64 v = g;"), ".global .u64 v = g;");
}

TEST(Print, SelectionsOfBytesNameTheirDigits) {
  EXPECT_EQ(line("vadd4.u32.u32.u32 %r1.b3210, %r2.b7654, %r3.b0123, %r1;"),
            "vadd4.u32.u32.u32 %r1.b3210, %r2.b7654, %r3.b0123, %r1;");
  EXPECT_EQ(line("vadd2.u32.u32.u32 %r1.h10, %r2.h32, %r3.h01, %r1;"),
            "vadd2.u32.u32.u32 %r1.h10, %r2.h32, %r3.h01, %r1;");
}

TEST(Print, SuffixesStandWhereTheIsaWritesThem) {
  for (const char* text :
       {"vadd2.u32.u32.u32.sat %r1, %r2, %r3, %r1;", "vset4.u32.u32.lt %r1, %r2, %r3, %r1;",
        "prmt.b32.f4e %r1, %r2, %r3, %r1;", "suld.b.1d.b32.trap %r1, [s, {%r2}];",
        "suld.b.1d.b32.clamp %r1, [s, {%r2}];", "suld.b.1d.b32.zero %r1, [s, {%r2}];",
        "sust.b.1d.b32.trap [s, {%r2}], %r1;", "sust.b.1d.b32.clamp [s, {%r2}], %r1;",
        "sust.b.1d.b32.zero [s, {%r2}], %r1;",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};",
        "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%r1, %r2, %r3, %r4}, {%r5, %r6}, "
        "{%r5, %r6}, {%r1, %r2, %r3, %r4}, %r6, 1;",
        "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.and.popc {%r1, %r2}, {%r3}, {%r4}, {%r5, %r6};"})
    EXPECT_EQ(line(text), text);
}

TEST(Print, LabelsAndPragmasStandBeforeTheirInstructions) {
  const std::string text = printed(
      ".visible .entry k() {\n.reg .pred %p<2>;\nA:\n.pragma \"nounroll\";\n@%p1 bra A;\n@%p1 bra C;\n@%p1 bra "
      "B;\nB:\nret;\nC:\n}");
  EXPECT_NE(text.find("A:\n  .pragma \"nounroll\";\n  @%p1 bra A;\n  @%p1 bra C;\n  @%p1 bra B;\nB:\n  ret;\nC:\n}"),
            std::string::npos)
      << text;
}

TEST(Print, FilesKeepTheirNumbers) {
  const std::string text = printed(".file 1 \"a.cu\"\n.file 3 \"b.cu\"\n.visible .entry k() {\n.loc 3 7 1\nret;\n}");
  EXPECT_NE(text.find(".file 1 \"a.cu\"\n.file 3 \"b.cu\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find(".loc 3 7 1\n"), std::string::npos) << text;
}

// Registers are declared as ranges unless another name or type has the same prefix.
TEST(Print, RangesOfRegistersCaptureNoOtherName) {
  const auto registers = [](const std::string& declarations, const std::string& body) {
    const std::string text =
        printed(".visible .entry k(.param .u32 %a5) {\n" + declarations + "\n" + body + "\nret;\n}");
    const auto begin = text.find("  .reg");
    return begin == std::string::npos ? text : text.substr(begin, text.find("\n  ", begin) - begin);
  };
  EXPECT_EQ(registers(".reg .b32 %r<3>;", "mov.b32 %r1, %r2;"), "  .reg .b32 %r<3>;");
  EXPECT_EQ(registers(".reg .b32 %a<3>;", "mov.b32 %a1, %a2;"), "  .reg .b32 %a1;");
  EXPECT_EQ(registers(".reg .b32 %r<3>;", "%r9:\nmov.b32 %r1, %r2;\nbra %r9;"), "  .reg .b32 %r1;");
  EXPECT_EQ(registers(".reg .b32 %r<3>;", "L:\n%r9: .branchtargets L;\nbrx.idx %r1, %r9;"), "  .reg .b32 %r1;");
  EXPECT_EQ(registers(".reg .b64 %r<3>;", "%r9: .callprototype _ ();\ncall %r1, %r9;"), "  .reg .b64 %r1;");
  EXPECT_EQ(registers(".local .b32 %r9;\n.reg .b32 %r<3>;", "mov.b32 %r1, %r2;"), "  .reg .b32 %r1;");
  EXPECT_EQ(registers(".reg .b32 %r10;", "mov.b32 %r10, 1;"), "  .reg .b32 %r<11>;");
  EXPECT_EQ(registers(".reg .b32 %r09;", "mov.b32 %r09, 1;"), "  .reg .b32 %r0<10>;");
  EXPECT_EQ(registers(".reg .b32 %r0;", "mov.b32 %r0, 1;"), "  .reg .b32 %r<1>;");
  EXPECT_EQ(registers(".reg .pred %q;", "@%q bra L;\nL:"), "  .reg .pred %q;");
}

}  // namespace
}  // namespace wm::ptx
