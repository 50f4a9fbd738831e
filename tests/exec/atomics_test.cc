// atom and red: every operation and type, in global and shared memory.
#include <bit>

#include "exec/snippet.h"

namespace wm::exec {
namespace {

// One thread; `out` begins as `before`, the operation works on it, its result goes to out[4].
std::vector<std::uint32_t> once(const std::string& operation, std::vector<std::uint32_t> before) {
  Snippet s;
  s.block = {1, 1, 1};
  s.out_words = 8;
  s.inputs = {before};
  s.text = kernel("ld.global.v4.u32 {%r10,%r11,%r12,%r13}, [%in0];\nst.global.v4.u32 [%out], {%r10,%r11,%r12,%r13};\n" +
                      operation + "\nret;",
                  "", 1);
  const Outcome o = run(s);
  EXPECT_EQ(o.error, "");
  return o.out;
}

std::uint32_t bits(float f) { return std::bit_cast<std::uint32_t>(f); }

TEST(Atomics, IntegerOperationsGiveTheOldValueAndLeaveTheNew) {
  struct {
    const char* operation;
    std::uint32_t old, b, after;
  } cases[] = {
      {"add.u32", 5, 0xffffffff, 4},
      {"add.s32", 5, 0xfffffffe, 3},
      {"min.u32", 5, 0xffffffff, 5},
      {"min.s32", 5, 0xffffffff, 0xffffffff},
      {"max.u32", 5, 0xffffffff, 0xffffffff},
      {"max.s32", 5, 0xffffffff, 5},
      {"inc.u32", 5, 5, 0},
      {"inc.u32", 5, 6, 6},
      {"inc.u32", 7, 6, 0},
      {"dec.u32", 0, 7, 7},
      {"dec.u32", 9, 7, 7},
      {"dec.u32", 3, 7, 2},
      {"dec.u32", 7, 7, 6},
      {"dec.u32", 8, 7, 7},
      {"and.b32", 0xf0f0, 0xff, 0xf0},
      {"or.b32", 0xf0f0, 0xff, 0xf0ff},
      {"xor.b32", 0xf0f0, 0xff, 0xf00f},
      {"exch.b32", 1, 2, 2},
  };
  for (const auto& c : cases) {
    const auto out = once("mov.u32 %r0, " + std::to_string(c.b) + ";\natom.global." + c.operation +
                              " %r1, [%out], %r0;\nst.global.u32 [%out+16], %r1;",
                          {c.old, 0, 0, 0});
    EXPECT_EQ(out[0], c.after) << c.operation;
    EXPECT_EQ(out[4], c.old) << c.operation;
  }
}

TEST(Atomics, CompareAndSwapOfEveryWidth) {
  auto out = once("atom.global.cas.b32 %r1, [%out], 7, 9;\nst.global.u32 [%out+16], %r1;", {7, 0, 0, 0});
  EXPECT_EQ(out[0], 9U);
  EXPECT_EQ(out[4], 7U);
  out = once("atom.global.cas.b32 %r1, [%out], 8, 9;\nst.global.u32 [%out+16], %r1;", {7, 0, 0, 0});
  EXPECT_EQ(out[0], 7U);
  out = once(
      "mov.u16 %h1, 7;\nmov.u16 %h2, 9;\natom.global.cas.b16 %h0, [%out+2], %h1, %h2;\nst.global.u16 [%out+16], %h0;",
      {0x00070003, 0, 0, 0});
  EXPECT_EQ(out[0], 0x00090003U);
  EXPECT_EQ(out[4], 7U);
  out = once(
      "mov.u64 %d0, 0x0000000200000001;\nmov.u64 %d1, 0x5555555566666666;\natom.global.cas.b64 %d2, [%out], %d0, "
      "%d1;\nst.global.u64 [%out+16], %d2;",
      {1, 2, 0, 0});
  EXPECT_EQ(out[0], 0x66666666U);
  EXPECT_EQ(out[1], 0x55555555U);
  EXPECT_EQ(out[4], 1U);
  EXPECT_EQ(out[5], 2U);
}

TEST(Atomics, Of64Bits) {
  auto out =
      once("mov.u64 %d0, -1;\natom.global.add.u64 %d1, [%out], %d0;\nst.global.u64 [%out+16], %d1;", {0, 1, 0, 0});
  EXPECT_EQ(out[0], 0xffffffffU);
  EXPECT_EQ(out[1], 0U);
  EXPECT_EQ(out[5], 1U);
  out = once("mov.u64 %d0, -1;\nred.global.min.s64 [%out], %d0;", {0, 1, 0, 0});
  EXPECT_EQ(out[1], 0xffffffffU);
  out = once("mov.u64 %d0, 0x00000001ffffffff;\nred.global.max.u64 [%out], %d0;", {0, 1, 0, 0});
  EXPECT_EQ(out[0], 0xffffffffU);
  out = once("mov.u64 %d0, 0xff00000000;\nred.global.xor.b64 [%out], %d0;", {3, 0xf0, 0, 0});
  EXPECT_EQ(out[1], 0x0fU);
}

TEST(Atomics, FloatsAreAddedAndSubnormalsFlushedInGlobalMemoryOnly) {
  auto out =
      once("atom.global.add.f32 %f0, [%out], 0f3FC00000;\nst.global.f32 [%out+16], %f0;", {bits(2.25F), 0, 0, 0});
  EXPECT_EQ(out[0], bits(3.75F));
  EXPECT_EQ(out[4], bits(2.25F));
  out = once("red.global.add.f32 [%out], 0f00000003;", {5, 0, 0, 0});
  EXPECT_EQ(out[0], 0U);
  Snippet s;
  s.text = kernel(
      "st.shared.u32 [w], 5;\nred.shared.add.f32 [w], 0f00000003;\nld.shared.u32 %r0, [w];\n"
      "st.global.u32 [%out], %r0;\nret;",
      ".shared .b32 w;");
  s.block = {1, 1, 1};
  EXPECT_EQ(run(s).out[0], 8U);
  out = once("red.global.add.f64 [%out], 0d3FF8000000000000;", {0, 0x40000000, 0, 0});
  EXPECT_EQ(out[1], 0x400c0000U);
}

TEST(Atomics, HalvesAreAddedEachOnItsOwn) {
  // {1.0, 2.0} + {0.5, 3.0}
  auto out =
      once("mov.b32 %r0, 0x42003800;\natom.global.add.noftz.f16x2 %r1, [%out], %r0;\nst.global.u32 [%out+16], %r1;",
           {0x40003c00, 0, 0, 0});
  EXPECT_EQ(out[0], 0x45003e00U);
  EXPECT_EQ(out[4], 0x40003c00U);
  // bf16 {1.0, 2.0} + {0.5, 3.0}
  out = once("mov.b32 %r0, 0x40403f00;\nred.global.add.noftz.bf16x2 [%out], %r0;", {0x40003f80, 0, 0, 0});
  EXPECT_EQ(out[0], 0x40a03fc0U);
}

TEST(Atomics, EveryLaneCountsOnce) {
  Snippet s;
  s.grid = {5, 1, 1};
  s.block = {100, 1, 1};
  s.out_words = 1;
  EXPECT_EQ(words("red.global.add.u32 [%out], 1;\nret;", s)[0], 500U);
}

TEST(Atomics, LanesTakeTheirTurnInOrder) {
  EXPECT_EQ(words(R"(
    atom.global.add.u32 %r0, [%out], 0;
    atom.shared.add.u32 %r1, [word], 1;
    sub.u32 %r1, %r1, %r2;
    st.global.u32 [%at], %r1;
    ret;)",
                  [] {
                    Snippet s;
                    s.text = kernel(R"(
    setp.eq.u32 %p0, %lane, 0;
    @%p0 st.shared.u32 [word], 0;
    atom.shared.add.u32 %r1, [word], 1;
    st.global.u32 [%at], %r1;
    ret;)",
                                    ".shared .b32 word;");
                    return s;
                  }()),
            table(32, [](auto i) { return i; }));
}

TEST(Atomics, AnAtomicOutsideIsAFault) {
  Snippet s;
  s.text = kernel("red.global.add.u32 [%out+4096], 1;\nret;");
  EXPECT_NE(run(s).error.find("global atomic of 4 bytes at 0x700000011000 is out of bounds"), std::string::npos)
      << run(s).error;
}

}  // namespace
}  // namespace wm::exec
