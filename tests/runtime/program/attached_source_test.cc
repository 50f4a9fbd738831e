// The source behind a binary: what was attached is found again, and nothing that was damaged is used.
#include "runtime/program/attached_source.h"

#include <gtest/gtest.h>

namespace wm::runtime {
namespace {

const AttachedSource kSource{"kernel void f() {}", "-DX=1", {{"/include/a.h", 7}, {"/include/b.h", 1ULL << 63}}};

TEST(AttachedSource, IsFoundBehindTheBinaryThatItWasAttachedTo) {
  const std::string binary = attach_source("native bytes", kSource);
  const auto [native, source] = split_binary(binary);
  EXPECT_EQ(native, "native bytes");
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(*source, kSource);
  EXPECT_EQ(binary.size(), native.size() + attached_size(kSource));
}

TEST(AttachedSource, BinariesOfOthersAreLeftAsTheyAre) {
  for (const std::string binary : {"", "x", "warpmux source 1", "some longer binary of a driver without a source"}) {
    const auto [native, source] = split_binary(binary);
    EXPECT_EQ(native, binary);
    EXPECT_FALSE(source.has_value());
  }
}

TEST(AttachedSource, IsNotUsedWhereAnyByteHasChanged) {
  const std::string binary = attach_source("native bytes", kSource);
  for (std::size_t i = 0; i < binary.size(); ++i) {
    std::string damaged = binary;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    EXPECT_FALSE(split_binary(damaged).source.has_value()) << "byte " << i;
  }
  for (std::size_t size = 0; size < binary.size(); ++size) {
    EXPECT_FALSE(split_binary(std::string_view(binary).substr(0, size)).source.has_value()) << size << " bytes";
  }
}

}  // namespace
}  // namespace wm::runtime
