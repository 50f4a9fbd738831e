// Lanes of a warp together: shuffles, votes, matches, reductions, and waiting for lanes that went elsewhere.
#include <bit>

#include "exec/snippet.h"

namespace wm::exec {
namespace {

TEST(Exchange, ShufflesInTheirFourModes) {
  EXPECT_EQ(words("shfl.sync.up.b32 %r0|%p0, %lane, 3, 0, -1;\nselp.u32 %r1, 100, 0, %p0;\nadd.u32 %r0, %r0, %r1;\n"
                  "st.global.u32 [%at], %r0;\nret;"),
            table(32, [](auto i) { return i < 3 ? i : i - 3 + 100; }));
  EXPECT_EQ(words("shfl.sync.down.b32 %r0, %lane, 4, 31, -1;\nst.global.u32 [%at], %r0;\nret;"),
            table(32, [](auto i) { return i + 4 > 31 ? i : i + 4; }));
  EXPECT_EQ(words("shfl.sync.bfly.b32 %r0, %lane, 16, 31, -1;\nst.global.u32 [%at], %r0;\nret;"),
            table(32, [](auto i) { return i ^ 16; }));
  EXPECT_EQ(words("shfl.sync.idx.b32 %r0, %lane, 5, 31, -1;\nst.global.u32 [%at], %r0;\nret;"),
            table(32, [](auto) { return 5; }));
}

TEST(Exchange, ShufflesStayInTheirSegment) {
  // Segments of 8: c = (32 - 8) << 8 | 31
  EXPECT_EQ(words("shfl.sync.idx.b32 %r0, %lane, 10, 0x181f, -1;\nst.global.u32 [%at], %r0;\nret;"),
            table(32, [](auto i) { return i / 8 * 8 + 2; }));
  EXPECT_EQ(words("shfl.sync.down.b32 %r0, %lane, 3, 0x181f, -1;\nst.global.u32 [%at], %r0;\nret;"),
            table(32, [](auto i) { return i % 8 + 3 > 7 ? i : i + 3; }));
  EXPECT_EQ(words("shfl.sync.up.b32 %r0, %lane, 2, 0x1800, -1;\nst.global.u32 [%at], %r0;\nret;"),
            table(32, [](auto i) { return i % 8 < 2 ? i : i - 2; }));
}

TEST(Exchange, ADestinationMayBeItsSource) {
  EXPECT_EQ(words("mov.u32 %r0, %lane;\nshfl.sync.bfly.b32 %r0, %r0, 1, 31, -1;\nst.global.u32 [%at], %r0;\nret;"),
            table(32, [](auto i) { return i ^ 1; }));
}

TEST(Exchange, VotesAndBallots) {
  EXPECT_EQ(words(R"(
    setp.lt.u32 %p0, %lane, 5;
    vote.sync.ballot.b32 %r0, %p0, -1;
    vote.sync.all.pred %p1, %p0, 0x1f;
    vote.sync.any.pred %p2, !%p0, -1;
    vote.sync.uni.pred %p3, %p0, -1;
    selp.u32 %r1, 1000, 0, %p2;
    selp.u32 %r2, 10000, 0, %p3;
    add.u32 %r0, %r0, %r1;
    add.u32 %r0, %r0, %r2;
    st.global.u32 [%at], %r0;
    ret;)"),
            table(32, [](auto) { return 1031; }));
}

TEST(Exchange, ABallotHasOnlyTheLanesOfTheMask) {
  EXPECT_EQ(words(R"(
    setp.ne.u32 %p0, %lane, 40;
    mov.u32 %r1, %lanemask_lt;
    vote.sync.ballot.b32 %r0, %p0, %r1;
    st.global.u32 [%at], %r0;
    ret;)"),
            table(32, [](auto i) { return (1U << i) - 1; }));
}

TEST(Exchange, GroupsWithTheirOwnMasksDoNotMix) {
  EXPECT_EQ(words(R"(
    and.b32 %r0, %lane, 16;
    setp.eq.u32 %p0, %r0, 0;
    selp.b32 %r1, 0x0000ffff, 0xffff0000, %p0;
    and.b32 %r2, %lane, 3;
    setp.eq.u32 %p1, %r2, 0;
    vote.sync.ballot.b32 %r3, %p1, %r1;
    redux.sync.add.s32 %r4, %lane, %r1;
    xor.b32 %r3, %r3, %r4;
    st.global.u32 [%at], %r3;
    ret;)"),
            table(32, [](auto i) { return i < 16 ? 0x1111U ^ 120U : 0x11110000U ^ 376U; }));
}

TEST(Exchange, MatchFindsEqualValues) {
  EXPECT_EQ(words("and.b32 %r0, %lane, 3;\nmatch.any.sync.b32 %r1, %r0, -1;\nst.global.u32 [%at], %r1;\nret;"),
            table(32, [](auto i) { return 0x11111111U << (i % 4); }));
  EXPECT_EQ(words(R"(
    cvt.u64.u32 %d0, %r5;
    match.all.sync.b64 %r1|%p0, %d0, -1;
    selp.u32 %r2, 1, 0, %p0;
    match.all.sync.b32 %r3|%p1, %lane, -1;
    selp.u32 %r4, 2, 0, %p1;
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r4;
    st.global.u32 [%at], %r1;
    ret;)"),
            table(32, [](auto) { return 0; }));
}

TEST(Exchange, ReductionsOfEveryKind) {
  Snippet s;
  s.out_words = 8;
  const auto out = words(R"(
    sub.s32 %r0, %lane, 10;
    redux.sync.min.s32 %r1, %r0, -1;
    st.global.u32 [%out], %r1;
    redux.sync.max.u32 %r1, %r0, -1;
    st.global.u32 [%out+4], %r1;
    redux.sync.and.b32 %r1, %lane, -1;
    st.global.u32 [%out+8], %r1;
    redux.sync.or.b32 %r1, %lane, -1;
    st.global.u32 [%out+12], %r1;
    redux.sync.xor.b32 %r1, %lane, -1;
    st.global.u32 [%out+16], %r1;
    redux.sync.max.s32 %r1, %r0, -1;
    st.global.u32 [%out+20], %r1;
    redux.sync.min.u32 %r1, %r0, -1;
    st.global.u32 [%out+24], %r1;
    ret;)",
                         s);
  EXPECT_EQ(out, (std::vector<std::uint32_t>{static_cast<std::uint32_t>(-10), 0xffffffff, 0, 31, 0, 21, 0, 0}));
}

TEST(Exchange, OneLaneIsElected) {
  EXPECT_EQ(words(R"(
    setp.lt.u32 %p1, %lane, 7;
    @%p1 bra END;
    elect.sync %r0|%p0, 0xffffff80;
    selp.u32 %r1, 100, 0, %p0;
    add.u32 %r0, %r0, %r1;
    st.global.u32 [%at], %r0;
  END:
    ret;)"),
            table(32, [](auto i) { return i < 7    ? 0
                                          : i == 7 ? 107
                                                   : 7; }));
}

// Lanes of the two sides of a branch shuffle with one another: each side waits for the other.
TEST(Exchange, AShuffleWaitsForLanesOnAnotherPath) {
  EXPECT_EQ(words(R"(
    and.b32 %r0, %lane, 1;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 bra EVEN;
    add.u32 %r1, %lane, 100;
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
    bra END;
  EVEN:
    add.u32 %r1, %lane, 200;
    shfl.sync.bfly.b32 %r2, %r1, 1, 31, -1;
  END:
    st.global.u32 [%at], %r2;
    ret;)"),
            table(32, [](auto i) { return i % 2 == 0 ? i + 1 + 100 : i - 1 + 200; }));
}

// The barrier of the first half completes at the barrier behind the branch that the second half goes to.
TEST(Exchange, AWarpBarrierMeetsLanesThatWentAhead) {
  Snippet s;
  s.text = kernel(R"(
    shl.b32 %r0, %lane, 2;
    mov.u32 %r1, tile;
    add.u32 %r1, %r1, %r0;
    setp.ge.u32 %p0, %lane, 16;
    @%p0 bra BEHIND;
    st.shared.u32 [%r1], 7;
    bar.warp.sync -1;
  BEHIND:
    @%p0 bar.warp.sync -1;
    xor.b32 %r0, %r0, 64;
    mov.u32 %r1, tile;
    add.u32 %r1, %r1, %r0;
    @%p0 ld.shared.u32 %r2, [%r1];
    st.global.u32 [%at], %r2;
    ret;)",
                  ".shared .align 4 .b32 tile[32];");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto i) { return i < 16 ? 0 : 7; }));
}

