// Lanes that part and meet again, in every shape of control flow.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

TEST(Divergence, BothSidesOfABranchRunAndMeet) {
  const auto out = words(R"(
    setp.lt.u32 %p0, %lane, 10;
    @%p0 bra SMALL;
    mov.u32 %r0, 200;
    bra JOIN;
  SMALL:
    mov.u32 %r0, 100;
  JOIN:
    activemask.b32 %r1;
    add.u32 %r0, %r0, %lane;
    setp.ne.u32 %p1, %r1, 0xffffffff;
    @%p1 mov.u32 %r0, 9999;
    st.global.u32 [%at], %r0;
    ret;)");
  EXPECT_EQ(out, table(32, [](auto i) { return i < 10 ? 100 + i : 200 + i; }));
}

TEST(Divergence, ALoopEndsForEachLaneInItsOwnTime) {
  const auto out = words(R"(
    mov.u32 %r0, 0;
    mov.u32 %r1, 0;
  LOOP:
    add.u32 %r0, %r0, %r1;
    add.u32 %r1, %r1, 1;
    setp.le.u32 %p0, %r1, %lane;
    @%p0 bra LOOP;
    activemask.b32 %r2;
    setp.ne.u32 %p1, %r2, 0xffffffff;
    @%p1 mov.u32 %r0, 9999;
    st.global.u32 [%at], %r0;
    ret;)");
  EXPECT_EQ(out, table(32, [](auto i) { return i * (i + 1) / 2; }));
}

TEST(Divergence, BranchesInsideBranchesInsideALoop) {
  const auto out = words(R"(
    mov.u32 %r0, 0;
    mov.u32 %r1, 0;
  LOOP:
    and.b32 %r2, %lane, 1;
    setp.eq.u32 %p0, %r2, 0;
    @%p0 bra EVEN;
    and.b32 %r3, %r1, 1;
    setp.eq.u32 %p1, %r3, 0;
    @%p1 bra ODD_EVEN;
    add.u32 %r0, %r0, 1;
    bra NEXT;
  ODD_EVEN:
    add.u32 %r0, %r0, 10;
    bra NEXT;
  EVEN:
    setp.gt.u32 %p2, %r1, %lane;
    @%p2 bra NEXT;
    add.u32 %r0, %r0, 100;
  NEXT:
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p3, %r1, 8;
    @%p3 bra LOOP;
    st.global.u32 [%at], %r0;
    ret;)");
  EXPECT_EQ(out, table(32, [](auto lane) {
              std::uint32_t r = 0;
              for (std::uint32_t i = 0; i < 8; ++i) r += lane % 2 != 0 ? (i % 2 == 0 ? 10 : 1) : (i > lane ? 0 : 100);
              return r;
            }));
}

TEST(Divergence, LanesThatReturnEarlyAreNotWaitedFor) {
  const auto out = words(R"(
    mov.u32 %r0, 1;
    st.global.u32 [%at], %r0;
    setp.lt.u32 %p0, %lane, 16;
    @%p0 ret;
    setp.lt.u32 %p0, %lane, 24;
    @%p0 exit;
    activemask.b32 %r0;
    st.global.u32 [%at], %r0;
    ret;)");
  EXPECT_EQ(out, table(32, [](auto i) { return i < 24 ? 1U : 0xff000000U; }));
}

TEST(Divergence, AnExitInsideABranchLeavesTheOthersToMeet) {
  const auto out = words(R"(
    setp.lt.u32 %p0, %lane, 16;
    @!%p0 bra HIGH;
    setp.lt.u32 %p1, %lane, 8;
    @!%p1 bra MEET;
    exit;
  HIGH:
    add.u32 %r0, %lane, 1;
  MEET:
    activemask.b32 %r1;
    st.global.u32 [%at], %r1;
    ret;)");
  EXPECT_EQ(out[7], 0U);
  // Lanes 8 to 31 are all that is left. Whether they meet before the return is up to the machine: each lane sees
  // itself.
  for (std::uint32_t i = 8; i < 32; ++i) EXPECT_NE(out[i] & (1U << i), 0U);
}

