#include "sim/cycle/dram/channel.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

constexpr DramSpec kTimings{.banks = 4,
                            .row_bytes = 1024,
                            .bytes_per_clock = 32,
                            .tCL = 12,
                            .tRP = 11,
                            .tRC = 40,
                            .tRAS = 28,
                            .tRCD = 13,
                            .tRRD = 6,
                            .tWR = 15,
                            .tWTR = 7};

// The first clock at which `command` is legal; one clock earlier is not.
using enum DramCommand;

TEST(DramChannel, ReadAfterActivateWaitsExactlyTrcd) {
  DramChannel ch(kTimings);
  ch.issue(activate, 0, 7, 100);
  EXPECT_EQ(ch.earliest(read, 0), 113U);
}

TEST(DramChannel, PrechargeAfterActivateWaitsExactlyTras) {
  DramChannel ch(kTimings);
  ch.issue(activate, 0, 7, 100);
  EXPECT_EQ(ch.earliest(precharge, 0), 128U);
}

TEST(DramChannel, ActivateAfterPrechargeWaitsForBothTrpAndTrc) {
  DramChannel ch(kTimings);
  ch.issue(activate, 0, 7, 100);
  ch.issue(precharge, 0, 0, 128);
  EXPECT_EQ(ch.earliest(activate, 0), 140U) << "tRC after the activate";
  DramChannel late(kTimings);
  late.issue(activate, 0, 7, 100);
  late.issue(precharge, 0, 0, 200);
  EXPECT_EQ(late.earliest(activate, 0), 211U) << "tRP after the precharge";
}

TEST(DramChannel, ActivatesOfTwoBanksAreTrrdApart) {
  DramChannel ch(kTimings);
  ch.issue(activate, 0, 7, 100);
  EXPECT_EQ(ch.earliest(activate, 1), 106U);
}

TEST(DramChannel, DataOfTwoReadsFollowWithoutAGap) {
  DramChannel ch(kTimings);
  ch.issue(activate, 0, 7, 0);
  ch.issue(activate, 1, 7, 6);
  const std::uint64_t done = ch.issue(read, 0, 128, 19);
  EXPECT_EQ(done, 19U + 12 + 4);
  EXPECT_EQ(ch.earliest(read, 1), 23U) << "its data starts when the bus is free";
}

TEST(DramChannel, ReadAfterWriteWaitsTwtrAfterTheData) {
  DramChannel ch(kTimings);
  ch.issue(activate, 0, 7, 0);
  const std::uint64_t done = ch.issue(write, 0, 32, 13);
  EXPECT_EQ(done, 13U + 12 + 1);
  EXPECT_EQ(ch.earliest(read, 0), done + 7);
  EXPECT_EQ(ch.earliest(precharge, 0), done + 15);
}

TEST(DramChannel, CountsTheClocksItsBusIsBusy) {
  DramChannel ch(kTimings);
  ch.issue(activate, 0, 7, 0);
  ch.issue(read, 0, 128, 13);
  ch.issue(read, 0, 32, 17);
  EXPECT_EQ(ch.busy_clocks(), 5U);
}

}  // namespace
}  // namespace wm::sim
