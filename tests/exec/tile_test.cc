// wmma.load, wmma.mma and wmma.store of every type, with rows and columns, strides and address spaces.
#include <bit>

#include "exec/snippet.h"

namespace wm::exec {
namespace {

// a[i][k] = (i + 2k) % 7 - 3 and b[k][j] = (3k + j) % 5 - 2: sums that every type holds.
int a_at(int i, int k) { return (i + 2 * k) % 7 - 3; }
int b_at(int k, int j) { return (3 * k + j) % 5 - 2; }

std::uint32_t half_bits(int value) {  // for values from -3 to 3
  static constexpr std::uint32_t kHalves[] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
  return kHalves[value + 3];
}

struct Product {
  std::string type;       // type of a and b
  int k = 16;             // columns of a
  bool a_column = false;  // column-major
  bool b_column = false;
  int element_bytes = 2;
  int m = 16;  // rows and columns of the result
  int n = 16;
};

std::uint32_t element_bits(const Product& p, int value) {
  if (p.type == "f16") return half_bits(value);
  const auto single = static_cast<float>(value);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &single, 4);
  if (p.type == "bf16") return bits >> 16;
  return p.type == "tf32" ? bits : static_cast<std::uint32_t>(value) & 0xffU;
}

// A matrix of `rows` x `columns` in memory as words.
template <typename At>
std::vector<std::uint32_t> matrix(const Product& p, int rows, int columns, bool column_major, At&& at) {
  std::vector<std::uint32_t> words(static_cast<std::size_t>(rows * columns * p.element_bytes / 4));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      const int place = column_major ? j * rows + i : i * columns + j;
      const int byte = place * p.element_bytes;
      words[static_cast<std::size_t>(byte / 4)] |= element_bits(p, at(i, j)) << (byte % 4 * 8);
    }
  return words;
}

std::string registers(const std::string& prefix, int first, int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += (i == 0 ? "" : ", ") + ("%" + prefix + std::to_string(first + i));
  return text + "}";
}

// out = a * b + c with c all 1, as f32 or s32.
void expect_product(const Product& p) {
  const bool integers = p.element_bytes == 1;
  const auto fragment = [&](int elements) { return p.type == "f16" ? 8 : elements * p.element_bytes / 4 / 32; };
  const std::string shape = "m" + std::to_string(p.m) + "n" + std::to_string(p.n) + "k" + std::to_string(p.k);
  const std::string sums = integers ? "s32" : "f32";
  const std::string layout_a = p.a_column ? "col" : "row", layout_b = p.b_column ? "col" : "row";
  const std::string a = registers("a", 0, fragment(p.m * p.k)), b = registers("b", 0, fragment(p.k * p.n));
  const std::string c = registers(integers ? "r" : "x", 0, 8), d = registers(integers ? "r" : "x", 8, 8);
  std::string body = ".reg .b32 %a<8>, %b<8>;\n.reg .f32 %x<16>;\n";
  body += "wmma.load.a.sync.aligned." + layout_a + "." + shape + ".global." + p.type + " " + a + ", [%in0], " +
          std::to_string(p.a_column ? p.m : p.k) + ";\n";
  body += "wmma.load.b.sync.aligned." + layout_b + "." + shape + "." + p.type + " " + b + ", [%in1];\n";
  const std::string columns = std::to_string(p.n);
  body += "wmma.load.c.sync.aligned.row." + shape + ".global." + sums + " " + c + ", [%in2], " + columns + ";\n";
  body += "wmma.mma.sync.aligned." + layout_a + "." + layout_b + "." + shape +
          (p.type == "f16" ? ".f32.f32 " : "." + sums + "." + p.type + "." + p.type + "." + sums + " ") + d + ", " + a +
          ", " + b + ", " + c + ";\n";
  body += "wmma.store.d.sync.aligned.row." + shape + ".global." + sums + " [%out], " + d + ", " + columns + ";\nret;";
  Snippet s;
  s.out_words = 256;
  const float one = 1;
  std::uint32_t one_bits = 1;
  if (!integers) std::memcpy(&one_bits, &one, 4);
  s.inputs = {matrix(p, p.m, p.k, p.a_column, a_at), matrix(p, p.k, p.n, p.b_column, b_at),
              std::vector<std::uint32_t>(256, one_bits)};
  s.text = kernel(body, "", 3);
  const Outcome o = run(s);
  ASSERT_EQ(o.error, "") << s.text;
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      int sum = 1;
      for (int k = 0; k < p.k; ++k) {
        const int x = a_at(i, k), y = b_at(k, j);
        sum += p.type == "u8" ? (x & 0xff) * (y & 0xff) : x * y;
      }
      const auto single = static_cast<float>(sum);
      std::uint32_t expected = static_cast<std::uint32_t>(sum);
      if (!integers) std::memcpy(&expected, &single, 4);
      ASSERT_EQ(o.out[static_cast<std::size_t>(i * p.n + j)], expected) << shape << p.type << " " << i << " " << j;
    }
}

TEST(Tile, ProductsOfEveryTypeAndLayout) {
  for (const bool a_column : {false, true})
    for (const bool b_column : {false, true}) {
      expect_product({"f16", 16, a_column, b_column, 2});
      expect_product({"bf16", 16, a_column, b_column, 2});
      expect_product({"tf32", 8, a_column, b_column, 4});
      expect_product({"s8", 16, a_column, b_column, 1});
      expect_product({"u8", 16, a_column, b_column, 1});
    }
}

