#include "ptx/instruction_shape.h"

#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

Instruction shape(const std::string& line) {
  const auto module = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .pred %p<4>; .reg .b16 %h<4>; "
      ".reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .f32 %f<4>; .reg .f64 %d<4>;\n" +
          line + ";\nret;\n}\n",
      "k.ptx");
  EXPECT_TRUE(module.ok()) << line << ": " << module.error().to_string();
  return module ? module->functions[0].body[0] : Instruction{};
}

// A property, and the instructions that have it or not.
template <class Property>
void expect(Property has, std::initializer_list<const char*> those, std::initializer_list<const char*> others) {
  for (const char* line : those) EXPECT_TRUE(has(shape(line))) << line;
  for (const char* line : others) EXPECT_FALSE(has(shape(line))) << line;
}

TEST(InstructionShape, TypesByWidth) {
  for (const Type t : {Type::s32, Type::u32, Type::b32}) EXPECT_TRUE(is_word_type(t));
  for (const Type t : {Type::f32, Type::s64, Type::u16}) EXPECT_FALSE(is_word_type(t));
  for (const Type t : {Type::s64, Type::u64, Type::b64}) EXPECT_TRUE(is_wide_type(t));
  for (const Type t : {Type::f64, Type::s32, Type::u16}) EXPECT_FALSE(is_wide_type(t));
  for (const Type t : {Type::s16, Type::u16, Type::b16}) EXPECT_TRUE(is_half_type(t));
  for (const Type t : {Type::f16, Type::s32, Type::u8}) EXPECT_FALSE(is_half_type(t));
}

TEST(InstructionShape, AnOrderingIsAComparisonButForEquality) {
  expect(is_ordering, {"setp.lt.s32 %p1, %r1, %r2", "setp.ge.f32 %p1, %f1, %f2"},
         {"setp.eq.s32 %p1, %r1, %r2", "setp.ne.s32 %p1, %r1, %r2", "add.s32 %r1, %r1, 1"});
}

TEST(InstructionShape, HalfWordsAreExtendedForArithmeticInWords) {
  const auto extensions = [](const char* line) { return half_extensions(shape(line)); };
  EXPECT_EQ(extensions("sub.s16 %h1, %h2, %h3"), 2U);
  EXPECT_EQ(extensions("sub.s16 %h1, %h2, 5"), 0U);
  EXPECT_EQ(extensions("mul.lo.s16 %h1, %h2, %h3"), 1U);
  EXPECT_EQ(extensions("mul.lo.u16 %h1, %h2, %h3"), 1U);
  EXPECT_EQ(extensions("mul.wide.s16 %r1, %h2, %h3"), 1U);
  EXPECT_EQ(extensions("mul.wide.u16 %r1, %h2, %h3"), 0U);
  EXPECT_EQ(extensions("shr.s16 %h1, %h2, 3"), 1U);
  EXPECT_EQ(extensions("shr.u16 %h1, %h2, 3"), 0U);
  EXPECT_EQ(extensions("setp.lt.s16 %p1, %h1, %h2"), 1U);
  EXPECT_EQ(extensions("setp.eq.s16 %p1, %h1, %h2"), 0U);
  EXPECT_EQ(extensions("setp.lt.u16 %p1, %h1, %h2"), 0U);
  EXPECT_EQ(extensions("sub.s32 %r1, %r2, %r3"), 0U);
  EXPECT_EQ(extensions("ret"), 0U);
}

TEST(InstructionShape, UpperHalvesOfRegisters) {
  expect(leaves_high_half,
         {"cvt.u16.u32 %h1, %r1", "add.s16 %h1, %h2, %h3", "shl.b16 %h1, %h2, 3", "mul.lo.u16 %h1, %h2, %h3"},
         {"cvt.u16.u8 %h1, %h2", "cvt.s16.s32 %h1, %r1", "cvt.u32.u64 %r1, %rd1", "mul.hi.u16 %h1, %h2, %h3",
          "shr.u16 %h1, %h2, 3", "add.s32 %r1, %r2, %r3", "ret"});
  expect(
      needs_high_half,
      {"cvt.u32.u16 %r1, %h1", "shr.u16 %h1, %h2, 3", "mul.wide.u16 %r1, %h1, %h2", "setp.lt.u16 %p1, %h1, %h2"},
      {"cvt.u8.u16 %h1, %h2", "cvt.u16.u16 %h1, %h2", "cvt.u64.u32 %rd1, %r1", "shr.s16 %h1, %h2, 3",
       "mul.lo.u16 %h1, %h2, %h3", "add.u16 %h1, %h2, %h3", "setp.eq.u16 %p1, %h1, %h2", "shr.u32 %r1, %r2, 3", "ret"});
}

TEST(InstructionShape, LogicOfWordsAndHalfWords) {
  expect(is_logic, {"and.b32 %r1, %r2, %r3", "or.b32 %r1, %r2, %r3", "xor.b16 %h1, %h2, %h3", "not.b32 %r1, %r2"},
         {"and.b64 %rd1, %rd2, %rd3", "shl.b32 %r1, %r2, 3", "or.pred %p1, %p2, %p3"});
  expect(is_predicate_logic, {"or.pred %p1, %p2, %p3", "not.pred %p1, %p2"},
         {"setp.lt.s32 %p1, %r1, %r2", "or.b32 %r1, %r2, %r3"});
  expect(is_word_extreme, {"min.s32 %r1, %r2, %r3", "max.u32 %r1, %r2, %r3"},
         {"min.s64 %rd1, %rd2, %rd3", "max.f32 %f1, %f2, %f3", "add.s32 %r1, %r2, %r3"});
}

