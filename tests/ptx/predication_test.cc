#include "ptx/predication.h"

#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

Function branchy_function(const std::string& body) {
  const auto module = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
      ".reg .b32 %r<16>; .reg .b64 %rd<4>; .reg .pred %p<4>;\nld.param.u64 %rd1, [a];\nmov.u32 %r1, %tid.x;\n"
      "setp.gt.u32 %p1, %r1, 7;\n" +
          body + "\nst.global.u32 [%rd1], %r2;\nret;\n}\n",
      "k.ptx");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return module ? module->functions.back() : Function{};
}

std::size_t branches(const Function& f) {
  std::size_t count = 0;
  for (const Instruction& i : f.body) count += i.opcode == Opcode::bra ? 1 : 0;
  return count;
}

TEST(Predication, ABranchOverAFewInstructionsGuardsThem) {
  const Function f = predicated(branchy_function("@%p1 bra L;\nadd.u32 %r2, %r1, 1;\nst.shared.u32 [%r1], %r2;\nL:"));
  EXPECT_EQ(branches(f), 0U);
  ASSERT_EQ(f.body.size(), 7U);
  for (const std::size_t i : {3U, 4U}) {
    EXPECT_TRUE(f.body[i].guard.present && f.body[i].guard.negated);
    EXPECT_EQ(f.body[i].guard.reg, f.body[2].operands[0].index);
  }
  EXPECT_FALSE(f.body[5].guard.present);
}

// Values that only the guarded instructions read need no guard.
TEST(Predication, AddressesAreComputedByEveryWarp) {
  const Function f = predicated(
      branchy_function("@%p1 bra L;\nshl.b32 %r3, %r1, 2;\nst.shared.u32 [%r3], %r1;\nL:\nmov.u32 %r2, %r1;"));
  EXPECT_EQ(branches(f), 0U);
  EXPECT_TRUE(f.body[3].opcode == Opcode::shl && !f.body[3].guard.present);
  EXPECT_TRUE(f.body[4].opcode == Opcode::st && f.body[4].guard.present);
}

TEST(Predication, ABranchToTheEndStays) {
  const Function f = branchy_function("@%p1 bra L;\nst.shared.u32 [%r1], %r1;\nL:\nret;");
  EXPECT_EQ(predicated(f), f);
}

TEST(Predication, TwoShortAlternativesHaveOppositeGuards) {
  const Function f =
      predicated(branchy_function("@%p1 bra M;\nadd.u32 %r2, %r1, 1;\nbra N;\nM:\nsub.u32 %r2, %r1, 1;\nN:"));
  EXPECT_EQ(branches(f), 0U);
  ASSERT_EQ(f.body.size(), 7U);
  EXPECT_TRUE(f.body[3].opcode == Opcode::add && f.body[3].guard.present && f.body[3].guard.negated);
  EXPECT_TRUE(f.body[4].opcode == Opcode::sub && f.body[4].guard.present && !f.body[4].guard.negated);
}

TEST(Predication, OtherBranchesStay) {
  std::string longer;
  for (int i = 0; i < 8; ++i) longer += "add.u32 %r2, %r2, %r1;\n";
  const std::vector<std::string> bodies = {
      "@%p1 bra L;\n" + longer + "L:",
      "@%p1 bra L;\nbar.sync 0;\nL:",
      "@%p1 bra L;\natom.shared.add.u32 %r2, [%r1], 1;\nL:",
      "@%p1 bra L;\nsetp.gt.u32 %p1, %r2, 7;\nL:",  // the predicate changes behind the branch
      "setp.gt.u32 %p2, %r2, 7;\n@%p1 bra L;\n@%p2 add.u32 %r2, %r1, 1;\nL:",  // a guard of its own
      "L:\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n",     // a loop
  };
  for (const std::string& body : bodies) {
    const Function f = branchy_function(body);
    EXPECT_EQ(predicated(f), f) << body;
  }
}

}  // namespace
}  // namespace wm::ptx