TEST(Exchange, LanesThatExitedAreNotWaitedFor) {
  EXPECT_EQ(words(R"(
    setp.lt.u32 %p0, %lane, 8;
    @%p0 exit;
    redux.sync.add.u32 %r0, %lane, -1;
    st.global.u32 [%at], %r0;
    ret;)"),
            table(32, [](auto i) { return i < 8 ? 0 : 468; }));
}

TEST(Exchange, LanesThatNeverComeAreADeadlock) {
  Snippet s;
  s.text = kernel(R"(setp.lt.u32 %p0, %lane, 16;
    @%p0 bra A;
    shfl.sync.bfly.b32 %r0, %lane, 1, 31, -1;
    ret;
  A:
    vote.sync.any.pred %p1, %p0, -1;
    ret;)");
  const std::string error = run(s).error;
  EXPECT_NE(error.find("deadlock in block (0,0,0)"), std::string::npos) << error;
  EXPECT_NE(error.find("lanes ffff0000 at k.ptx:23 in 'k': shfl.sync.bfly.b32, waits for lanes 0000ffff"),
            std::string::npos)
      << error;
  EXPECT_NE(error.find("lanes 0000ffff at k.ptx:26 in 'k': vote.sync.any.pred, waits for lanes ffff0000"),
            std::string::npos)
      << error;
}

