#include "sim/cycle/dram/controller.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

constexpr std::uint64_t kForever = ~std::uint64_t{0};
constexpr DramSpec kSpec{
    .banks = 4, .bytes_per_clock = 32, .tCL = 12, .tRP = 12, .tRC = 40, .tRAS = 28, .tRCD = 12, .tRRD = 6};

std::vector<std::uint32_t> order_of(DramController& dram) {
  std::deque<DramDone> done;
  while (!dram.idle()) dram.advance(kForever, done);
  std::vector<std::uint32_t> tokens;
  for (const DramDone& d : done) tokens.push_back(d.token);
  return tokens;
}

DramRequest read_of(std::uint32_t bank, std::uint64_t row, std::uint32_t token, std::uint64_t arrived = 0) {
  return {.row = row, .arrived = arrived, .bank = bank, .bytes = 32, .token = token};
}

TEST(DramController, AnUnloadedReadTakesTrcdTclAndItsBurst) {
  DramController dram(kSpec, {.reads = 8, .writes = 8}, "fr_fcfs");
  dram.push(read_of(0, 5, 1, 100));
  std::deque<DramDone> done;
  dram.advance(kForever, done);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].at, 100U + 12 + 12 + 1);
}

TEST(DramController, ARequestThatHitsTheOpenRowOvertakesOneThatDoesNot) {
  DramController dram(kSpec, {.reads = 8, .writes = 8}, "fr_fcfs");
  dram.push(read_of(0, 1, 1));
  dram.push(read_of(0, 2, 2));
  dram.push(read_of(0, 1, 3));
  EXPECT_EQ(order_of(dram), (std::vector<std::uint32_t>{1, 3, 2}));
  EXPECT_EQ(dram.use(0).activates, 2U);
}

TEST(DramController, BanksOpenTheirRowsInParallel) {
  DramController dram(kSpec, {.reads = 8, .writes = 8}, "fr_fcfs");
  for (std::uint32_t b = 0; b < 4; ++b) dram.push(read_of(b, 1, b));
  std::deque<DramDone> done;
  while (!dram.idle()) dram.advance(kForever, done);
  // Activates tRRD apart; one of them gives way to a read that is ready in the same clock.
  EXPECT_EQ(done.back().at - done.front().at, 3U * 6 + 1);
}

TEST(DramController, AStreamThatHitsItsRowsKeepsTheBusBusy) {
  DramController dram(kSpec, {.reads = 64, .writes = 8}, "fr_fcfs");
  std::deque<DramDone> done;
  for (std::uint32_t i = 0; i < 64; ++i) dram.push(read_of(i / 16, 1, i));
  while (!dram.idle()) dram.advance(kForever, done);
  EXPECT_EQ(done.size(), 64U);
  EXPECT_LE(done.back().at - done.front().at, 64U + 12) << "one sector a clock, but for the first rows to open";
}

TEST(DramController, NothingIsIssuedBeforeItArrivesNorAfterTheHorizon) {
  DramController dram(kSpec, {.reads = 8, .writes = 8}, "fr_fcfs");
  dram.push(read_of(0, 1, 1, 50));
  std::deque<DramDone> done;
  EXPECT_EQ(dram.advance(50, done), 50U) << "its activate goes out at 50, not before";
  EXPECT_EQ(dram.advance(51, done), 62U) << "then the read, tRCD later";
  EXPECT_TRUE(done.empty());
}

TEST(DramController, WritesWaitForReadsUntilTheirQueueFills) {
  DramController dram(kSpec, {.reads = 8, .writes = 4}, "fr_fcfs");
  for (std::uint32_t i = 0; i < 2; ++i) dram.push({.row = 3, .bank = 1, .bytes = 32, .write = true});
  dram.push(read_of(0, 1, 1));
  std::deque<DramDone> done;
  dram.advance(kForever, done);
  EXPECT_EQ(done.size(), 1U) << "the read went first";
  for (std::uint32_t i = 0; i < 2; ++i) dram.push({.row = 3, .bank = 1, .bytes = 32, .write = true});
  EXPECT_FALSE(dram.accepts(true));
  dram.push(read_of(0, 1, 2));
  dram.advance(kForever, done);
  EXPECT_TRUE(dram.accepts(true)) << "a full write queue is drained before the next read";
  EXPECT_EQ(done.size(), 1U);
}

}  // namespace
}  // namespace wm::sim
