// Barriers of a block, and the message if one can never complete.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

TEST(Barrier, StoresBeforeItAreSeenAfterIt) {
  Snippet s;
  s.block = {256, 1, 1};
  s.out_words = 256;
  s.text = kernel(R"(
    shl.b32 %r0, %thread, 2;
    mov.u32 %r1, tile;
    add.u32 %r2, %r1, %r0;
    st.shared.u32 [%r2], %thread;
    bar.sync 0;
    xor.b32 %r0, %r0, 1020;
    add.u32 %r2, %r1, %r0;
    ld.shared.u32 %r3, [%r2];
    st.global.u32 [%at], %r3;
    ret;)",
                  ".shared .align 4 .b32 tile[256];");
  EXPECT_EQ(run(s).out, table(256, [](auto i) { return 255 - i; }));
}

TEST(Barrier, ThreadsThatExitedAreNotWaitedFor) {
  Snippet s;
  s.block = {96, 1, 1};
  s.out_words = 96;
  const auto out = words(R"(
    setp.lt.u32 %p0, %thread, 40;
    @%p0 exit;
    bar.sync 0;
    st.global.u32 [%at], 1;
    ret;)",
                         s);
  EXPECT_EQ(out, table(96, [](auto i) { return i < 40 ? 0 : 1; }));
}

TEST(Barrier, AWarpThatExitsLaterLetsTheOthersThrough) {
  Snippet s;
  s.block = {64, 1, 1};
  s.out_words = 64;
  const auto out = words(R"(
    setp.ge.u32 %p0, %thread, 32;
    @%p0 bra LATE;
    bar.sync 0;
    st.global.u32 [%at], 1;
    ret;
  LATE:
    mov.u32 %r0, 0;
  L:
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p1, %r0, 1000;
    @%p1 bra L;
    exit;)",
                         s);
  EXPECT_EQ(out, table(64, [](auto i) { return i < 32 ? 1 : 0; }));
}

// Producers arrive and go on; consumers wait for both.
TEST(Barrier, NamedBarriersCountTheThreadsGiven) {
  Snippet s;
  s.block = {128, 1, 1};
  s.out_words = 128;
  s.text = kernel(R"(
    setp.ge.u32 %p0, %thread, 64;
    shl.b32 %r0, %thread, 2;
    and.b32 %r0, %r0, 255;
    mov.u32 %r1, tile;
    add.u32 %r1, %r1, %r0;
    @%p0 bra PRODUCE;
    bar.sync 3, 128;
    ld.shared.u32 %r2, [%r1];
    st.global.u32 [%at], %r2;
    ret;
  PRODUCE:
    st.shared.u32 [%r1], %thread;
    bar.arrive 3, 128;
    st.global.u32 [%at], 5;
    ret;)",
                  ".shared .align 4 .b32 tile[64];");
  EXPECT_EQ(run(s).out, table(128, [](auto i) { return i < 64 ? i + 64 : 5; }));
}

TEST(Barrier, ReductionsCountAndJoinPredicates) {
  Snippet s;
  s.block = {64, 1, 1};
  s.out_words = 64;
  const auto out = words(R"(
    setp.lt.u32 %p0, %thread, 37;
    bar.red.popc.u32 %r0, 0, %p0;
    bar.red.and.pred %p1, 0, %p0;
    bar.red.or.pred %p2, 0, !%p0;
    barrier.red.and.pred %p3, 1, 64, !%p4;
    selp.u32 %r1, 100, 0, %p1;
    selp.u32 %r2, 1000, 0, %p2;
    selp.u32 %r3, 10000, 0, %p3;
    add.u32 %r0, %r0, %r1;
    add.u32 %r0, %r0, %r2;
    add.u32 %r0, %r0, %r3;
    st.global.u32 [%at], %r0;
    ret;)",
                         s);
  EXPECT_EQ(out, table(64, [](auto) { return 11037; }));
}

