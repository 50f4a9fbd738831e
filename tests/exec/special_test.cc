// Special registers and the instructions that have no effect here.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

std::vector<std::uint32_t> reads(const std::string& special, gpu::Dim3 grid, gpu::Dim3 block) {
  Snippet s;
  s.grid = grid;
  s.block = block;
  const auto threads = static_cast<std::uint32_t>(block.count());
  s.out_words = static_cast<std::size_t>(grid.count()) * threads;
  return words("mov.u32 %r0, " + special + R"(;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %ntid.y;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %tid.y;
    mov.u32 %r5, %tid.z;
    mad.lo.u32 %r5, %r5, %r2, %r4;
    mad.lo.u32 %r5, %r5, %r1, %r3;
    mov.u32 %r6, %ctaid.x;
    mov.u32 %r7, %ctaid.y;
    mov.u32 %r8, %ctaid.z;
    mov.u32 %r9, %nctaid.x;
    mov.u32 %r10, %nctaid.y;
    mad.lo.u32 %r8, %r8, %r10, %r7;
    mad.lo.u32 %r8, %r8, %r9, %r6;
    mad.lo.u32 %r5, %r8, )" +
                   std::to_string(threads) + R"(, %r5;
    mul.wide.u32 %d0, %r5, 4;
    add.u64 %d0, %d0, %out;
    st.global.u32 [%d0], %r0;
    ret;)",
               s);
}

TEST(Special, ThreadAndBlockIndicesInThreeDimensions) {
  const gpu::Dim3 grid{2, 3, 2}, block{5, 4, 3};
  EXPECT_EQ(reads("%tid.x", grid, block), table(720, [](auto i) { return i % 5; }));
  EXPECT_EQ(reads("%tid.y", grid, block), table(720, [](auto i) { return i / 5 % 4; }));
  EXPECT_EQ(reads("%tid.z", grid, block), table(720, [](auto i) { return i / 20 % 3; }));
  EXPECT_EQ(reads("%ctaid.x", grid, block), table(720, [](auto i) { return i / 60 % 2; }));
  EXPECT_EQ(reads("%ctaid.y", grid, block), table(720, [](auto i) { return i / 120 % 3; }));
  EXPECT_EQ(reads("%ctaid.z", grid, block), table(720, [](auto i) { return i / 360; }));
  EXPECT_EQ(reads("%nctaid.y", grid, block), table(720, [](auto) { return 3; }));
  EXPECT_EQ(reads("%envreg7", grid, block), table(720, [](auto) { return 3; })) << "as NVIDIA's OpenCL counts groups";
  EXPECT_EQ(reads("%envreg4", grid, block), table(720, [](auto) { return 0; }));
  EXPECT_EQ(reads("%ntid.z", grid, block), table(720, [](auto) { return 3; }));
  EXPECT_EQ(reads("%laneid", grid, block), table(720, [](auto i) { return i % 60 % 32; }));
  EXPECT_EQ(reads("%warpid", grid, block), table(720, [](auto i) { return i % 60 / 32; }));
  EXPECT_EQ(reads("%nwarpid", grid, block), table(720, [](auto) { return 2; }));
}

TEST(Special, LaneMasks) {
  const gpu::Dim3 one{}, warp{32, 1, 1};
  EXPECT_EQ(reads("%lanemask_eq", one, warp), table(32, [](auto i) { return 1U << i; }));
  EXPECT_EQ(reads("%lanemask_lt", one, warp), table(32, [](auto i) { return (1U << i) - 1; }));
  EXPECT_EQ(reads("%lanemask_le", one, warp), table(32, [](auto i) { return (1U << i) - 1 + (1U << i); }));
  EXPECT_EQ(reads("%lanemask_gt", one, warp), table(32, [](auto i) { return ~((1U << i) - 1 + (1U << i)); }));
  EXPECT_EQ(reads("%lanemask_ge", one, warp), table(32, [](auto i) { return ~((1U << i) - 1); }));
}

TEST(Special, ABlockIsItsOwnCluster) {
  const gpu::Dim3 grid{3, 1, 1}, block{1, 1, 1};
  EXPECT_EQ(reads("%clusterid.x", grid, block), table(3, [](auto i) { return i; }));
  EXPECT_EQ(reads("%nclusterid.x", grid, block), table(3, [](auto) { return 3; }));
  EXPECT_EQ(reads("%cluster_nctarank", grid, block), table(3, [](auto) { return 1; }));
  EXPECT_EQ(reads("%cluster_ctarank", grid, block), table(3, [](auto) { return 0; }));
  EXPECT_EQ(reads("%nsmid", grid, block), table(3, [](auto) { return 1; }));
  EXPECT_EQ(reads("%envreg3", grid, block), table(3, [](auto) { return 0; }));
}

TEST(Special, ClocksGoOn) {
  Snippet s;
  s.block = {1, 1, 1};
  s.out_words = 4;
  const auto out = words(R"(
    mov.u64 %d0, %clock64;
    mov.u32 %r0, %clock;
    mov.u64 %d2, %globaltimer;
    add.u32 %r5, %r0, 1;
    mov.u64 %d1, %clock64;
    mov.u32 %r1, %clock;
    mov.u64 %d3, %globaltimer;
    setp.gt.u64 %p0, %d1, %d0;
    setp.gt.u32 %p1, %r1, %r0;
    setp.gt.u64 %p2, %d3, %d2;
    selp.u32 %r2, 1, 0, %p0;
    selp.u32 %r3, 1, 0, %p1;
    selp.u32 %r4, 1, 0, %p2;
    st.global.u32 [%out], %r2;
    st.global.u32 [%out+4], %r3;
    st.global.u32 [%out+8], %r4;
    ret;)",
                         s);
  EXPECT_EQ(out, (std::vector<std::uint32_t>{1, 1, 1, 0}));
}