TEST(Tile, WideAndTallProductsOfEveryTypeAndLayout) {
  for (const bool column : {false, true})
    for (const int m : {8, 32}) {
      expect_product({"f16", 16, column, !column, 2, m, 256 / m});
      expect_product({"bf16", 16, !column, column, 2, m, 256 / m});
      expect_product({"s8", 16, column, column, 1, m, 256 / m});
      expect_product({"u8", 16, !column, !column, 1, m, 256 / m});
    }
}

// The sums of f16 and f32 may be mixed: 16 x 16 ones times 1.5, plus 1.
TEST(Tile, SumsOfOneTypeAreAddedToTheOther) {
  Snippet s;
  s.out_words = 256;
  s.inputs = {std::vector<std::uint32_t>(128, 0x3c003c00), std::vector<std::uint32_t>(128, 0x3e003e00)};
  s.text = kernel(R"(
    .reg .b32 %a<8>, %b<8>, %s<4>;
    .reg .f32 %x<8>;
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, [%in0];
    wmma.load.b.sync.aligned.row.m16n16k16.global.f16 {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}, [%in1];
    wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%s0,%s1,%s2,%s3}, [%in0];
    wmma.mma.sync.aligned.row.row.m16n16k16.f32.f16 {%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7},
      {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}, {%s0,%s1,%s2,%s3};
    wmma.mma.sync.aligned.row.row.m16n16k16.f16.f32 {%s0,%s1,%s2,%s3},
      {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}, {%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7};
    wmma.mma.sync.aligned.row.row.m16n16k16.f32.f16 {%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7},
      {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, {%b0,%b1,%b2,%b3,%b4,%b5,%b6,%b7}, {%s0,%s1,%s2,%s3};
    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%out], {%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7};
    ret;)",
                  "", 2);
  const float expected = 1 + 3 * 24;
  EXPECT_EQ(words("", s), table(256, [&](auto) { return std::bit_cast<std::uint32_t>(expected); }));
}

// 8 x 8 results: integers of four bits, bits, and doubles.
TEST(Tile, SmallProducts) {
  Snippet s;
  s.out_words = 64;
  s.inputs = {table(32, [](auto i) { return 0x89abcdefU * (i + 1); }),
              table(32, [](auto i) { return 0x12345678U + i; })};
  const auto nibble = [](std::uint32_t word, int index) { return static_cast<int>(word << (28 - 4 * index)) >> 28; };
  s.text = kernel(R"(
    wmma.load.a.sync.aligned.row.m8n8k32.global.s4 {%r0}, [%in0], 32;
    wmma.load.b.sync.aligned.col.m8n8k32.global.s4 {%r1}, [%in1], 32;
    mov.u32 %r2, 5;
    wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32 {%r3, %r4}, {%r0}, {%r1}, {%r2, %r2};
    wmma.store.d.sync.aligned.row.m8n8k32.global.s32 [%out], {%r3, %r4}, 8;
    ret;)",
                  "", 2);
  EXPECT_EQ(words("", s), table(64, [&](auto e) {
              int sum = 5;
              for (int k = 0; k < 32; ++k)
                sum += nibble(s.inputs[0][e / 8 * 4 + static_cast<std::size_t>(k) / 8], k % 8) *
                       nibble(s.inputs[1][e % 8 * 4 + static_cast<std::size_t>(k) / 8], k % 8);
              return sum;
            }));
  s.text = kernel(R"(
    wmma.load.a.sync.aligned.row.m8n8k128.global.b1 {%r0}, [%in0];
    wmma.load.b.sync.aligned.col.m8n8k128.global.b1 {%r1}, [%in1];
    mov.u32 %r2, 0;
    wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32 {%r3, %r4}, {%r0}, {%r1}, {%r2, %r2};
    wmma.store.d.sync.aligned.row.m8n8k128.global.s32 [%out], {%r3, %r4};
    ret;)",
                  "", 2);
  EXPECT_EQ(words("", s), table(64, [&](auto e) {
              int sum = 0;
              for (std::size_t k = 0; k < 4; ++k)
                sum += std::popcount(s.inputs[0][e / 8 * 4 + k] ^ s.inputs[1][e % 8 * 4 + k]);
              return sum;
            }));
}

TEST(Tile, HalfSumsAndStridesInSharedMemory) {
  Snippet s;
  s.out_words = 128;
  s.inputs = {matrix({"f16"}, 16, 16, false, [](int i, int j) { return (i * 5 + j) % 7 - 3; })};
  s.text = kernel(R"(
    .reg .b32 %a<4>;
    .shared .align 32 .b8 tile[2048];
    wmma.load.c.sync.aligned.row.m16n16k16.global.f16 {%a0,%a1,%a2,%a3}, [%in0], 16;
    mov.u64 %d0, tile;
    wmma.store.d.sync.aligned.col.m16n16k16.shared.f16 [%d0], {%a0,%a1,%a2,%a3}, 32;
    bar.warp.sync -1;
    cvta.shared.u64 %d1, %d0;
    wmma.load.c.sync.aligned.col.m16n16k16.f16 {%a0,%a1,%a2,%a3}, [%d1], 32;
    wmma.store.d.sync.aligned.row.m16n16k16.global.f16 [%out], {%a0,%a1,%a2,%a3};
    ret;)",
                  "", 1);
  const Outcome o = run(s);
  ASSERT_EQ(o.error, "");
  EXPECT_EQ(o.out, s.inputs[0]);
}

TEST(Tile, AMatrixThatLeavesItsBufferIsAFault) {
  Snippet s;
  s.out_words = 64;
  s.text = kernel(R"(
    .reg .b32 %a<8>;
    wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a0,%a1,%a2,%a3,%a4,%a5,%a6,%a7}, [%out], 16;
    ret;)");
  EXPECT_NE(run(s).error.find("out of bounds"), std::string::npos) << run(s).error;
}

}  // namespace
}  // namespace wm::exec