TEST(Barrier, ABarrierIsUsedAgainAndAgain) {
  Snippet s;
  s.block = {96, 1, 1};
  s.out_words = 96;
  s.text = kernel(R"(
    setp.eq.u32 %p2, %thread, 0;
    @%p2 st.shared.u32 [word], 0;
    bar.sync 0;
    mov.u32 %r0, 0;
  L:
    and.b32 %r1, %r0, 127;
    setp.eq.u32 %p0, %r1, %thread;
    @%p0 st.shared.u32 [word], %r0;
    bar.sync 0;
    ld.shared.u32 %r2, [word];
    bar.sync 0;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p1, %r0, 96;
    @%p1 bra L;
    st.global.u32 [%at], %r2;
    ret;)",
                  ".shared .align 4 .b32 word;");
  EXPECT_EQ(run(s).out, table(96, [](auto) { return 95; }));
}

TEST(Barrier, BothSidesOfABranchMayComeToABarrier) {
  Snippet s;
  s.block = {64, 1, 1};
  s.out_words = 64;
  const auto out = words(R"(
    and.b32 %r0, %thread, 1;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 bra EVEN;
    barrier.sync 0;
    mov.u32 %r1, 1;
    bra END;
  EVEN:
    barrier.sync 0;
    mov.u32 %r1, 2;
  END:
    st.global.u32 [%at], %r1;
    ret;)",
                         s);
  EXPECT_EQ(out, table(64, [](auto i) { return i % 2 == 0 ? 2 : 1; }));
}

TEST(Barrier, AGuardedBarrierHoldsTheLanesWhoseGuardIsTrue) {
  Snippet s;
  s.block = {32, 1, 1};
  // Lanes 16 to 31 exit at once, so the barrier is complete with the others.
  const auto out = words(R"(
    setp.lt.u32 %p0, %lane, 16;
    @%p0 bar.sync 0;
    st.global.u32 [%at], 3;
    ret;)",
                         s);
  EXPECT_EQ(out, table(32, [](auto) { return 3; }));
}

TEST(Barrier, ADeadlockShowsWhatEachWarpWaitsFor) {
  Snippet s;
  s.block = {64, 1, 1};
  s.text = kernel(R"(setp.ge.u32 %p0, %thread, 32;
    @%p0 bra B;
    bar.sync 1;
    ret;
  B:
    bar.sync 2;
    ret;)");
  EXPECT_EQ(run(s).error,
            "kernel 'k': deadlock in block (0,0,0): no warp can go on\n"
            "  block (0,0,0) warp 0 lanes ffffffff at k.ptx:23 in 'k': bar.sync, waits for barrier 1 (32 of 64 threads "
            "arrived)\n"
            "  block (0,0,0) warp 1 lanes ffffffff at k.ptx:26 in 'k': bar.sync, waits for barrier 2 (32 of 64 threads "
            "arrived)");
}

TEST(Barrier, ADeadlockDoesNotWaitForThreadsThatExited) {
  Snippet s;
  s.block = {96, 1, 1};
  s.text = kernel(R"(setp.ge.u32 %p0, %thread, 64;
    @%p0 exit;
    setp.ge.u32 %p0, %thread, 32;
    @%p0 bra B;
    bar.sync 1;
    ret;
  B:
    bar.sync 2;
    ret;)");
  EXPECT_NE(run(s).error.find("waits for barrier 1 (32 of 64 threads arrived)"), std::string::npos) << run(s).error;
}

TEST(Barrier, TooFewThreadsForACountIsADeadlock) {
  Snippet s;
  s.block = {64, 1, 1};
  s.text = kernel("bar.sync 0, 96;\nret;");
  EXPECT_NE(run(s).error.find("waits for barrier 0 (64 of 96 threads arrived)"), std::string::npos) << run(s).error;
}

TEST(Barrier, ImpossibleBarriersAreFaults) {
  Snippet s;
  s.text = kernel("bar.sync 16;\nret;");
  EXPECT_NE(run(s).error.find("barrier 16 of 16"), std::string::npos) << run(s).error;
  s.text = kernel("bar.sync 0, 33;\nret;");
  EXPECT_NE(run(s).error.find("barrier 0 for 33 threads, which is no multiple of 32"), std::string::npos)
      << run(s).error;
}

}  // namespace
}  // namespace wm::exec
