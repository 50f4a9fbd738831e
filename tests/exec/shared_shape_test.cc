// Loads from shared memory by the shape of their addresses: the same words that lane by lane gives, or none at all.
#include "exec/shared_shape.h"

#include <cstring>
#include <functional>
#include <gtest/gtest.h>

#include "base/random.h"

namespace wm::exec {
namespace {

constexpr std::uint32_t kWords = 512;

// One register of addresses, 32 or 64 bits wide, over a memory of `kWords` words that hold their numbers.
struct Registers {
  alignas(64) std::array<std::byte, 1024> rows{};
  std::array<std::uint32_t, kWords> words{};
  Frame frame{rows.data(), nullptr, kAllLanes};
  Memory memory;

  Registers(bool narrow, const std::function<std::uint64_t(std::uint64_t)>& address) {
    for (std::uint32_t i = 0; i < kWords; ++i) words[i] = i;
    memory.base = {0};
    memory.base_bytes = narrow ? 4 : 8;
    memory.space = ptx::Space::shared;
    memory.bytes = memory.row_bytes = 4;
    for (std::uint64_t lane = 0; lane < kLanes; ++lane) {
      const std::uint64_t a = address(lane);
      std::memcpy(rows.data() + lane * memory.base_bytes, &a, memory.base_bytes);
    }
  }
  [[nodiscard]] SharedShape shape(const AccessNote& note = {}) const {
    SharedShape s;
    s.find(memory, frame, note);
    return s;
  }
  bool load(const SharedShape& s, std::int64_t offset, std::array<std::uint32_t, kLanes>& out) const {
    return s.load(offset, reinterpret_cast<const std::byte*>(words.data()), sizeof words, out.data());
  }
};

TEST(SharedShape, RowsOfTilesAndSharedWordsAreLoadedByGroups) {
  const std::vector<std::function<std::uint64_t(std::uint64_t)>> shapes = {
      [](std::uint64_t i) { return 4 * i; },                   // a row of 32
      [](std::uint64_t) { return 64U; },                       // one word
      [](std::uint64_t i) { return 4 * (i % 16); },            // a row of 16, twice
      [](std::uint64_t i) { return i / 16 * 64; },             // a column of a tile 16 wide
      [](std::uint64_t i) { return i / 8 * 132 + i % 8 * 4; }  // rows of 8, padded
  };
  for (const auto& address : shapes)
    for (const bool narrow : {false, true}) {
      const Registers r(narrow, address);
      const SharedShape s = r.shape();
      ASSERT_TRUE(s.grouped);
      for (const std::int64_t offset : {0, 4, 60, 1024}) {
        std::array<std::uint32_t, kLanes> out{};
        ASSERT_TRUE(r.load(s, offset, out));
        for (std::uint64_t i = 0; i < kLanes; ++i) EXPECT_EQ(out[i], (address(i) + offset) / 4) << i;
      }
    }
}

TEST(SharedShape, OtherAddressesHaveNone) {
  EXPECT_FALSE(Registers(false, [](std::uint64_t i) { return 8 * i; }).shape().grouped);
  EXPECT_FALSE(Registers(false, [](std::uint64_t i) { return 4 * (31 - i); }).shape().grouped);
  for (std::uint64_t odd = 1; odd < kLanes; ++odd)  // a single lane apart from the others
    EXPECT_FALSE(Registers(true, [&](std::uint64_t i) { return i == odd ? 2000 : 4 * i; }).shape().grouped) << odd;
}

TEST(SharedShape, ALoadThatWouldFaultIsNotExecuted) {
  std::array<std::uint32_t, kLanes> out{};
  const Registers row(false, [](std::uint64_t i) { return 4 * i; });
  EXPECT_TRUE(row.load(row.shape(), 4 * (kWords - kLanes), out));
  EXPECT_FALSE(row.load(row.shape(), 4 * (kWords - kLanes) + 4, out));
  EXPECT_FALSE(row.load(row.shape(), 2, out));
  EXPECT_FALSE(row.load(row.shape(), -4, out));
  const Registers high(true, [](std::uint64_t) { return 0xfffffffcU; });  // a 32-bit address wraps at 32 bits
  ASSERT_TRUE(high.load(high.shape(), 8, out));
  EXPECT_EQ(out[31], 1U);
}

TEST(SharedShapes, ARegisterThatWasWrittenIsLookedAtAgain) {
  Registers r(true, [](std::uint64_t i) { return 4 * i; });
  SharedShapes shapes;
  EXPECT_TRUE(shapes.of(r.memory, r.frame, {}).in_a_row);
  std::memset(r.rows.data(), 0, r.rows.size());
  EXPECT_TRUE(shapes.of(r.memory, r.frame, {}).in_a_row);
  Operands other;
  other.destination[0] = {128};
  shapes.written(other);
  EXPECT_TRUE(shapes.of(r.memory, r.frame, {}).in_a_row);
  Operands same;
  same.destination[1] = {0};
  shapes.written(same);
  EXPECT_FALSE(shapes.of(r.memory, r.frame, {}).in_a_row);
}

}  // namespace
}  // namespace wm::exec
