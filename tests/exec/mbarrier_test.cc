// mbarrier objects: phases, arrivals and bytes, and warps that wait for one another with them.
#include "exec/mbarrier.h"

#include "exec/snippet.h"

namespace wm::exec {
namespace {

TEST(Mbarrier, APhaseEndsWithItsLastArrival) {
  Mbarrier b = Mbarrier::initial(3);
  EXPECT_TRUE(b.arrive(2));
  EXPECT_EQ(b.phase(), 0U);
  EXPECT_EQ(b.pending(), 1U);
  EXPECT_TRUE(b.arrive(1));
  EXPECT_EQ(b.phase(), 1U);
  EXPECT_EQ(b.pending(), 3U);
  EXPECT_FALSE(b.arrive(4));
}

TEST(Mbarrier, APhaseWaitsForBytesInAnyOrder) {
  Mbarrier b = Mbarrier::initial(1);
  EXPECT_TRUE(b.complete(64));  // before it was announced
  EXPECT_EQ(b.bytes(), -64);
  EXPECT_TRUE(b.expect(128));
  EXPECT_TRUE(b.arrive(1));
  EXPECT_EQ(b.phase(), 0U);
  EXPECT_TRUE(b.complete(64));
  EXPECT_EQ(b.phase(), 1U);
  EXPECT_EQ(b.bytes(), 0);
  EXPECT_FALSE(b.expect(1U << 20));
}

TEST(Mbarrier, ADroppedThreadIsNotExpectedAgain) {
  Mbarrier b = Mbarrier::initial(2);
  EXPECT_TRUE(b.drop(1));
  EXPECT_EQ(b.expected(), 1U);
  EXPECT_TRUE(b.arrive(1));
  EXPECT_EQ(b.phase(), 1U);
  EXPECT_EQ(b.pending(), 1U);
}

TEST(Mbarrier, PhasesWrap) {
  Mbarrier b = Mbarrier::initial(1);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(b.arrive(1));
  EXPECT_EQ(b.phase(), 0U);
  EXPECT_EQ(b.expected(), 1U);
}

// Warp 0 writes, warp 1 waits and adds; eight rounds with two objects, "full" and "empty".
TEST(Mbarrier, AProducerAndAConsumerTakeTurns) {
  Snippet s;
  s.block = {64, 1, 1};
  s.text = kernel(R"(
    .shared .align 8 .b64 full;
    .shared .align 8 .b64 empty;
    .shared .align 4 .b32 tile[32];
    setp.ne.u32 %p0, %thread, 0;
    @%p0 bra READY;
    mbarrier.init.shared::cta.b64 [full], 32;
    mbarrier.init.shared.b64 [empty], 32;
  READY:
    bar.sync 0;
    mov.u32 %r0, 0;
    mov.u32 %r1, 0;
    shl.b32 %r2, %lane, 2;
    mov.u32 %r3, tile;
    add.u32 %r2, %r2, %r3;
    setp.gt.u32 %p1, %thread, 31;
    @%p1 bra CONSUME;
  PRODUCE:
    mad.lo.u32 %r4, %r0, 100, %lane;
    st.shared.u32 [%r2], %r4;
    mbarrier.arrive.release.cta.shared::cta.b64 %d0, [full];
    and.b32 %r5, %r0, 1;
  FULL:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [empty], %r5;
    @!%p2 bra FULL;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p3, %r0, 8;
    @%p3 bra PRODUCE;
    ret;
  CONSUME:
    and.b32 %r5, %r0, 1;
  EMPTY:
    mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %p2, [full], %r5;
    @!%p2 bra EMPTY;
    ld.shared.u32 %r4, [%r2];
    add.u32 %r1, %r1, %r4;
    mbarrier.arrive.shared::cta.b64 _, [empty], 1;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p3, %r0, 8;
    @%p3 bra CONSUME;
    add.u64 %at, %at, -128;
    st.global.u32 [%at], %r1;
    ret;)");
  EXPECT_EQ(words("", s), table(32, [](auto lane) { return 2800 + 8 * lane; }));
  // A wait that fails ends the warp's turn, so that few instructions are lost to spinning.
  EXPECT_LT(run(s).launches.at(0).statistics.warp_instructions, 1000U);
}

TEST(Mbarrier, StatesTellPhasesAndPendingArrivals) {
  const std::string body = R"(
    .shared .align 8 .b64 object;
    setp.ne.u32 %p0, %thread, 0;
    @%p0 ret;
    mov.u64 %d0, object;
    cvta.shared.u64 %d0, %d0;
    mbarrier.init.b64 [%d0], 2;
    mbarrier.arrive.b64 %d1, [%d0];
    mbarrier.pending_count.b64 %r0, %d1;
    mbarrier.test_wait.b64 %p1, [%d0], %d1;
    selp.u32 %r1, 1, 0, %p1;
    mbarrier.arrive.expect_tx.b64 %d2, [%d0], 16;
    mbarrier.pending_count.b64 %r2, %d2;
    mbarrier.test_wait.b64 %p1, [%d0], %d1;
    selp.u32 %r3, 1, 0, %p1;
    mbarrier.complete_tx.shared::cta.b64 [object], 16;
    mbarrier.test_wait.b64 %p1, [%d0], %d1;
    selp.u32 %r4, 1, 0, %p1;
    cp.async.mbarrier.arrive.shared.b64 [object];
    cp.async.mbarrier.arrive.noinc.shared.b64 [object];
    mbarrier.arrive.b64 %d3, [%d0];
    mbarrier.pending_count.b64 %r5, %d3;
    st.global.v4.u32 [%out], {%r0, %r1, %r2, %r3};
    st.global.v2.u32 [%out+16], {%r4, %r5};
    ret;)";
  Snippet s;
  s.out_words = 6;
  EXPECT_EQ(words(body, s), (std::vector<std::uint32_t>{2, 0, 1, 0, 1, 1}));
}

TEST(Mbarrier, MoreArrivalsThanExpectedAreAFault) {
  Snippet s;
  s.text = kernel(R"(
    .shared .align 8 .b64 object;
    mbarrier.init.shared.b64 [object], 2;
    mbarrier.arrive.shared.b64 %d0, [object], 3;
    ret;)");
  EXPECT_NE(run(s).error.find("mbarrier counts more than was announced"), std::string::npos) << run(s).error;
}

}  // namespace
}  // namespace wm::exec
