// cp.async, ldmatrix, stmatrix, movmatrix.
#include "exec/snippet.h"

namespace wm::exec {
namespace {

TEST(Copies, AnAsyncCopyArrivesByTheWait) {
  Snippet s;
  s.inputs = {table(128, [](auto i) { return i + 1; })};
  s.out_words = 128;
  s.text = kernel(R"(
    shl.b32 %r0, %lane, 4;
    mov.u32 %r1, tile;
    add.u32 %r1, %r1, %r0;
    mul.wide.u32 %d0, %lane, 16;
    add.u64 %d1, %d0, %in0;
    cp.async.cg.shared.global [%r1], [%d1], 16;
    cp.async.commit_group;
    cp.async.wait_group 0;
    ld.shared.v4.u32 {%r2,%r3,%r4,%r5}, [%r1];
    add.u64 %d1, %d0, %out;
    st.global.v4.u32 [%d1], {%r2,%r3,%r4,%r5};
    ret;)",
                  ".shared .align 16 .b8 tile[512];", 1);
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(128, [](auto i) { return i + 1; }));
}

TEST(Copies, TheRestOfAShortCopyIsZero) {
  Snippet s;
  s.inputs = {{0x11111111, 0x22222222, 0x33333333, 0x44444444}};
  s.out_words = 4;
  s.block = {1, 1, 1};
  s.text = kernel(R"(
    mov.u32 %r1, tile;
    mov.u32 %r0, 6;
    cp.async.ca.shared.global [%r1], [%in0], 16, %r0;
    cp.async.wait_all;
    ld.shared.v4.u32 {%r2,%r3,%r4,%r5}, [%r1];
    st.global.v4.u32 [%out], {%r2,%r3,%r4,%r5};
    ret;)",
                  ".shared .align 16 .b8 tile[16];", 1);
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, (std::vector<std::uint32_t>{0x11111111, 0x2222, 0, 0}));
}

// Four 8x8 matrices of 16-bit values in shared memory: value = matrix * 64 + row * 8 + column.
std::string with_matrices(const std::string& rest) {
  return kernel(R"(
    mov.u32 %r0, 0;
  FILL:
    shl.b32 %r1, %lane, 3;
    add.u32 %r1, %r1, %r0;
    cvt.u16.u32 %h0, %r1;
    shl.b32 %r1, %r1, 1;
    mov.u32 %r2, tile;
    add.u32 %r1, %r1, %r2;
    st.shared.u16 [%r1], %h0;
    add.u32 %r0, %r0, 1;
    setp.lt.u32 %p0, %r0, 8;
    @%p0 bra FILL;
    bar.warp.sync -1;
    shl.b32 %r1, %lane, 4;
    mov.u32 %r2, tile;
    add.u32 %r1, %r1, %r2;
)" + rest,
                ".shared .align 16 .b16 tile[256];");
}

TEST(Copies, LdmatrixSpreadsRowsOverLanes) {
  Snippet s;
  s.out_words = 128;
  s.text = with_matrices(R"(
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r4,%r5,%r6,%r7}, [%r1];
    mul.wide.u32 %d0, %lane, 16;
    add.u64 %d0, %d0, %out;
    st.global.v4.u32 [%d0], {%r4,%r5,%r6,%r7};
    ret;)");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(128, [](auto i) {
              const std::uint32_t lane = i / 4, matrix = i % 4;
              const std::uint32_t low = matrix * 64 + lane / 4 * 8 + lane % 4 * 2;
              return low | (low + 1) << 16;
            }));
}

// Without .shared the addresses are generic, and only the lanes that give rows need valid ones.
TEST(Copies, LdmatrixAndStmatrixWithoutASpaceTakeGenericAddresses) {
  Snippet s;
  s.out_words = 128;
  s.text = with_matrices(R"(
    cvt.u64.u32 %d0, %r1;
    cvta.shared.u64 %d0, %d0;
    ldmatrix.sync.aligned.m8n8.x4.b16 {%r4,%r5,%r6,%r7}, [%d0];
    setp.ge.u32 %p1, %lane, 8;
    @%p1 mov.u64 %d0, 0;
    stmatrix.sync.aligned.m8n8.x1.b16 [%d0], {%r5};
    ldmatrix.sync.aligned.m8n8.x1.b16 {%r4}, [%d0];
    mul.wide.u32 %d0, %lane, 16;
    add.u64 %d0, %d0, %out;
    st.global.v4.u32 [%d0], {%r4,%r5,%r6,%r7};
    ret;)");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(128, [](auto i) {
              const std::uint32_t lane = i / 4, matrix = i % 4 == 0 ? 1 : i % 4;
              const std::uint32_t low = matrix * 64 + lane / 4 * 8 + lane % 4 * 2;
              return low | (low + 1) << 16;
            }));
}

TEST(Copies, LdmatrixTransposed) {
  Snippet s;
  s.text = with_matrices(R"(
    ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r4}, [%r1];
    st.global.u32 [%at], %r4;
    ret;)");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(32, [](auto lane) {
              const std::uint32_t row = lane / 4, column = lane % 4 * 2;
              return (column * 8 + row) | ((column + 1) * 8 + row) << 16;
            }));
}

TEST(Copies, StmatrixUndoesLdmatrixAndMovmatrixTransposes) {
  Snippet s;
  s.out_words = 64;
  s.text = with_matrices(R"(
    ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r4,%r5}, [%r1];
    movmatrix.sync.aligned.m8n8.trans.b16 %r5, %r5;
    add.u32 %r6, %r1, 0;
    stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r1], {%r5,%r4};
    bar.warp.sync -1;
    mul.wide.u32 %d0, %lane, 8;
    add.u64 %d0, %d0, %out;
    shl.b32 %r7, %lane, 3;
    mov.u32 %r2, tile;
    add.u32 %r7, %r7, %r2;
    ld.shared.v2.u32 {%r8,%r9}, [%r7];
    st.global.v2.u32 [%d0], {%r8,%r9};
    ret;)");
  EXPECT_EQ(run(s).error, "");
  EXPECT_EQ(run(s).out, table(64, [](auto i) {
              const std::uint32_t row = i % 32 / 4, column = i % 4 * 2;
              if (i < 32) return (64 + column * 8 + row) | (64 + (column + 1) * 8 + row) << 16;
              return (row * 8 + column) | (row * 8 + column + 1) << 16;
            }));
}

}  // namespace
}  // namespace wm::exec
