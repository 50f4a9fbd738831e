#include "ptx/unroll.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "ptx/parse.h"
#include "ptx/print.h"

namespace wm::ptx {
namespace {

Function function_of(const std::string& body) {
  const auto module = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n) {\n"
      ".reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<16>; .reg .pred %p<8>;\n" +
          body + "\nret;\n}\n",
      "k.ptx");
  EXPECT_TRUE(module.ok()) << module.error().to_string();
  return module ? module->functions.back() : Function{};
}

// A loop over %rd1 that sums words, with these lines before its branch.
std::string loop(const std::string& head, const std::string& tail) {
  return "ld.param.u64 %rd1, [a]; ld.param.u32 %r9, [n]; mov.u32 %r1, 0; mov.f32 %f2, 0f00000000;\nL:\n" + head +
         "ld.global.f32 %f1, [%rd1+4];\nadd.f32 %f2, %f2, %f1;\nadd.s64 %rd1, %rd1, 8;\n" + tail +
         "@%p1 bra L;\nst.global.f32 [%rd1], %f2;\n";
}
constexpr const char* kBelow = "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, %r9;\n";
constexpr const char* kUpTo = "add.s32 %r1, %r1, 1;\nsetp.le.s32 %p1, %r1, %r9;\n";
constexpr const char* kDownTo = "add.s32 %r1, %r1, -1;\nsetp.ge.s32 %p1, %r1, %r9;\n";
constexpr const char* kAbove = "add.s32 %r1, %r1, -1;\nsetp.gt.s32 %p1, %r1, %r9;\n";
constexpr const char* kToZero = "add.s32 %r9, %r9, -1;\nsetp.ne.s32 %p1, %r9, 0;\n";

std::size_t loads(const Function& f) {
  std::size_t count = 0;
  for (const Instruction& i : f.body) count += i.opcode == Opcode::ld && i.space() == Space::global ? 1 : 0;
  return count;
}

TEST(Unroll, AShortLoopHasFourTurnsThenTwoAndARest) {
  for (const char* tail : {kBelow, kToZero, kUpTo, kDownTo, kAbove}) {
    const Function f = unrolled(function_of(loop("", tail)));
    EXPECT_EQ(loads(f), 7U) << tail;
    std::vector<std::int64_t> offsets;
    for (const Instruction& i : f.body)
      if (i.opcode == Opcode::ld && i.space() == Space::global) offsets.push_back(i.operands[1].offset);
    EXPECT_EQ(offsets, (std::vector<std::int64_t>{4, 12, 20, 28, 4, 12, 4})) << "steps of addresses become offsets";
  }
}

TEST(Unroll, TheResultIsPtx) {
  Module module;
  module.version_major = 8;
  module.targets = {"sm_90"};
  module.functions = {unrolled(function_of(loop("", kBelow)))};
  const auto again = parse(print(module), "again.ptx");
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(print(*again), print(module));
}

TEST(Unroll, OtherLoopsStayAsTheyAre) {
  const std::string below = kBelow;
  std::string longer;
  for (int i = 0; i < 43; ++i) longer += "add.f32 %f2, %f2, %f2;\n";
  const std::vector<std::string> bodies = {
      loop(".pragma \"nounroll\";\n", below),
      loop("", "add.s32 %r1, %r1, %r9;\nsetp.lt.s32 %p1, %r1, 100;\n"),  // no constant step
      loop("",
           "add.s32 %r1, %r1, 1;\nadd.s32 %r9, %r9, 1;\n"
           "add.s32 %r9, %r9, -2;\nsetp.lt.s32 %p1, %r1, %r9;\n"),      // the limit changes
      loop("", "setp.lt.s32 %p1, %r1, %r9;\nadd.s32 %r1, %r1, 1;\n"),   // compared before the step
      loop("", "add.s32 %r1, %r1, -1;\nsetp.le.s32 %p1, %r1, %r9;\n"),  // away from the limit
      loop("", "add.s32 %r1, %r1, 1;\nsetp.gt.s32 %p1, %r1, %r9;\n"),
      loop("", "add.s32 %r1, %r1, 1;\nsetp.eq.s32 %p1, %r1, %r9;\n"),
      loop("atom.global.add.u32 %r3, [%rd1], 1;\n", below),
      loop("shfl.sync.idx.b32 %r3, %r1, 0, 31, -1;\n", below),
      loop("ld.volatile.global.u32 %r3, [%rd1];\n", below),
      loop(longer, below),
      loop("", "add.f32 %f3, %f3, %f1;\nsetp.lt.f32 %p1, %f3, %f2;\n"),  // no counter
      loop("", "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, %r9;\nselp.b32 %r4, 1, 2, %p1;\n"),
  };
  for (const std::string& body : bodies) {
    const Function f = function_of(body);
    EXPECT_EQ(unrolled(f), f) << body;
  }
}

TEST(Unroll, AnAddressBesideAnInductionIsComputedOnce) {
  const auto unrolled_with = [](const std::string& more) {
    return unrolled(function_of(loop("add.s64 %rd3, %rd1, %rd2;\nld.global.f32 %f3, [%rd3+128];\n" + more, kBelow)));
  };
  const auto sums = [](const Function& f) {
    return std::count_if(f.body.begin(), f.body.end(), [&](const Instruction& i) {
      return i.opcode == Opcode::add && i.operands[2].kind == Operand::Kind::reg &&
             f.registers[i.operands[2].index].name == "%rd2";
    });
  };
  const Function f = unrolled_with("");
  EXPECT_EQ(sums(f), 3) << "once for four turns, for two, and for one";
  std::vector<std::int64_t> offsets;
  for (const Instruction& i : f.body)
    if (i.opcode == Opcode::ld && i.space() == Space::global && i.operands[1].offset >= 128)
      offsets.push_back(i.operands[1].offset);
  EXPECT_EQ(offsets, (std::vector<std::int64_t>{128, 136, 144, 152, 128, 136, 128}));
  EXPECT_EQ(sums(unrolled_with("cvt.u32.u64 %r4, %rd3;\n")), 7) << "the sum itself is read";
}

TEST(Unroll, ValuesThatOnlyATurnReadsHaveOneDefinition) {
  const auto definitions = [](const std::string& behind) {
    const Function f = unrolled(function_of(loop("", kBelow) + behind));
    std::size_t count = 0;
    for (const Instruction& i : f.body)
      count += i.opcode == Opcode::ld && i.operands[0].kind == Operand::Kind::reg &&
                       f.registers[i.operands[0].index].name == "%f1"
                   ? 1
                   : 0;
    return count;
  };
  EXPECT_EQ(definitions(""), 1U);
  EXPECT_EQ(definitions("st.global.f32 [%rd1+4], %f1;\n"), 3U) << "of the last of four, of two, and of one turn";
}

bool is_unrolled(const std::string& head, const std::string& tail = kBelow) {
  const Function f = function_of(loop(head, tail));
  return !(unrolled(f) == f);
}
std::string times(int count, const std::string& line) {
  std::string text;
  for (int i = 0; i < count; ++i) text += line;
  return text;
}
constexpr const char* kSum = "add.f32 %f2, %f2, %f2;\n";

// A loop without a load from global memory: `body` and an induction.
bool is_unrolled_without_loads(const std::string& body) {
  const Function f = function_of("mov.u32 %r1, 0; ld.param.u32 %r9, [n];\nL:\n" + body + kBelow + "@%p1 bra L;\n");
  return !(unrolled(f) == f);
}

// The limits at which ptxas 13 changes from one form to the other. The loop has a load with an offset, a sum and an
// induction, which count four.
TEST(Unroll, ALoopWithALoadFromGlobalMemoryMayHave46Instructions) {
  for (const char* tail : {kBelow, kToZero}) {
    EXPECT_TRUE(is_unrolled(times(42, kSum), tail));
    EXPECT_FALSE(is_unrolled(times(43, kSum), tail));
  }
}

TEST(Unroll, ALoopWithoutLoadsMayHave18Instructions) {
  EXPECT_TRUE(is_unrolled_without_loads(times(18, kSum)));
  EXPECT_FALSE(is_unrolled_without_loads(times(19, kSum)));
}

TEST(Unroll, EveryLoadFromSharedMemoryAdmitsFiveMore) {
  const std::string load = "ld.shared.f32 %f3, [%r2];\n";  // one of the five
  EXPECT_TRUE(is_unrolled_without_loads(load + times(22, kSum)));
  EXPECT_FALSE(is_unrolled_without_loads(load + times(23, kSum)));
  EXPECT_TRUE(is_unrolled_without_loads(times(3, load) + times(30, kSum)));
  EXPECT_FALSE(is_unrolled_without_loads(times(3, load) + times(31, kSum)));
  EXPECT_TRUE(is_unrolled_without_loads(times(40, load) + times(56, kSum))) << "96 in all";
  EXPECT_FALSE(is_unrolled_without_loads(times(40, load) + times(57, kSum)));
  EXPECT_TRUE(is_unrolled("bar.sync 0;\n" + times(12, load) + times(58, kSum))) << "beside a load from global memory";
}

TEST(Unroll, OffsetsGuardsAndScaledFunctionsCountMore) {
  const auto counts = [](const std::string& line, int cost) {
    EXPECT_TRUE(is_unrolled_without_loads(line + times(18 - cost, kSum))) << line;
    EXPECT_FALSE(is_unrolled_without_loads(line + times(19 - cost, kSum))) << line;
  };
  counts("st.shared.f32 [%r2], %f3;\n", 1);
  counts("st.shared.f32 [%r2+4], %f3;\n", 2);
  counts("@%p2 st.shared.f32 [%r2], %f3;\n", 2);
  counts("mov.f32 %f5, %f2;\n", 0);
  counts("neg.f32 %f5, %f2;\n", 0);
  counts("neg.s32 %r4, %r1;\n", 1);
  counts("ex2.approx.ftz.f32 %f5, %f2;\n", 1);
  counts("ex2.approx.f32 %f5, %f2;\n", 6);
  counts("rcp.approx.f32 %f5, %f2;\n", 7);
  counts("div.approx.f32 %f5, %f2, %f3;\n", 7);
  counts("div.full.f32 %f5, %f2, %f3;\n", 12);
  counts("mul.lo.s32 %r4, %r9, %r9;\n", 0);  // the same in every turn
}

TEST(Unroll, ALoopThatMayCallASubroutineStays) {
  EXPECT_FALSE(is_unrolled_without_loads("div.rn.f32 %f5, %f2, %f3;\n"));
  EXPECT_FALSE(is_unrolled_without_loads("sqrt.rn.f32 %f5, %f2;\n"));
  EXPECT_FALSE(is_unrolled_without_loads("div.u32 %r4, %r1, %r9;\n")) << "longer than 18";
  EXPECT_TRUE(is_unrolled("div.u32 %r4, %r1, %r9;\n"));
}

TEST(Unroll, ALoopThatThreadsLeaveAfterDifferentNumbersOfTurnsIsUnrolledToo) {
  const Function f =
      function_of("mov.u32 %r9, %tid.x;\n" + loop("", kToZero).substr(loop("", kToZero).find("mov.u32 %r1")));
  EXPECT_EQ(loads(unrolled(f)), 7U);
}

}  // namespace
}  // namespace wm::ptx
