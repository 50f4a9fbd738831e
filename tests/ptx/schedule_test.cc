// in_latency_order keeps every dependency, and the checker of dependencies finds the ones that are broken.
#include "ptx/schedule.h"

#include <algorithm>
#include <gtest/gtest.h>

#include "base/random.h"
#include "ptx/dependencies.h"
#include "ptx/parse.h"
#include "ptx/print.h"

namespace wm::ptx {
namespace {

Function block_function(const std::string& body) {
  auto module = parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out)\n{\n.reg .pred %p<8>;\n"
      ".reg .b32 %r<32>;\n.reg .b64 %d<32>;\n.shared .align 4 .b32 s[64];\n.local .align 4 .b32 l[8];\n" +
      body + "\n}\n");
  EXPECT_TRUE(module.ok()) << module.error().to_string() << "\n" << body;
  return module.ok() ? module->functions[0] : Function{};
}

std::vector<Opcode> opcodes(const Function& function) {
  std::vector<Opcode> result;
  for (const Instruction& i : function.body) result.push_back(i.opcode);
  return result;
}

// The order of `body` after scheduling, checked.
Function scheduled(const std::string& body) {
  const Function original = block_function(body);
  Function ordered = in_latency_order(original);
  EXPECT_EQ(violated_dependency(original, ordered), std::nullopt) << body;
  return ordered;
}

// The place of the first instruction that `matches`.
template <typename Matches>
std::size_t place(const Function& function, Matches&& matches) {
  const auto at = std::find_if(function.body.begin(), function.body.end(), matches);
  return static_cast<std::size_t>(at - function.body.begin());
}

TEST(LatencyOrder, LoadsMoveBeforeIndependentArithmetic) {
  const Function f = scheduled(
      "mov.u32 %r1, 1; add.u32 %r2, %r1, 2; ld.global.u32 %r3, [%d1];"
      "add.u32 %r4, %r3, %r2; st.global.u32 [%d1], %r4; ret;");
  EXPECT_LT(place(f, [](const Instruction& i) { return i.opcode == Opcode::ld && i.space() == Space::global; }),
            place(f, [](const Instruction& i) { return i.opcode == Opcode::add; }));
}

// 28 registers of loaded values, and what the block needs beside them, are as many as ptxas keeps.
TEST(LatencyOrder, LoadsMoveUpOnlyAsFarAsThereAreRegisters) {
  std::string body = ".reg .f32 %f<64>; mov.f32 %f63, 0f00000000;\n";
  for (int i = 0; i < 60; ++i) {
    const std::string n = std::to_string(i);
    body += "ld.global.f32 %f" + n + ", [%d1+" + std::to_string(4 * i) + "]; add.f32 %f63, %f63, %f" + n + ";\n";
  }
  const Function f = scheduled(body + "st.global.f32 [%d2], %f63; ret;");
  std::size_t ahead = 0, max_ahead = 0;
  for (const Instruction& i : f.body) {
    if (i.opcode == Opcode::ld) max_ahead = std::max(max_ahead, ++ahead);
    if (i.opcode == Opcode::add) --ahead;
  }
  EXPECT_GT(max_ahead, 8U);
  EXPECT_LE(max_ahead, 28U);
}

// Read-only loads pass a barrier, but a vector of 16 bytes would take too many registers across it.
TEST(LatencyOrder, AReadOnlyLoadPassesABarrierUnlessItIsALongVector) {
  const auto passes = [](const std::string& load) {
    const Function f = scheduled("add.u32 %r1, %r2, 1; st.shared.u32 [s], %r1; bar.sync 0; " + load +
                                 " add.u32 %r7, %r3, 1; st.global.u32 [%d2], %r7; ret;");
    return place(f, [](const Instruction& i) { return i.opcode == Opcode::ld; }) <
           place(
               f, [](const Instruction& i) { return i.opcode == Opcode::bar; });
  };
  EXPECT_TRUE(passes("ld.global.nc.v2.u32 {%r3, %r4}, [%d1];"));
  EXPECT_FALSE(passes("ld.global.nc.v4.u32 {%r3, %r4, %r5, %r6}, [%d1];"));
}

TEST(LatencyOrder, EveryVolatileRelaxedAndAcquiringAccessStaysInTheBlockAndInOrder) {
  for (const std::string how : {"volatile", "relaxed.gpu", "acquire.gpu"}) {
    const Function f =
        scheduled("ld.param.u64 %d1, [out]; ld." + how + ".global.u32 %r1, [%d1]; add.u32 %r2, %r1, 1;" + "ld." + how +
                  ".global.u32 %r3, [%d1+4]; st.global.u32 [%d1+8], %r2;" + "st.global.u32 [%d1+12], %r3; ret;");
    EXPECT_EQ(std::count_if(f.body.begin(), f.body.end(),
                            [](const Instruction& i) { return i.opcode == Opcode::ld && i.space() == Space::global; }),
              2);
    EXPECT_EQ(f.body.back().opcode, Opcode::ret);
  }
}

TEST(LatencyOrder, AGenericAccessKeepsItsOrderWithSharedLocalAndGlobalOnes) {
  for (const std::string space : {"shared", "local", "global"}) {
    const std::string address = space == "shared" ? "s" : space == "local" ? "l" : "%d1";
    const Function load = scheduled(
        "ld.param.u64 %d1, [out]; ld.param.u64 %d2, [out]; mov.u32 %r1, 1; add.u32 %r1, %r1, 1;"
        "st." +
        space + ".u32 [" + address +
        "], %r1; ld.u32 %r2, [%d2];"
        "st.global.u32 [%d1+4], %r2; ret;");
    EXPECT_LT(place(load, [](const Instruction& i) { return i.opcode == Opcode::st; }),
              place(load, [](const Instruction& i) { return i.opcode == Opcode::ld && i.space() == Space::generic; }))
        << space;
    const Function store = scheduled(
        "ld.param.u64 %d1, [out]; ld.param.u64 %d2, [out]; mov.u32 %r1, 1; add.u32 %r1, %r1, 1;"
        "st.u32 [%d2], %r1; ld." +
        space + ".u32 %r2, [" + address +
        "];"
        "st.global.u32 [%d1+4], %r2; ret;");
    EXPECT_LT(place(store, [](const Instruction& i) { return i.opcode == Opcode::st; }),
              place(store,
                    [&](const Instruction& i) {
                      return i.opcode == Opcode::ld && i.space() != Space::param && i.space() != Space::generic;
                    }))
        << space;
  }
}

TEST(LatencyOrder, TheCarryFlagIsADependency) {
  const Function f = scheduled(
      "add.cc.u32 %r1, %r2, %r3; addc.u32 %r4, %r5, %r6; sub.cc.u32 %r7, %r2, %r3; subc.u32 %r8, %r5, %r6;"
      "mad.lo.cc.u32 %r9, %r2, %r3, %r5; madc.hi.u32 %r10, %r2, %r3, %r6; ret;");
  EXPECT_EQ(opcodes(f), (std::vector<Opcode>{Opcode::add, Opcode::addc, Opcode::sub, Opcode::subc, Opcode::mad,
                                             Opcode::madc, Opcode::ret}));
}

TEST(LatencyOrder, ParametersOfACallAreReadAfterTheyAreWritten) {
  auto module = parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n.func (.param .b32 result) f(.param .b32 a)\n{\n"
      ".reg .b32 %r<8>;\nmov.u32 %r1, 3; add.u32 %r1, %r1, 4; st.param.b32 [result], %r1; bar.sync 0;"
      "ld.param.b32 %r2, [result]; add.u32 %r3, %r2, 1; st.param.b32 [result], %r3; ret;\n}\n");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  const Function ordered = in_latency_order(module->functions[0]);
  EXPECT_EQ(violated_dependency(module->functions[0], ordered), std::nullopt);
}

// A random basic block: arithmetic, carry chains, accesses to all spaces, volatile ones, fences, guards, clocks.
std::string random_block(Random& random, int length) {
  std::string text;
  const auto r = [&] { return "%r" + std::to_string(random.below(12)); };
  const auto guard = [&] {
    return random.below(5) == 0 ? "@%p" + std::to_string(random.below(3)) + " " : std::string{};
  };
  for (int i = 0; i < length; ++i) {
    const auto word = std::to_string(4 * random.below(4));
    text += guard();
    switch (random.below(22)) {
      case 0:
        text += "ld.shared.u32 " + r() + ", [s+" + word + "];\n";
        break;
      case 1:
        text += "st.shared.u32 [s+" + word + "], " + r() + ";\n";
        break;
      case 2:
        text += "ld.local.u32 " + r() + ", [l+" + word + "];\n";
        break;
      case 3:
        text += "st.local.u32 [l+" + word + "], " + r() + ";\n";
        break;
      case 4:
        text += "ld.global.u32 " + r() + ", [%d1+" + word + "];\n";
        break;
      case 5:
        text += "st.global.u32 [%d1+" + word + "], " + r() + ";\n";
        break;
      case 6:
        text += "ld.u32 " + r() + ", [%d2+" + word + "];\n";
        break;
      case 7:
        text += "st.u32 [%d2+" + word + "], " + r() + ";\n";
        break;
      case 8:
        text += "ld.volatile.shared.u32 " + r() + ", [s+" + word + "];\n";
        break;
      case 9:
        text += "atom.global.add.u32 " + r() + ", [%d1+" + word + "], " + r() + ";\n";
        break;
      case 10:
        text += "membar.cta;\n";
        break;
      case 11:
        text += "add.cc.u32 " + r() + ", " + r() + ", " + r() + ";\n";
        break;
      case 12:
        text += "addc.cc.u32 " + r() + ", " + r() + ", " + r() + ";\n";
        break;
      case 13:
        text += "subc.u32 " + r() + ", " + r() + ", " + r() + ";\n";
        break;
      case 14:
        text += "setp.lt.u32 %p" + std::to_string(random.below(3)) + ", " + r() + ", " + r() + ";\n";
        break;
      case 15:
        text += "ld.global.nc.u32 " + r() + ", [%d1+" + word + "];\n";
        break;
      case 16:
        text += "mov.u32 " + r() + ", %clock;\n";
        break;
      case 17:
        text += "st.relaxed.gpu.global.u32 [%d1+" + word + "], " + r() + ";\n";
        break;
      case 18:
        text += "ld.shared.v2.u32 {" + r() + ", %r13}, [s+8];\n";
        break;
      default:
        text += "add.u32 " + r() + ", " + r() + ", " + r() + ";\n";
    }
  }
  return text + "ret;";
}

TEST(LatencyOrder, KeepsAllDependenciesOfRandomBlocks) {
  Random random(1);
  int reordered = 0;
  for (int i = 0; i < 400; ++i) {
    const std::string body = random_block(random, 4 + static_cast<int>(random.below(40)));
    const Function original = block_function(body);
    const Function ordered = in_latency_order(original);
    ASSERT_EQ(violated_dependency(original, ordered), std::nullopt) << body;
    reordered += !(ordered == original);
  }
  EXPECT_GT(reordered, 200);
}

TEST(Dependencies, ASwapOfNeighboursIsReportedExactlyWhenOneDependsOnTheOther) {
  Random random(2);
  int dependent = 0, independent = 0;
  for (int i = 0; i < 300; ++i) {
    const Function original = block_function(random_block(random, 12));
    Function swapped = original;
    const std::size_t at = random.below(original.body.size() - 1);
    std::swap(swapped.body[at], swapped.body[at + 1]);
    const bool depends = must_follow(original.body[at], original.body[at + 1]);
    const bool equal = original.body[at] == original.body[at + 1];
    EXPECT_EQ(violated_dependency(original, swapped).has_value(), depends && !equal);
    ++(depends ? dependent : independent);
  }
  EXPECT_GT(dependent, 50);
  EXPECT_GT(independent, 50);
}

TEST(Dependencies, EachKindIsFound) {
  const auto follows = [](const std::string& first, const std::string& then) {
    const Function f = block_function(first + then + " ret;");
    return must_follow(f.body[0], f.body[1]);
  };
  EXPECT_TRUE(follows("add.u32 %r1, %r2, %r3;", "add.u32 %r4, %r1, 1;"));
  EXPECT_TRUE(follows("add.u32 %r1, %r2, %r3;", "add.u32 %r2, %r4, 1;"));
  EXPECT_TRUE(follows("add.u32 %r1, %r2, %r3;", "add.u32 %r1, %r4, 1;"));
  EXPECT_FALSE(follows("add.u32 %r1, %r2, %r3;", "add.u32 %r4, %r2, 1;"));
  EXPECT_TRUE(follows("setp.eq.u32 %p1, %r2, %r3;", "@%p1 add.u32 %r4, %r2, 1;"));
  EXPECT_TRUE(follows("add.cc.u32 %r1, %r2, %r3;", "addc.u32 %r4, %r5, %r6;"));
  EXPECT_TRUE(follows("addc.u32 %r1, %r2, %r3;", "sub.cc.u32 %r4, %r5, %r6;"));
  EXPECT_TRUE(follows("add.cc.u32 %r1, %r2, %r3;", "sub.cc.u32 %r4, %r5, %r6;"));
  EXPECT_FALSE(follows("addc.u32 %r1, %r2, %r3;", "subc.u32 %r4, %r5, %r6;"));
  EXPECT_TRUE(follows("st.shared.u32 [s], %r1;", "ld.shared.u32 %r2, [s+4];"));
  EXPECT_TRUE(follows("ld.shared.u32 %r2, [s+4];", "st.shared.u32 [s], %r1;"));
  EXPECT_FALSE(follows("ld.shared.u32 %r2, [s+4];", "ld.shared.u32 %r1, [s];"));
  EXPECT_FALSE(follows("st.shared.u32 [s], %r1;", "ld.global.u32 %r2, [%d1];"));
  EXPECT_TRUE(follows("st.shared.u32 [s], %r1;", "ld.u32 %r2, [%d1];"));
  EXPECT_TRUE(follows("st.u32 [%d1], %r1;", "ld.local.u32 %r2, [l];"));
  EXPECT_FALSE(follows("st.u32 [%d1], %r1;", "ld.global.nc.u32 %r2, [%d2];"));
  EXPECT_TRUE(follows("ld.volatile.global.u32 %r1, [%d1];", "ld.shared.u32 %r2, [s];"));
  EXPECT_TRUE(follows("membar.cta;", "membar.cta;"));
  EXPECT_FALSE(follows("membar.cta;", "add.u32 %r1, %r2, %r3;"));
  EXPECT_TRUE(follows("mov.u32 %r1, %clock;", "add.u32 %r2, %r3, %r4;"));
}

TEST(Dependencies, AMissingInstructionIsReported) {
  const Function original = block_function("add.u32 %r1, %r2, %r3; add.u32 %r4, %r5, %r6; ret;");
  Function other = original;
  other.body[1] = other.body[0];
  EXPECT_EQ(violated_dependency(original, other), "the block at instruction 0 does not hold the same instructions");
  other.body.pop_back();
  EXPECT_EQ(violated_dependency(original, other), "the functions differ in their number of instructions");
}

}  // namespace
}  // namespace wm::ptx
