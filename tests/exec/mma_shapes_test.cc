// mma of integers of four bits, bits and doubles: the layouts of the PTX ISA, written out once more.
#include <bit>

#include "exec/program.h"
#include "exec/snippet.h"

namespace wm::exec {
namespace {

std::string list(const std::string& prefix, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + ("%" + prefix + std::to_string(i));
  return text + "}";
}

struct Integers {
  std::string name;  // types and operation, which follow the shape and the layouts
  std::string shape;
  int a = 1, b = 1, d = 2;  // registers
};

// Runs the product of fragments whose registers come from `in0` and `in1` (register, then lane), with c = 3.
std::vector<std::uint32_t> product(const Integers& p, const std::vector<std::uint32_t>& a,
                                   const std::vector<std::uint32_t>& b) {
  std::string body =
      ".reg .b32 %a<4>, %b<2>, %c<4>, %z<4>;\nmul.wide.u32 %d0, %lane, 4;\nadd.u64 %in0, %in0, %d0;\nadd.u64 "
      "%in1, %in1, %d0;\nadd.u64 %d1, %out, %d0;\n";
  for (int i = 0; i < p.a; ++i)
    body += "ld.global.u32 %a" + std::to_string(i) + ", [%in0+" + std::to_string(128 * i) + "];\n";
  for (int i = 0; i < p.b; ++i)
    body += "ld.global.u32 %b" + std::to_string(i) + ", [%in1+" + std::to_string(128 * i) + "];\n";
  for (int i = 0; i < p.d; ++i) body += "mov.u32 %c" + std::to_string(i) + ", 3;\n";
  body += "mma.sync.aligned." + p.shape + ".row.col." + p.name + " " + list("z", p.d) + ", " + list("a", p.a) + ", " +
          list("b", p.b) + ", " + list("c", p.d) + ";\n";
  for (int i = 0; i < p.d; ++i)
    body += "st.global.u32 [%d1+" + std::to_string(128 * i) + "], %z" + std::to_string(i) + ";\n";
  Snippet s;
  s.out_words = static_cast<std::size_t>(32 * p.d);
  s.inputs = {a, b};
  s.text = kernel(body + "ret;", "", 2);
  return words("", s);
}

std::vector<std::uint32_t> noise(int registers, std::uint32_t seed) {
  return table(static_cast<std::uint32_t>(32 * registers), [&](auto i) { return (i + seed) * 2654435761U ^ (i << 7); });
}

// The word of A or B that holds elements 8k to 8k + 7 (nibbles) or 32k to 32k + 31 (bits) of a row (of a column of B).
std::uint32_t word(const std::vector<std::uint32_t>& fragment, int row_blocks, int row, int k) {
  const int index = row / 8 + k / 4 * row_blocks;
  return fragment[static_cast<std::size_t>(index * 32 + row % 8 * 4 + k % 4)];
}

int nibble(std::uint32_t word, int index, bool is_signed) {
  const int bits = static_cast<int>(word >> (4 * index) & 0xf);
  return is_signed && bits > 7 ? bits - 16 : bits;
}

TEST(MmaShapes, IntegersOfFourBits) {
  for (const auto& [shape, m, k] : {std::tuple{"m8n8k32", 8, 32}, {"m16n8k32", 16, 32}, {"m16n8k64", 16, 64}})
    for (const bool sa : {false, true})
      for (const bool sb : {false, true}) {
        const int blocks = m / 8, as = blocks * k / 32, bs = k / 32, ds = 2 * blocks;
        const auto a = noise(as, 1), b = noise(bs, 99);
        const std::string types = std::string("s32.") + (sa ? "s4." : "u4.") + (sb ? "s4" : "u4") + ".s32";
        const auto d = product({types, shape, as, bs, ds}, a, b);
        for (int i = 0; i < ds; ++i)
          for (int lane = 0; lane < 32; ++lane) {
            const int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
            int sum = 3;
            for (int e = 0; e < k; ++e)
              sum += nibble(word(a, blocks, row, e / 8), e % 8, sa) * nibble(word(b, 1, column, e / 8), e % 8, sb);
            ASSERT_EQ(static_cast<int>(d[static_cast<std::size_t>(i * 32 + lane)]), sum) << shape << types;
          }
      }
}

TEST(MmaShapes, Bits) {
  for (const auto& [shape, m, k] : {std::tuple{"m8n8k128", 8, 128}, {"m16n8k128", 16, 128}, {"m16n8k256", 16, 256}})
    for (const std::string op : {"and", "xor"}) {
      const int blocks = m / 8, as = blocks * k / 128, bs = k / 128, ds = 2 * blocks;
      const auto a = noise(as, 5), b = noise(bs, 17);
      const auto d = product({"s32.b1.b1.s32." + op + ".popc", shape, as, bs, ds}, a, b);
      for (int i = 0; i < ds; ++i)
        for (int lane = 0; lane < 32; ++lane) {
          const int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
          int sum = 3;
          for (int e = 0; e < k / 32; ++e) {
            const std::uint32_t x = word(a, blocks, row, e), y = word(b, 1, column, e);
            sum += std::popcount(op == "and" ? x & y : x ^ y);
          }
          ASSERT_EQ(static_cast<int>(d[static_cast<std::size_t>(i * 32 + lane)]), sum) << shape << op;
        }
    }
}

// Elements of A are 1, and row k of B is k, so that a sum is that of the numbers of the columns that A keeps.
TEST(MmaShapes, SparseBytes) {
  const auto metadata = table(32, [](auto lane) { return lane % 2 == 0 ? 0x4e8c9d4eU : 0xd94c84e9U; });
  for (const int selector : {0, 1}) {
    Snippet s;
    s.out_words = 128;
    s.inputs = {metadata};
    s.text = kernel(R"(
      .reg .b32 %a<2>, %b<2>, %c<4>, %e;
      mul.wide.u32 %d0, %lane, 4;
      add.u64 %d1, %in0, %d0;
      add.u64 %d0, %out, %d0;
      ld.global.u32 %e, [%d1];
      mov.u32 %a0, 0x01010101;
      and.b32 %r0, %lane, 3;
      mul.lo.u32 %r0, %r0, 0x04040404;
      add.u32 %b0, %r0, 0x03020100;
      add.u32 %b1, %b0, 0x10101010;
      mov.u32 %c0, 5;
      mma.sp.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%c0, %c1, %c2, %c3}, {%a0, %a0}, {%b0, %b1},
          {%c0, %c0, %c0, %c0}, %e, )" +
                        std::to_string(selector) +
                        R"(;
      st.global.u32 [%d0], %c0;
      st.global.u32 [%d0+128], %c1;
      st.global.u32 [%d0+256], %c2;
      st.global.u32 [%d0+384], %c3;
      ret;)",
                    "", 1);
    EXPECT_EQ(words("", s), table(128, [&](auto i) {
                const std::uint32_t lane = i % 32, row = lane / 4 + i / 64 * 8;
                const auto holder = row % 8 * 4 + static_cast<std::uint32_t>(selector) * 2 + row / 8;
                std::uint32_t sum = 5;
                for (std::uint32_t group = 0; group < 8; ++group) {
                  const std::uint32_t numbers = metadata[holder] >> (4 * group) & 0xf;
                  sum += 8 * group + (numbers & 3) + (numbers >> 2);
                }
                return sum;
              }));
  }
}

