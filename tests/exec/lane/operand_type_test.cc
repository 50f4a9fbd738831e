// The type of every operand of a register-only instruction, destination first.
#include "exec/lane_ops.h"
#include "exec/snippet.h"

namespace wm::exec {
namespace {

struct OperandTypes {
  const char* instruction;
  std::vector<ptx::Type> types;

  friend void PrintTo(const OperandTypes& c, std::ostream* out) { *out << c.instruction; }
};
class LaneOperands : public testing::TestWithParam<OperandTypes> {};

TEST_P(LaneOperands, HaveTheTypesOfTheInstruction) {
  const auto module = ptx::parse(kernel(std::string(GetParam().instruction) + "\nret;"), "k.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const auto& body = module->functions[0].body;
  const ptx::Instruction& instruction = body[body.size() - 2];
  ASSERT_TRUE(is_lane_op(instruction));
  std::vector<std::string> wanted, got;
  for (std::size_t i = 0; i < GetParam().types.size(); ++i) {
    wanted.emplace_back(ptx::name(GetParam().types[i]));
    got.emplace_back(ptx::name(lane_operand_type(instruction, i)));
  }
  EXPECT_EQ(got, wanted);
  EXPECT_EQ(instruction.operands.size(), wanted.size());
}

using enum ptx::Type;

INSTANTIATE_TEST_SUITE_P(
    Each, LaneOperands,
    testing::Values(
        OperandTypes{"add.u32 %r0, %r1, 7;", {u32, u32, u32}}, OperandTypes{"mov.b64 %d0, {%r0, %r1};", {b64, b32}},
        OperandTypes{"mov.b32 {%h0, %h1}, %r1;", {b16, b32}}, OperandTypes{"cvt.rn.f32.u64 %f0, %d0;", {f32, u64}},
        OperandTypes{"cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;", {b32, s32, s32, b32}},
        OperandTypes{"setp.lt.and.s32 %p0, %r0, %r1, %p1;", {pred, s32, s32, pred}},
        OperandTypes{"set.lt.and.u32.f32 %r0, %f0, %f1, %p1;", {u32, f32, f32, pred}},
        OperandTypes{"selp.f64 %fd0, %fd1, %fd2, %p0;", {f64, f64, f64, pred}},
        OperandTypes{"slct.u64.f32 %d0, %d1, %d2, %f0;", {u64, u64, u64, f32}},
        OperandTypes{"testp.finite.f32 %p0, %f0;", {pred, f32}},
        OperandTypes{"shl.b64 %d0, %d1, %r0;", {b64, b64, u32}},
        OperandTypes{"bfe.s64 %d0, %d1, %r0, %r1;", {s64, s64, u32, u32}},
        OperandTypes{"bfi.b64 %d0, %d1, %d2, %r0, %r1;", {b64, b64, b64, u32, u32}},
        OperandTypes{"popc.b64 %r0, %d0;", {u32, b64}}, OperandTypes{"bfind.s64 %r0, %d0;", {u32, s64}},
        OperandTypes{"mul.wide.s16 %r0, %h0, %h1;", {s32, s16, s16}},
        OperandTypes{"mul.wide.u16 %r0, %h0, %h1;", {u32, u16, u16}},
        OperandTypes{"mad.wide.u32 %d0, %r0, %r1, %d1;", {u64, u32, u32, u64}},
        OperandTypes{"mad.wide.s32 %d0, %r0, %r1, %d1;", {s64, s32, s32, s64}},
        OperandTypes{"mad.lo.s32 %r0, %r0, %r1, %r2;", {s32, s32, s32, s32}},
        OperandTypes{"dp4a.u32.s32 %r0, %r1, %r2, %r3;", {b32, b32, b32, b32}},
        OperandTypes{"lop3.b32 %r0, %r1, %r2, %r3, 7;", {b32, b32, b32, b32, none}},
        OperandTypes{"vset2.s32.s32.lt %r0, %r1, %r2, %r3;", {u32, u32, u32, u32}},
        OperandTypes{"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3}, {%r0,%r1}, {%r2}, "
                     "{%f0,%f1,%f2,%f3};",
                     {f32, b32, b32, f32}},
        OperandTypes{"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd0,%fd1}, {%fd2}, {%fd3}, {%fd0,%fd1};",
                     {f64, f64, f64, f64}},
        OperandTypes{"mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%r0,%r1}, {%r2}, {%r3}, {%r0,%r1};",
                     {s32, b32, b32, s32}}));

TEST(LaneOperands, OnlyRegisterOnlyInstructionsAreLaneOperations) {
  const auto is_lane = [](const std::string& text) {
    const auto module = ptx::parse(kernel(text + "\nret;"), "k.ptx");
    EXPECT_TRUE(module.ok()) << module.error().to_string();
    const auto& body = module->functions[0].body;
    return is_lane_op(body[body.size() - 2]);
  };
  EXPECT_TRUE(is_lane("mov.u32 %r0, %r1;"));
  EXPECT_TRUE(is_lane("mov.u32 %r0, 5;"));
  EXPECT_FALSE(is_lane("mov.u32 %r0, %tid.x;"));
  EXPECT_FALSE(is_lane("mov.u64 %d0, out;"));
  EXPECT_FALSE(is_lane("ld.global.u32 %r0, [%out];"));
  EXPECT_FALSE(is_lane("cvta.global.u64 %d0, %d1;"));
  EXPECT_TRUE(is_lane("selp.u32 %r0, %r1, %r2, %p0;"));
}

}  // namespace
}  // namespace wm::exec