// A loop that waits for the clock would take millions of instructions if each took one cycle.
TEST(Special, AnInstructionTakesSeveralCyclesOfTheClock) {
  Snippet s;
  s.block = {1, 1, 1};
  s.out_words = 1;
  const auto out = words(R"(
    mov.u32 %r0, %clock;
    mov.u32 %r1, %clock;
    sub.u32 %r2, %r1, %r0;
    st.global.u32 [%out], %r2;
    ret;)",
                         s);
  EXPECT_EQ(out, std::vector<std::uint32_t>{8});
}

TEST(Special, FencesPrefetchesAndSleepHaveNoEffect) {
  const auto out = words(R"(
    membar.gl;
    fence.acq_rel.gpu;
    prefetch.global.L2 [%at];
    nanosleep.u32 100;
    st.global.u32 [%at], 6;
    ret;)");
  EXPECT_EQ(out, table(32, [](auto) { return 6; }));
}

TEST(Special, MovesPackAndUnpackVectorsOfEveryWidth) {
  Snippet s;
  s.block = {1, 1, 1};
  s.out_words = 12;
  s.text = kernel(R"(.reg .b8 %b<8>;
    mov.u32 %r0, 0x04030201;
    mov.b32 {%b0, %b1, %b2, %b3}, %r0;
    mov.b32 %r1, {%b3, %b2, %b1, %b0};
    st.global.u32 [%out], %r1;
    mov.b32 {%h0, %h1}, %r0;
    mov.b32 %r2, {%h1, %h0};
    st.global.u32 [%out+4], %r2;
    mov.b16 {%b4, %b5}, %h0;
    mov.b16 %h2, {%b5, %b4};
    cvt.u32.u16 %r3, %h2;
    st.global.u32 [%out+8], %r3;
    mov.b64 %d0, {%h1, %h0, %h0, %h1};
    st.global.u64 [%out+16], %d0;
    mov.b64 {%r4, %r5}, %d0;
    mov.b64 %d1, {%r5, %r4};
    st.global.u64 [%out+24], %d1;
    mov.b64 {%h3, _, _, %h4}, %d1;
    cvt.u32.u16 %r6, %h3;
    cvt.u32.u16 %r7, %h4;
    st.global.u32 [%out+32], %r6;
    st.global.u32 [%out+36], %r7;
    ret;)");
  const Outcome o = run(s);
  ASSERT_EQ(o.error, "");
  EXPECT_EQ(o.out, (std::vector<std::uint32_t>{0x01020304, 0x02010403, 0x0102, 0, 0x02010403, 0x04030201, 0x04030201,
                                               0x02010403, 0x0201, 0x0201, 0, 0}));
}

TEST(Special, CarriesGoFromOneInstructionToTheNext) {
  const auto out = words(R"(
    mov.u32 %r0, 0xffffffff;
    add.cc.u32 %r1, %r0, %lane;
    addc.u32 %r2, 0, 0;
    sub.cc.u32 %r3, %lane, 5;
    subc.u32 %r4, 0, 0;
    add.u32 %r2, %r2, %r4;
    st.global.u32 [%at], %r2;
    ret;)");
  EXPECT_EQ(out, table(32, [](auto i) { return (i != 0 ? 1 : 0) - (i < 5 ? 1 : 0); }));
}

// A subtraction leaves the complement of its borrow as the carry: nvcc's 128-bit division relies on it.
TEST(Special, AnAdditionAfterABorrowSeesItsComplement) {
  const auto out = words(R"(
    sub.cc.u32 %r1, %lane, 5;
    addc.u32 %r2, 0, 0;
    sub.cc.u32 %r1, 0, 1;
    subc.cc.u32 %r1, %lane, 7;
    addc.u32 %r3, 0, 0;
    mov.u32 %r0, 0xffffffff;
    add.cc.u32 %r1, %r0, %lane;
    subc.u32 %r4, 10, 0;
    shl.b32 %r3, %r3, 4;
    shl.b32 %r4, %r4, 8;
    or.b32 %r2, %r2, %r3;
    or.b32 %r2, %r2, %r4;
    st.global.u32 [%at], %r2;
    ret;)");
  EXPECT_EQ(out, table(32, [](auto i) {
              return (i >= 5 ? 1U : 0U) | (i >= 8 ? 1U << 4 : 0U) | (i != 0 ? 10U << 8 : 9U << 8);
            }));
}

// Cooperative groups larger than a warp keep their state there.
TEST(Special, ReservedSharedMemoryIsZeroAndApartFromTheKernelsOwn) {
  Snippet s;
  s.out_words = 3;
  const auto got = words(R"(.shared .align 4 .b32 mine[3];
    mov.u32 %r1, 7;
    st.shared.u32 [mine], %r1;
    mov.u32 %r2, %reserved_smem_offset_1;
    ld.shared.u32 %r3, [%r2];
    mov.u32 %r4, 9;
    st.shared.u32 [%r2], %r4;
    ld.shared.u32 %r5, [mine];
    ld.shared.u32 %r6, [%r2];
    st.global.u32 [%out], %r3;
    st.global.u32 [%out+4], %r5;
    st.global.u32 [%out+8], %r6;
    ret;)",
                         s);
  EXPECT_EQ(got, (std::vector<std::uint32_t>{0, 7, 9}));
}

}  // namespace
}  // namespace wm::exec