TEST(MmaShapes, ASelectorWithoutLanesIsRefused) {
  for (const int selector : {0, 1, 2}) {
    const auto module = ptx::parse(
        kernel(".reg .b32 %c<4>, %a<2>;\nmma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 "
               "{%c0, %c1, %c2, %c3}, {%a0, %a1}, {%a0, %a1}, {%c0, %c1, %c2, %c3}, %a0, " +
                   std::to_string(selector) + ";\nret;",
               "", 0),
        "f.ptx");
    ASSERT_TRUE(module.ok());
    EXPECT_EQ(decode(*module, "k", "f.ptx").ok(), selector < 2) << selector;
  }
}

// a[row][k] = row + 100 k in lane 4 * (row % 8) + k % 4, register row / 8 + 2 * (k / 4); b is 1 in column 2, else 0.
TEST(MmaShapes, DoublesOfSixteenRows) {
  Snippet s;
  s.out_words = 64;
  s.text = kernel(R"(
    .reg .f64 %a<4>, %b<2>, %c<4>;
    shr.u32 %r0, %lane, 2;
    and.b32 %r1, %lane, 3;
    mad.lo.u32 %r2, %r1, 100, %r0;
    cvt.rn.f64.u32 %a0, %r2;
    add.f64 %a1, %a0, 0d4020000000000000;
    add.f64 %a2, %a0, 0d4079000000000000;
    add.f64 %a3, %a1, 0d4079000000000000;
    setp.eq.u32 %p0, %r0, 2;
    selp.f64 %b0, 0d3FF0000000000000, 0d0000000000000000, %p0;
    mov.f64 %b1, %b0;
    mov.f64 %c0, 0d3FE0000000000000;
    mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%c0,%c1,%c2,%c3}, {%a0,%a1,%a2,%a3}, {%b0,%b1}, {%c0,%c0,%c0,%c0};
    cvt.rzi.u32.f64 %r3, %c0;
    cvt.rzi.u32.f64 %r4, %c2;
    mul.wide.u32 %d0, %lane, 8;
    add.u64 %d0, %d0, %out;
    st.global.v2.u32 [%d0], {%r3, %r4};
    ret;)");
  EXPECT_EQ(words("", s), table(64, [](auto i) {
              const std::uint32_t lane = i / 2, row = lane / 4 + i % 2 * 8;
              return lane % 4 == 1 ? 8 * row + 2800 : 0;  // column 2
            }));
}

}  // namespace
}  // namespace wm::exec
