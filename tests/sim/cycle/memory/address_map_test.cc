// The L2 slices of neighbouring chunks of 256 bytes.
#include "sim/cycle/memory/address_map.h"

#include <gtest/gtest.h>
#include <map>
#include <set>
#include <tuple>

namespace wm::sim {
namespace {

gpu::GpuConfig config(std::uint32_t chunks) {
  gpu::GpuConfig c;
  c.l2.slices = 96;
  c.l2.chunks = chunks;
  c.dram.channels = 48;
  return c;
}

// Lines of 128 bytes.
std::set<std::uint32_t> slices(std::uint32_t chunks, LineAddress begin, LineAddress end) {
  const AddressMap map(config(chunks));
  std::set<std::uint32_t> found;
  for (LineAddress line = begin; line < end; ++line) found.insert(map.slice(line));
  return found;
}

TEST(AddressMap, TwoSlicesTakeTurnsInAKilobyte) {
  const AddressMap map(config(2));
  EXPECT_EQ(map.slice(0), map.slice(1));
  EXPECT_NE(map.slice(0), map.slice(2));
  EXPECT_EQ(map.slice(0), map.slice(4));
  EXPECT_EQ(slices(2, 0, 8).size(), 2U);
  EXPECT_EQ(slices(2, 0, 16).size(), 4U);
}

TEST(AddressMap, WithoutChunksEveryOneHasItsOwnSlice) {
  EXPECT_EQ(slices(1, 0, 8).size(), 4U);
  EXPECT_EQ(slices(1, 0, 192).size(), 96U);
}

TEST(AddressMap, NoTwoLinesShareAPlaceInDram) {
  for (const std::uint32_t chunks : {1U, 2U}) {
    const AddressMap map(config(chunks));
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, std::uint32_t> lines_of_row;
    for (LineAddress line = 0; line < 96 * 64; ++line) {
      const AddressMap::Place p = map.place(line);
      ++lines_of_row[{p.channel, p.bank, p.row}];
    }
    for (const auto& [row, lines] : lines_of_row) EXPECT_LE(lines, config(1).dram.row_bytes / kLineBytes);
  }
}

}  // namespace
}  // namespace wm::sim
