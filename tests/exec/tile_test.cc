// wmma.load, wmma.mma and wmma.store of every type, with rows and columns, strides and address spaces.
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
  const int fragment = p.type == "f16" ? 8 : p.element_bytes == 1 ? 2 : 4;
  const std::string shape = p.k == 8 ? "m16n16k8" : "m16n16k16", sums = integers ? "s32" : "f32";
  const std::string layout_a = p.a_column ? "col" : "row", layout_b = p.b_column ? "col" : "row";
  const std::string a = registers("a", 0, fragment), b = registers("b", 0, fragment);
  const std::string c = registers(integers ? "r" : "x", 0, 8), d = registers(integers ? "r" : "x", 8, 8);
  std::string body = ".reg .b32 %a<8>, %b<8>;\n.reg .f32 %x<16>;\n";
  body += "wmma.load.a.sync.aligned." + layout_a + "." + shape + ".global." + p.type + " " + a + ", [%in0], " +
          std::to_string(p.a_column ? 16 : p.k) + ";\n";
  body += "wmma.load.b.sync.aligned." + layout_b + "." + shape + "." + p.type + " " + b + ", [%in1];\n";
  body += "wmma.load.c.sync.aligned.row." + shape + ".global." + sums + " " + c + ", [%in2], 16;\n";
  body += "wmma.mma.sync.aligned." + layout_a + "." + layout_b + "." + shape +
          (p.type == "f16" ? ".f32.f32 " : "." + sums + "." + p.type + "." + p.type + "." + sums + " ") + d + ", " + a +
          ", " + b + ", " + c + ";\n";
  body += "wmma.store.d.sync.aligned.row." + shape + ".global." + sums + " [%out], " + d + ", 16;\nret;";
  Snippet s;
  s.out_words = 256;
  const float one = 1;
  std::uint32_t one_bits = 1;
  if (!integers) std::memcpy(&one_bits, &one, 4);
  s.inputs = {matrix(p, 16, p.k, p.a_column, a_at), matrix(p, p.k, 16, p.b_column, b_at),
              std::vector<std::uint32_t>(256, one_bits)};
  s.text = kernel(body, "", 3);
  const Outcome o = run(s);
  ASSERT_EQ(o.error, "") << s.text;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      int sum = 1;
      for (int k = 0; k < p.k; ++k) {
        const int x = a_at(i, k), y = b_at(k, j);
        sum += p.type == "u8" ? (x & 0xff) * (y & 0xff) : x * y;
      }
      const auto single = static_cast<float>(sum);
      std::uint32_t expected = static_cast<std::uint32_t>(sum);
      if (!integers) std::memcpy(&expected, &single, 4);
      ASSERT_EQ(o.out[static_cast<std::size_t>(i * 16 + j)], expected) << p.type << " " << i << " " << j;
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