TEST(InstructionShape, ConstantsThatChangeTheCode) {
  const auto shifts = [](const Instruction& i) { return shifts_by_constant(i, Type::b32); };
  expect(shifts, {"shl.b32 %r1, %r2, 3"},
         {"shl.b32 %r1, %r2, %r3", "shl.b64 %rd1, %rd2, 3", "shr.b32 %r1, %r2, 3", "and.b32 %r1, %r2, 3"});
  expect(tests_zero, {"setp.eq.s32 %p1, %r1, 0", "setp.ne.s32 %p1, %r1, 0"},
         {"setp.lt.s32 %p1, %r1, 0", "setp.eq.s32 %p1, %r1, 1", "setp.eq.s32 %p1, %r1, %r2", "add.s32 %r1, %r2, 0",
          "setp.eq.and.s32 %p1, %r1, 0, %p2"});
}

TEST(InstructionShape, ConversionsOfUnsignedIntegersAreRenamings) {
  expect(is_renaming,
         {"cvt.u64.u32 %rd1, %r1", "cvt.u32.u64 %r1, %rd1", "cvt.u16.u32 %h1, %r1", "cvt.u32.u16 %r1, %h1",
          "cvt.u8.u32 %r1, %r2", "cvt.u32.u8 %r1, %r2"},
         {"cvt.s64.s32 %rd1, %r1", "cvt.u64.s32 %rd1, %r1", "cvt.s64.u32 %rd1, %r1", "cvt.rn.f32.u32 %f1, %r1",
          "cvt.rzi.u32.f32 %r1, %f1", "cvt.sat.u8.u32 %r1, %r2", "mov.u32 %r1, %r2"});
}

TEST(InstructionShape, DoublesWithALowWordAreLoaded) {
  EXPECT_EQ(long_constants(shape("add.f64 %d1, %d2, 0d3FB999999999999A")), 1U);
  EXPECT_EQ(long_constants(shape("add.f64 %d1, %d2, 0d3FF0000000000000")), 0U);
  EXPECT_EQ(long_constants(shape("fma.rn.f64 %d1, %d2, 0d3FB999999999999A, 0d3FB999999999999A")), 2U);
  EXPECT_EQ(long_constants(shape("mov.f64 %d1, 0d3FB999999999999A")), 0U);
  EXPECT_EQ(long_constants(shape("add.f32 %f1, %f2, 0f3DCCCCCD")), 0U);
}

TEST(InstructionShape, WideOperationsOnOneWord) {
  expect(
      changes_one_word,
      {"and.b64 %rd1, %rd2, 4294967295", "shl.b64 %rd1, %rd2, 32", "shr.u64 %rd1, %rd2, 32", "xor.b64 %rd1, %rd2, 1"},
      {"and.b64 %rd1, %rd2, 4294967296", "shl.b64 %rd1, %rd2, 31", "shr.u64 %rd1, %rd2, 31", "shr.s64 %rd1, %rd2, 32",
       "and.b64 %rd1, %rd2, %rd3", "and.b32 %r1, %r2, 1", "add.s64 %rd1, %rd2, 1", "not.b64 %rd1, %rd2",
       "mov.u64 %rd1, 5", "ret"});
}

TEST(InstructionShape, AtomicSums) {
  expect(is_atomic_sum, {"atom.global.add.u32 %r1, [%rd1], %r2", "red.global.add.s32 [%rd1], %r2"},
         {"atom.global.max.u32 %r1, [%rd1], %r2", "atom.global.add.u64 %rd2, [%rd1], %rd3",
          "red.global.add.f32 [%rd1], %f1", "add.u32 %r1, %r2, %r3"});
  expect(adds_constant, {"atom.global.add.u32 %r1, [%rd1], 1"},
         {"atom.global.add.u32 %r1, [%rd1], %r2", "add.u32 %r1, %r2, 1"});
}

TEST(InstructionShape, ARegisterThatOnlyAddressesSharedMemory) {
  const auto addresses = [](const char* line) {
    const Instruction i = shape(line);
    std::uint32_t address = ~0U;
    for (const Operand& o : i.operands)
      if (o.kind == Operand::Kind::address) address = o.elements[0].index;
    return addresses_shared(i, address);
  };
  EXPECT_TRUE(addresses("ld.shared.u32 %r1, [%r2]"));
  EXPECT_TRUE(addresses("st.shared.u32 [%r2], %r1"));
  EXPECT_FALSE(addresses("st.shared.u32 [%r2], %r2")) << "it is stored, too";
  EXPECT_FALSE(addresses("ld.global.u32 %r1, [%rd2]"));
  const Instruction load = shape("ld.shared.u32 %r1, [%r2]");
  EXPECT_FALSE(addresses_shared(load, load.operands[0].index)) << "the register that is loaded";
  const Instruction sum = shape("add.u32 %r1, %r2, %r3");
  EXPECT_FALSE(addresses_shared(sum, sum.operands[1].index));
}

}  // namespace
}  // namespace wm::ptx
