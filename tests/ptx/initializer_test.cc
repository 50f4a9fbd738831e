// Initial values of variables.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ptx/parse.h"

namespace wm::ptx {
namespace {

// The variable `v` of a module with the functions and variables that initial values name.
Result<Variable> variable(const std::string& declaration) {
  auto module = parse(
      ".version 8.0\n.target sm_90\n.address_size 64\n.global .b32 g[4];\n.func f() { ret; }\n" + declaration + "\n",
      "f.ptx");
  if (!module) return module.error();
  for (const Variable& v : module->variables)
    if (v.name == "v") return v;
  return Error{"no v", {}};
}

std::string bytes_of(const std::string& declaration) {
  const auto v = variable(declaration);
  if (!v) return v.error().to_string();
  std::string text;
  for (const std::uint8_t byte : v->initial) text += fmt::format("{:02x}", byte);
  return text;
}

std::string addresses_of(const std::string& declaration) {
  const auto v = variable(declaration);
  if (!v) return v.error().to_string();
  std::string text;
  for (const Relocation& r : v->relocations)
    text += fmt::format("{}:{} {}{}{:+} ", r.offset, r.size, r.generic ? "generic " : "", r.symbol, r.addend);
  return text;
}

TEST(InitialValues, AreLittleEndianAndEndBeforeTheirZeros) {
  EXPECT_EQ(bytes_of(".global .u32 v = 258;"), "02010000");
  EXPECT_EQ(bytes_of(".global .u8 v[4] = {1, 2, 0, 0};"), "0102");
  EXPECT_EQ(bytes_of(".global .u8 v[4] = {0, 1};"), "0001");
  EXPECT_EQ(bytes_of(".global .u16 v[4] = {1, 256};"), "01000001");
  EXPECT_EQ(bytes_of(".global .u64 v[2] = {0, 1};"), "00000000000000000100000000000000");
  EXPECT_EQ(bytes_of(".global .u32 v[2] = {0, 0};"), "");
}

TEST(InitialValues, MayBeNegative) {
  EXPECT_EQ(bytes_of(".global .s32 v = -2;"), "feffffff");
  EXPECT_EQ(bytes_of(".global .f32 v = -1.5;"), "0000c0bf");
  EXPECT_EQ(bytes_of(".global .f64 v = -1.5;"), "000000000000f8bf");
  EXPECT_EQ(bytes_of(".global .f32 v = -2;"), "000000c0");
}

TEST(InitialValues, OfFloatsMayBeIntegers) {
  EXPECT_EQ(bytes_of(".global .f32 v = 3;"), "00004040");
  EXPECT_EQ(bytes_of(".global .f64 v = 3;"), "0000000000000840");
  EXPECT_EQ(bytes_of(".global .f64 v = 0.5;"), "000000000000e03f");
  EXPECT_EQ(bytes_of(".global .f64 v = 0f40400000;"), "0000000000000840");
}

TEST(InitialValues, InnerBracesFillRows) {
  EXPECT_EQ(bytes_of(".global .u8 v[2][3] = {{1}, {2, 3}};"), "0100000203");
  EXPECT_EQ(bytes_of(".global .v2 .u8 v[2] = {{1}, {2}};"), "010002");
  EXPECT_EQ(bytes_of(".global .u8 v[2][3] = {{1, 2, 3, 4}};"),
            "f.ptx:6:24: too many values in these braces: at most 3");
  EXPECT_EQ(bytes_of(".global .u8 v[2] = {1, 2, 3};"), "f.ptx:6:27: too many values for 'v'");
  EXPECT_EQ(bytes_of(".global .u8 v[1][2] = {{1}, {2}};"), "f.ptx:6:30: too many values for 'v'");
}

TEST(InitialValues, GiveAnOpenArrayItsLength) {
  const auto length = [](const char* declaration) {
    const auto v = variable(declaration);
    return v ? v->shape[0] : 0;
  };
  EXPECT_EQ(length(".global .u8 v[] = {1, 2, 3};"), 3U);
  EXPECT_EQ(length(".global .u8 v[][2] = {1, 2, 3};"), 2U);
  EXPECT_EQ(length(".global .u8 v[][2] = {1, 2, 3, 4};"), 2U);
  EXPECT_EQ(length(".global .u64 v[] = {1};"), 1U);
}

TEST(InitialValues, AreAddressesOfSymbols) {
  EXPECT_EQ(addresses_of(".global .u64 v[3] = {g, g+4, generic(g)+8};"), "0:8 g+0 8:8 g+4 16:8 generic g+8 ");
  EXPECT_EQ(addresses_of(".global .u64 v = generic(g+4)+8;"), "0:8 generic g+12 ");
  EXPECT_EQ(addresses_of(".global .u64 v = g-4;"), "0:8 g-4 ");
  EXPECT_EQ(addresses_of(".global .u32 v = g;"), "0:4 g+0 ");
  EXPECT_EQ(addresses_of(".global .u16 v = g;"), "f.ptx:6:18: an address does not fit .u16");
}

TEST(InitialValues, HaveOffsetsOfLimitedSize) {
  EXPECT_EQ(addresses_of(".global .u64 v = g+1099511627776;"), "0:8 g+1099511627776 ");
  EXPECT_EQ(addresses_of(".global .u64 v = g-1099511627776;"), "0:8 g-1099511627776 ");
  EXPECT_NE(addresses_of(".global .u64 v = g+1099511627776+1;").find("the offset is too large"), std::string::npos);
  EXPECT_NE(addresses_of(".global .u64 v = g-1099511627776-1;").find("the offset is too large"), std::string::npos);
}

constexpr const char* kBytes =
    "0xFF(g), 0xFF00(g), 0xFF0000(g), 0xFF000000(g), 0xFF00000000(g), 0xFF0000000000(g), 0xFF000000000000(g)";

TEST(InitialValues, AreBytesOfAnAddress) {
  const std::string all = std::string(kBytes) + ", 0xFF00000000000000(g)";
  EXPECT_EQ(addresses_of(".global .u8 v[9] = {7, " + all + "};"), "1:8 g+0 ");
  EXPECT_EQ(addresses_of(".global .u8 v[16] = {" + all + ", " + all + "};"), "0:8 g+0 8:8 g+0 ");
  for (const std::string& tail : {std::string("}"), std::string(", 5}"), std::string(", f}")})
    EXPECT_NE(
        addresses_of(".global .u8 v[9] = {" + std::string(kBytes) + tail + ";").find("ends here before its eighth"),
        std::string::npos)
        << tail;
  EXPECT_EQ(addresses_of(".global .u8 v[8] = {0xFF(g), 0xFF0000(g)};"),
            "f.ptx:6:30: the masks of an address go from 0xFF up by bytes, expected 0xFF00");
  EXPECT_EQ(addresses_of(".global .u8 v[8] = {0xFF(g), 0xFF00(f)};"),
            "f.ptx:6:30: the bytes of one address must name one symbol");
  EXPECT_EQ(addresses_of(".global .u16 v[8] = {0xFF(g)};"),
            "f.ptx:6:22: a mask of an address is one byte, this variable's elements are wider");
  EXPECT_EQ(addresses_of(".global .u8 v[8] = {0xFF(g)};"), "f.ptx:6:21: the address ends here before its eighth byte");
}

TEST(InitialValues, BelongToGlobalAndConstantVariables) {
  EXPECT_EQ(bytes_of(".const .u32 v = 1;"), "01000000");
  EXPECT_EQ(bytes_of(".shared .u32 v = 1;"), "f.ptx:6:18: only .global and .const variables have initial values");
}

TEST(InitialValues, FarIntoAnArrayAreRefused) {
  EXPECT_EQ(bytes_of(".global .u8 v[3][67108864] = {{}, {1}};"),
            "f.ptx:6:37: an initial value lies beyond 67108864 bytes");
}

}  // namespace
}  // namespace wm::ptx
