// Tokens, seen through the parser.
#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

constexpr const char* kHeader = ".version 8.0\n.target sm_90\n.address_size 64\n";

std::string error_in(const std::string& text) {
  const auto module = parse(kHeader + text, "f.ptx");
  return module.ok() ? "accepted" : module.error().to_string();
}

std::vector<std::uint8_t> initial(const std::string& value) {
  const auto module = parse(kHeader + (".global .f64 v = " + value + ";\n"), "f.ptx");
  EXPECT_TRUE(module.ok()) << value << ": " << module.error().to_string();
  return module ? module->variables[0].initial : std::vector<std::uint8_t>{};
}

TEST(Lexer, SpaceIsWhateverSeparates) {
  EXPECT_EQ(error_in(".global\r\n\t.u32\f v\v;\n"), "accepted");
  EXPECT_EQ(error_in("/**/.global/* a */.u32/*\n b */ v; // the end"), "accepted");
  EXPECT_EQ(error_in("/*/ .global .u32 v;"), "f.ptx:4:1: this comment is never closed");
}

TEST(Lexer, CommentsKeepLinesAndColumns) {
  EXPECT_EQ(error_in("/* one\n two */ ?"), "f.ptx:5:9: unexpected character '?'");
  EXPECT_EQ(error_in("/* one */ ?"), "f.ptx:4:11: unexpected character '?'");
  EXPECT_EQ(error_in("// one\n ?"), "f.ptx:5:2: unexpected character '?'");
  EXPECT_EQ(error_in("/* x */?"), "f.ptx:4:8: unexpected character '?'");
  EXPECT_EQ(error_in("/ x"), "f.ptx:4:1: unexpected character '/'");
}

TEST(Lexer, BytesThatArePrintableAreShown) {
  EXPECT_EQ(error_in("~"), "f.ptx:4:1: unexpected character '~'");
  EXPECT_EQ(error_in("\x7f"), "f.ptx:4:1: unexpected byte 0x7f");
  EXPECT_EQ(error_in("\x1f"), "f.ptx:4:1: unexpected byte 0x1f");
  EXPECT_EQ(error_in("\xc3\xa4"), "f.ptx:4:1: unexpected byte 0xc3");
}

TEST(Lexer, NumbersMayHaveSignedExponentsBehindAPoint) {
  EXPECT_EQ(initial("1.5e+3"), initial("1500.0"));
  EXPECT_EQ(initial("1500.0e-3"), initial("1.5"));
  EXPECT_EQ(initial("1500.0E-3"), initial("1.5"));
  EXPECT_EQ(initial("1.5E3"), initial("1500.0"));
}

// A hexadecimal number may end in e: a sign behind it belongs to an expression.
TEST(Lexer, ASignBehindAnIntegerIsNoExponent) {
  const auto module = parse(std::string(kHeader) + ".global .u32 g;\n.global .u64 v = g+0x1e+4;\n", "f.ptx");
  ASSERT_TRUE(module.ok()) << module.error().to_string();
  EXPECT_EQ(module->variables[1].relocations[0].addend, 0x22);
}

TEST(Lexer, StringsEndAtTheirLine) {
  EXPECT_EQ(error_in(".visible .entry k() { .pragma \"a\\\"b\"; ret; }"), "accepted");
  EXPECT_EQ(error_in(".visible .entry k() { .pragma \"ab\n\"; ret; }"), "f.ptx:4:31: this string is never closed");
  EXPECT_EQ(error_in(".visible .entry k() { .pragma \"ab\\\n\"; ret; }"), "f.ptx:4:31: this string is never closed");
}

TEST(Lexer, ASuffixMayHaveColons) {
  EXPECT_EQ(
      error_in(
          ".visible .entry k() { .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.global.L1::no_allocate.u32 %r1, [%rd1]; ret; }"),
      "accepted");
  EXPECT_EQ(
      error_in(".visible .entry k() { .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.global.L1:no_allocate.u32 %r1, [%rd1]; }"),
      "f.ptx:4:70: expected an operand, found ':'");
}

}  // namespace
}  // namespace wm::ptx
