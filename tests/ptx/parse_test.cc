#include "ptx/parse.h"

#include <gtest/gtest.h>

#include "ptx/print.h"

namespace wm::ptx {
namespace {

Module module_of(const std::string& text) {
  auto module = parse(".version 8.0\n.target sm_80\n.address_size 64\n" + text, "f.ptx");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return *std::move(module);
}

// The first instruction of a kernel whose body is `text`.
struct One {
  Module module;
  [[nodiscard]] const Function& function() const { return module.functions.back(); }
  [[nodiscard]] const Instruction& instruction() const { return function().body.front(); }
};
One one(const std::string& text) {
  return {
      module_of(".global .b32 g[4]; .entry k(.param .u64 a) { .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<4>; "
                ".reg .f32 %f<4>; .reg .f64 %d<4>; " +
                text + " }")};
}

TEST(Parse, SplitsAnInstructionsNameIntoSuffixesAndTypes) {
  const One o = one("@!%p1 setp.lt.and.f32 %p2|%p3, %f1, 0f3F800000, !%p1;");
  const Instruction& i = o.instruction();
  EXPECT_EQ(i.opcode, Opcode::setp);
  EXPECT_EQ(i.suffixes, (std::vector<Suffix>{Suffix::lt, Suffix::and_}));
  EXPECT_EQ(i.types, (std::vector<Type>{Type::f32}));
  EXPECT_TRUE(i.guard.present);
  EXPECT_TRUE(i.guard.negated);
  ASSERT_EQ(i.operands.size(), 4U);
  EXPECT_EQ(i.operands[0].kind, Operand::Kind::pair);
  EXPECT_EQ(i.operands[2].kind, Operand::Kind::f32);
  EXPECT_EQ(i.operands[2].bits, 0x3F800000U);
  EXPECT_TRUE(i.operands[3].negated);
  EXPECT_EQ(print(o.module, o.function(), i), "@!%p1 setp.lt.and.f32 %p2|%p3, %f1, 0f3F800000, !%p1;");
}

TEST(Parse, AnUnsupportedInstructionRefusesOnlyItsFunctionWhenAsked) {
  const std::string text =
      ".version 8.0\n.target sm_90a\n.address_size 64\n.entry good() { ret; }\n"
      ".entry bad()\n{\n  { wgmma.fence.sync.aligned; } // }\n  ret;\n}\n.entry last() { ret; }";
  EXPECT_EQ(parse(text, "f.ptx").error().to_string(), "f.ptx:7:5: unsupported instruction 'wgmma'");
  const auto module = parse(text, "f.ptx", OnUnsupported::refuse_function);
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  ASSERT_EQ(module->functions.size(), 3U);
  EXPECT_FALSE(module->functions[0].refusal);
  ASSERT_TRUE(module->functions[1].refusal);
  EXPECT_EQ(module->functions[1].refusal->what, "unsupported instruction 'wgmma'");
  EXPECT_EQ(module->functions[1].refusal->position.line, 7U);
  EXPECT_TRUE(module->functions[1].body.empty());
  EXPECT_FALSE(module->functions[2].refusal);
  EXPECT_FALSE(parse(text + " .entry open() { wgmma", "f.ptx", OnUnsupported::refuse_function).ok());
}

TEST(Parse, ManagedVariablesKeepTheirAttribute) {
  const Module m = module_of(".visible .global .attribute(.managed) .align 4 .u32 m[2]; .global .u32 n;");
  EXPECT_TRUE(m.variables[0].managed);
  EXPECT_FALSE(m.variables[1].managed);
  EXPECT_NE(print(m).find(".global .attribute(.managed) .u32 m[2];"), std::string::npos) << print(m);
}

TEST(Parse, PutsANamesPartsInTheIsasOrder) {
  const One o = one("atom.add.release.gpu.global.u32 %r1, [%rd1], 1;");
  EXPECT_EQ(o.instruction().suffixes, (std::vector<Suffix>{Suffix::release, Suffix::gpu, Suffix::global, Suffix::add}));
  const One p = one("prmt.b32.f4e %r1, %r2, %r3, 1;");
  EXPECT_EQ(print(p.module, p.function(), p.instruction()), "prmt.b32.f4e %r1, %r2, %r3, 1;");
}

TEST(Parse, GivesFloatingPointLiteralsTheInstructionsWidth) {
  EXPECT_EQ(one("add.f32 %f1, %f1, 1.5;").instruction().operands[2].kind, Operand::Kind::f32);
  EXPECT_EQ(one("add.f32 %f1, %f1, 1.5;").instruction().operands[2].bits, 0x3FC00000U);
  EXPECT_EQ(one("add.f64 %d1, %d1, 0f3FC00000;").instruction().operands[2].bits, 0x3FF8000000000000U);
  EXPECT_EQ(one("add.f32 %f1, %f1, -1.0;").instruction().operands[2].bits, 0xBF800000U);
}

TEST(Parse, ReadsEveryKindOfInteger) {
  const auto bits = [](const std::string& text) {
    return one("mov.u64 %rd1, " + text + ";").instruction().operands[1].bits;
  };
  EXPECT_EQ(bits("12"), 12U);
  EXPECT_EQ(bits("0x1F"), 31U);
  EXPECT_EQ(bits("0x1fU"), 31U);
  EXPECT_EQ(bits("017"), 15U);
  EXPECT_EQ(bits("0b101"), 5U);
  EXPECT_EQ(bits("-1"), ~std::uint64_t{0});
  EXPECT_EQ(bits("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(bits("-9223372036854775808"), std::uint64_t{1} << 63);
  EXPECT_EQ(bits("WARP_SZ"), 32U);
}

TEST(Parse, KeepsAddressesAsBaseAndOffset) {
  const One o = one("ld.global.u32 %r1, [g+8];");
  const Operand& address = o.instruction().operands[1];
  EXPECT_EQ(address.kind, Operand::Kind::address);
  EXPECT_EQ(address.offset, 8);
  EXPECT_EQ(address.elements[0].kind, Operand::Kind::variable);
  EXPECT_EQ(address.elements[0].scope, Operand::Scope::module);
  EXPECT_EQ(address.elements[0].offset, 0);
  EXPECT_EQ(one("ld.global.u32 %r1, [%rd1+-4];").instruction().operands[1].offset, -4);
  EXPECT_EQ(one("ld.param.u64 %rd1, [a];").instruction().operands[1].elements[0].scope, Operand::Scope::parameter);
}

TEST(Parse, FlattensScopesByRenaming) {
  const Module m =
      module_of(".entry k() { .reg .b32 x; mov.u32 x, 1; { .reg .f32 x; mov.f32 x, 0f00000000; } mov.u32 x, 2; }");
  const Function& f = m.functions[0];
  ASSERT_EQ(f.registers.size(), 2U);
  EXPECT_EQ(f.registers[0], (Register{"x", Type::b32}));
  EXPECT_EQ(f.registers[1], (Register{"x_1", Type::f32}));
  EXPECT_EQ(f.body[2].operands[0].index, 0U);
}

TEST(Parse, KeepsOnlyTheRegistersAndLabelsInUse) {
  const Module m = module_of(".entry k() { .reg .b32 %r<100>; a: mov.u32 %r7, 1; b: bra b; c: }");
  ASSERT_EQ(m.functions[0].registers.size(), 1U);
  EXPECT_EQ(m.functions[0].registers[0].name, "%r7");
  ASSERT_EQ(m.functions[0].labels.size(), 1U);
  EXPECT_EQ(m.functions[0].labels[0], (Label{"b", 1}));
}

TEST(Parse, ACallIsResultsTargetAndArguments) {
  const Module m = module_of(
      ".func (.param .b32 r) f(.param .b32 a) { ret; } .func g() { ret; }"
      ".entry k() { .reg .b32 %r<3>; call (%r1), f, (%r2); call.uni g; }");
  const Function& k = m.functions.back();
  ASSERT_EQ(k.body[0].operands.size(), 3U);
  EXPECT_EQ(k.body[0].operands[0].elements.size(), 1U);
  EXPECT_EQ(k.body[0].operands[1].kind, Operand::Kind::function);
  EXPECT_EQ(k.body[0].operands[2].elements.size(), 1U);
  ASSERT_EQ(k.body[1].operands.size(), 3U);
  EXPECT_TRUE(k.body[1].operands[0].elements.empty());
  EXPECT_TRUE(k.body[1].operands[2].elements.empty());
}

TEST(Parse, AnInitialValueIsBytesAndRelocations) {
  const Module m = module_of(
      ".global .u32 a[2][2] = {{1}, {2, 3}}; .global .u64 p[2] = {generic(a)+4, 7}; .global .f32 f = 1.0;"
      ".global .b8 z[9] = {0, 0};");
  EXPECT_EQ(m.variables[0].initial, (std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
  ASSERT_EQ(m.variables[1].relocations.size(), 1U);
  EXPECT_EQ(m.variables[1].relocations[0], (Relocation{0, 8, "a", 4, true}));
  EXPECT_EQ(m.variables[1].initial[8], 7);
  EXPECT_EQ(m.variables[2].initial, (std::vector<std::uint8_t>{0, 0, 0x80, 0x3f}));
  EXPECT_TRUE(m.variables[3].initial.empty());
}

TEST(Parse, SourceLinesStickUntilTheNext) {
  const Module m = module_of(
      ".file 1 \"a.cu\"\n.entry k() { .reg .b32 %r<2>; mov.u32 %r1, 1; .loc 1 5 2 mov.u32 %r1, 2; ret;"
      " .loc 1 6 1, function_name $L, inlined_at 1 2 3\n ret; }");
  const auto& body = m.functions[0].body;
  EXPECT_EQ(body[0].source, SourceLine{});
  EXPECT_EQ(body[1].source, (SourceLine{1, 5, 2}));
  EXPECT_EQ(body[2].source, (SourceLine{1, 5, 2}));
  EXPECT_EQ(body[3].source, (SourceLine{1, 6, 1}));
}

TEST(Parse, DeviceFunctionsComeBeforeKernels) {
  const Module m = module_of(".func f(); .entry k() { call f; } .func g() { call f; } .func f() { ret; }");
  ASSERT_EQ(m.functions.size(), 3U);
  EXPECT_EQ(m.functions[0].name, "f");
  EXPECT_EQ(m.functions[1].name, "g");
  EXPECT_EQ(m.functions[2].name, "k");
  EXPECT_EQ(m.functions[2].body[0].operands[1].index, 0U);
  EXPECT_EQ(m.entry("k"), &m.functions[2]);
  EXPECT_EQ(m.entry("f"), nullptr);
}

TEST(Print, LeavesOutWhatAChangedFunctionNoLongerUses) {
  Module m = module_of(".entry k() { .reg .b32 %r<3>; bra L; L: mov.u32 %r1, 1; mov.u32 %r2, 2; }");
  m.functions[0].body.erase(m.functions[0].body.begin());
  m.functions[0].labels[0].at = 0;
  m.functions[0].body.pop_back();
  const std::string text = print(m);
  EXPECT_EQ(text.find("L:"), std::string::npos) << text;
  EXPECT_NE(text.find("%r<2>"), std::string::npos) << text;
  const auto again = parse(text);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(print(*again), text);
}

TEST(Print, NamesRangesOnlyWhereTheyCaptureNothing) {
  const Module m = module_of(
      ".global .b32 x1; .entry k() { .reg .b32 x<3>, y<3>; .reg .f32 z1; mov.b32 x2, y2; mov.f32 z1, 0f00000000;"
      " mov.b32 y1, x2; }");
  const std::string text = print(m);
  EXPECT_NE(text.find(".reg .b32 x2;"), std::string::npos) << text;
  EXPECT_NE(text.find(".reg .b32 y<3>;"), std::string::npos) << text;
}

TEST(Parse, MetadataOfNvidiasOpenClIsPassedOver) {
  const auto module = parse(
      ".version 8.8\n.target sm_90, texmode_independent\n.address_size 64\n"
      ".entry k(.param .u64 .ptr .global .align 4 p)\n{\n ret;\n}\n"
      ".metadata_section {\n.metadata 0 {\n\"cl_kernel_arg_name\",\n1\n}\n}\n",
      "k.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(module->functions.size(), 1U);
}

TEST(Parse, APragmaOfAKernelMayEndWithASemicolon) {
  for (const char* end : {"", ";"}) {
    const auto module =
        parse(std::string(".version 8.0\n.target sm_80\n.address_size 64\n.entry k() .pragma \"nounroll\"") + end +
              "\n.maxntid 32 { ret; }\n");
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    EXPECT_EQ(module->functions[0].pragmas.size(), 1U);
    EXPECT_EQ(module->functions[0].directives.size(), 1U);
  }
}

}  // namespace
}  // namespace wm::ptx
