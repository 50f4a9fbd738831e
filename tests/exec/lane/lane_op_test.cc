// Finding a routine, and the lanes that a routine must not change.
#include <bit>
#include <gtest/gtest.h>

#include "exec/lane/warp.h"

namespace wm::exec::test {
namespace {

Row filled(std::uint64_t value) {
  Row row;
  row.fill(value);
  return row;
}

// Runs an instruction of registers of its own types: row 0 the destination, 1… the sources.
Row run(std::string_view name, const std::vector<Row>& sources, Mask active = kAllLanes, Row before = Row{}) {
  ptx::Instruction instruction = named(name);
  instruction.operands.assign(sources.size() + 1, reg_operand());
  std::vector<ptx::Type> types;
  for (std::size_t i = 0; i <= sources.size(); ++i) types.push_back(lane_operand_type(instruction, i));
  const auto op = lane_op(instruction, types);
  if (!op) throw std::invalid_argument(op.error().to_string());
  Warp warp(8);
  Operands operands;
  operands.destination[0] = Warp::row(0);
  operands.immediate = lane_immediate(instruction, types);
  warp.set(0, types[0], before);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    warp.set(static_cast<int>(i) + 1, types[i + 1], sources[i]);
    operands.source[i] = Warp::row(static_cast<int>(i) + 1);
  }
  warp.run(*op, operands, active);
  return warp.get(0, types[0]);
}

std::uint64_t f32(float x) { return std::bit_cast<std::uint32_t>(x); }

TEST(LaneOp, InactiveLanesKeepTheirDestination) {
  const Row result = run("add.s32", {filled(1), filled(2)}, 0x0000ffffU, filled(9));
  for (std::size_t i = 0; i < kLanes; ++i) EXPECT_EQ(result[i], i < 16 ? 3U : 9U);
}

TEST(LaneOp, InactiveLanesKeepTheirPredicate) {
  const Row result = run("setp.lt.s32", {filled(1), filled(2)}, 0xf0U, filled(0));
  for (std::size_t i = 0; i < kLanes; ++i) EXPECT_EQ(result[i], i >= 4 && i < 8 ? 1U : 0U);
}

TEST(LaneOp, FusedMultiplyAddRoundsOnce) {
  const float a = 1.0F + 0x1p-12F;
  EXPECT_EQ(run("fma.rn.f32", {filled(f32(a)), filled(f32(a)), filled(f32(-1.0F))})[31], f32(0x1p-11F + 0x1p-24F));
}

TEST(LaneOp, ASourceMayBeTheDestination) {
  ptx::Instruction instruction = named("sub.s32");
  instruction.operands.assign(3, reg_operand());
  const auto op = lane_op(instruction, {});
  ASSERT_TRUE(op.ok());
  for (const Mask active : {kAllLanes, 0x55555555U}) {
    Warp warp(2);
    warp.set(0, ptx::Type::s32, filled(10));
    warp.set(1, ptx::Type::s32, filled(3));
    Operands operands;
    operands.destination[0] = Warp::row(0);
    operands.source[0] = Warp::row(0);
    operands.source[1] = Warp::row(1);
    warp.run(*op, operands, active);
    for (std::size_t i = 0; i < kLanes; ++i)
      EXPECT_EQ(warp.get(0, ptx::Type::s32)[i], ((active >> i) & 1U) != 0 ? 7U : 10U);
  }
}

TEST(LaneOp, AnInstructionThatCannotBeExecutedIsNamed) {
  ptx::Instruction instruction = named("add.b32");
  instruction.operands.assign(3, reg_operand());
  instruction.position = {12, 3};
  const auto op = lane_op(instruction, {});
  ASSERT_FALSE(op.ok());
  EXPECT_EQ(op.error().what, "'add.b32' cannot be executed");
  EXPECT_EQ(op.error().where.line, 12U);
}

TEST(LaneOp, ASuffixThatDoesNotBelongIsNamed) {
  ptx::Instruction instruction = named("add.wide.f32");
  instruction.operands.assign(3, reg_operand());
  const auto op = lane_op(instruction, {});
  ASSERT_FALSE(op.ok());
  EXPECT_EQ(op.error().what, "'add.wide.f32': .wide does not belong here");
}

// Newer than the recorded GPU: extremes of three.
TEST(LaneOp, ThreeInputsGiveOneExtreme) {
  EXPECT_EQ(run("min.f32", {filled(f32(3.0F)), filled(f32(-1.0F)), filled(f32(2.0F))})[7], f32(-1.0F));
  EXPECT_EQ(run("max.f32", {filled(f32(3.0F)), filled(0x7fc00000U), filled(f32(5.0F))})[7], f32(5.0F));
  EXPECT_EQ(run("max.NaN.f32", {filled(f32(3.0F)), filled(0x7fc00000U), filled(f32(5.0F))})[7], 0x7fffffffU);
}

TEST(LaneOp, A128BitRegisterIsPackedAndTakenApart) {
  ptx::Instruction pack = named("mov.b128"), unpack = named("mov.b128");
  ptx::Operand halves;
  halves.kind = ptx::Operand::Kind::vector;
  halves.elements.assign(2, reg_operand());
  pack.operands = {reg_operand(), halves};
  unpack.operands = {halves, reg_operand()};
  const auto packing = lane_op(pack, {}), unpacking = lane_op(unpack, {});
  ASSERT_TRUE(packing.ok() && unpacking.ok());
  Warp warp(5);  // one row of 16 bytes a lane, two and two of 8
  warp.set(1, ptx::Type::b64, filled(0x1122334455667788ULL));
  warp.set(2, ptx::Type::b64, filled(0x99aabbccddeeff00ULL));
  const std::vector<RegisterRow> in = {Warp::row(0), Warp::row(1), Warp::row(2)},
                                 out = {Warp::row(3), Warp::row(4), Warp::row(0)};
  Operands operands;
  operands.more = in;
  warp.run(*packing, operands);
  operands.more = out;
  warp.run(*unpacking, operands);
  EXPECT_EQ(warp.get(3, ptx::Type::b64)[31], 0x1122334455667788ULL);
  EXPECT_EQ(warp.get(4, ptx::Type::b64)[31], 0x99aabbccddeeff00ULL);
}

TEST(LaneOp, MemoryAndControlFlowAreNotAsked) {
  EXPECT_TRUE(is_lane_op(named("add.s32")));
  EXPECT_TRUE(is_lane_op(named("slct.u32.s32")));
  EXPECT_TRUE(is_lane_op(named("cvt.pack.sat.u16.s32")));
  EXPECT_FALSE(is_lane_op(named("ld.global.u32")));
  EXPECT_FALSE(is_lane_op(named("bra")));
  EXPECT_FALSE(is_lane_op(named("cvta.to.global.u64")));
}

TEST(LaneOp, AMoveOfASpecialRegisterIsNotAsked) {
  ptx::Instruction instruction = named("mov.u32");
  instruction.operands.assign(2, reg_operand());
  EXPECT_TRUE(is_lane_op(instruction));
  instruction.operands[1].kind = ptx::Operand::Kind::special;
  EXPECT_FALSE(is_lane_op(instruction));
}

}  // namespace
}  // namespace wm::exec::test