TEST(Exchange, FormsWithoutSyncTakeTheLanesThatAreThere) {
  EXPECT_EQ(words(R"(
    setp.lt.u32 %p0, %lane, 16;
    @%p0 bra A;
    vote.ballot.b32 %r0, !%p0;
    shfl.bfly.b32 %r1, %lane, 1, 31;
    bra END;
  A:
    vote.ballot.b32 %r0, %p0;
    shfl.bfly.b32 %r1, %lane, 2, 31;
  END:
    xor.b32 %r0, %r0, %r1;
    st.global.u32 [%at], %r0;
    ret;)"),
            table(32, [](auto i) { return i < 16 ? 0xffffU ^ i ^ 2 : 0xffff0000U ^ i ^ 1; }));
}

// Lanes spin for different times, so that those which have left the loop are let go before the others. The body is
// executed by the whole warp.
std::string after_contention(const std::string& body) {
  return kernel(".shared .align 16 .b8 tile[512];\n.shared .u32 word;\n" + std::string(R"(
    setp.eq.u32 %p0, %lane, 0;
    @%p0 st.shared.u32 [word], 0;
    bar.warp.sync -1;
    mul.lo.u32 %r1, %lane, 100;
    LOOP:
    atom.shared.add.u32 %r2, [word], 1;
    setp.eq.u32 %p1, %r1, 0;
    sub.u32 %r1, %r1, 1;
    @!%p1 bra LOOP;
)") + body);
}

TEST(Exchange, MatricesAreStoredByTheWholeWarpAfterLanesWereLetGo) {
  Snippet s;
  s.text = after_contention(R"(
    mov.u32 %r3, tile;
    shl.b32 %r4, %lane, 4;
    add.u32 %r4, %r3, %r4;
    stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r4], {%lane};
    bar.warp.sync -1;
    shl.b32 %r4, %lane, 2;
    add.u32 %r4, %r3, %r4;
    ld.shared.u32 %r5, [%r4];
    st.global.u32 [%at], %r5;
    ret;)");
  const std::string target = ".target sm_80";
  s.text.replace(s.text.find(target), target.size(), ".target sm_90");
  EXPECT_EQ(words("", s), table(32, [](auto i) { return i; }));
}

TEST(Exchange, MatricesAreMovedByTheWholeWarpAfterLanesWereLetGo) {
  // A has one 1 in each row, in the column of its number; B's words are the lanes' numbers.
  Snippet s;
  s.text = after_contention(R"(
    add.u32 %r8, %lane, 1;
    movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r8;
    movmatrix.sync.aligned.m8n8.trans.b16 %r7, %r6;
    st.global.u32 [%at], %r7;
    ret;)");
  EXPECT_EQ(words("", s), table(32, [](auto i) { return i + 1; }));
}

TEST(Exchange, OperationsOfTheWholeWarpInDifferentBranchesAreAFault) {
  Snippet s;
  s.text = kernel(R"(
    setp.lt.u32 %p0, %lane, 16;
    @%p0 bra LOW;
    movmatrix.sync.aligned.m8n8.trans.b16 %r6, %lane;
    bra DONE;
    LOW:
    movmatrix.sync.aligned.m8n8.trans.b16 %r6, %thread;
    DONE:
    st.global.u32 [%at], %r6;
    ret;)");
  EXPECT_NE(run(s).error, "");
}

}  // namespace
}  // namespace wm::exec