TEST(Divergence, AnIndexedBranchSendsEachLaneToItsTarget) {
  const auto out = words(R"(
    and.b32 %r1, %lane, 3;
    ts: .branchtargets A, B, C, D;
    brx.idx %r1, ts;
  A:
    mov.u32 %r0, 10;
    bra END;
  B:
    mov.u32 %r0, 20;
    bra END;
  C:
    mov.u32 %r0, 30;
    bra END;
  D:
    mov.u32 %r0, 40;
  END:
    activemask.b32 %r2;
    setp.ne.u32 %p1, %r2, 0xffffffff;
    @%p1 mov.u32 %r0, 9999;
    st.global.u32 [%at], %r0;
    ret;)");
  EXPECT_EQ(out, table(32, [](auto i) { return (i % 4 + 1) * 10; }));
}

TEST(Divergence, AnIndexPastTheTableIsAFault) {
  Snippet s;
  s.text = kernel("ts: .branchtargets A, B;\nbrx.idx %lane, ts;\nA: ret;\nB: ret;");
  EXPECT_EQ(run(s).error,
            "kernel 'k': brx.idx with index 2 into a table of 2, at k.ptx:22, block (0,0,0) thread (2,0,0)");
}

TEST(Divergence, APartialWarpRunsOnlyItsThreads) {
  Snippet s;
  s.block = {40, 1, 1};
  s.out_words = 64;
  const auto out = words("activemask.b32 %r0;\nst.global.u32 [%at], %r0;\nret;", s);
  EXPECT_EQ(out, table(64, [](auto i) { return i < 32 ? 0xffffffffU : i < 40 ? 0xffU : 0U; }));
}

// One lane holds a lock, the others spin on it: with only a reconvergence stack the holder would never make progress.
TEST(Divergence, ALockWithinAWarpIsPassedOn) {
  Snippet s;
  s.out_words = 2;
  s.limit = 10000000;
  const auto out = words(R"(
  SPIN:
    atom.global.cas.b32 %r0, [%out], 0, 1;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra SPIN;
    ld.volatile.global.u32 %r1, [%out+4];
    add.u32 %r1, %r1, 1;
    st.volatile.global.u32 [%out+4], %r1;
    atom.global.exch.b32 %r2, [%out], 0;
    ret;)",
                         s);
  EXPECT_EQ(out[1], 32U);
}

TEST(Divergence, AWarpThatWaitsForAnotherGetsItsTurn) {
  Snippet s;
  s.block = {64, 1, 1};
  s.out_words = 2;
  const auto out = words(R"(
    setp.ge.u32 %p0, %thread, 32;
    @%p0 bra GIVE;
  WAIT:
    ld.volatile.global.u32 %r0, [%out];
    setp.eq.u32 %p1, %r0, 0;
    @%p1 bra WAIT;
    st.global.u32 [%out+4], %r0;
    ret;
  GIVE:
    st.volatile.global.u32 [%out], 7;
    ret;)",
                         s);
  EXPECT_EQ(out[1], 7U);
}

TEST(Divergence, BlocksThatWaitForEachOtherAllGetOn) {
  Snippet s;
  s.grid = {4, 1, 1};
  s.block = {1, 1, 1};
  s.out_words = 2;
  s.limit = 200000000;
  // A barrier of all blocks: the last to come lets the others through.
  const auto out = words(R"(
    atom.global.add.u32 %r0, [%out], 1;
  WAIT:
    ld.volatile.global.u32 %r0, [%out];
    setp.lt.u32 %p0, %r0, 4;
    @%p0 bra WAIT;
    atom.global.add.u32 %r0, [%out+4], 1;
    ret;)",
                         s);
  EXPECT_EQ(out[1], 4U);
}

}  // namespace
}  // namespace wm::exec
