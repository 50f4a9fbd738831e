#include "policy/algorithm/shares.h"

#include <gmock/gmock.h>
#include <map>
#include <string>

namespace wm::policy {
namespace {

using testing::ElementsAre;

// Warped-Slicer's table II, as footprints of one block in the SM of table I (per mille of registers and shared memory):
// the kernel's utilisation divided by the blocks that fit.
const std::map<std::string, gpu::Resources> kTable2 = {
    {"BLK", {128, 950 / 8, 0, 1}},       {"BFS", {512, 710 / 3, 0, 1}},     {"DXT", {64, 560 / 8, 330 / 8, 1}},
    {"HOT", {256, 840 / 3, 190 / 3, 1}}, {"IMG", {64, 430 / 8, 0, 1}},      {"KNN", {256, 370 / 6, 0, 1}},
    {"LBM", {128, 980 / 7, 0, 1}},       {"MM", {128, 860 / 5, 50 / 5, 1}}, {"MVP", {192, 740 / 8, 0, 1}},
    {"NN", {192, 940 / 8, 0, 1}}};
constexpr gpu::Resources kSm = {.threads = 1536, .registers = 1000, .shared_bytes = 1000, .blocks = 8};

TEST(EvenSplit, TheEvenColumnOfTable3) {
  const std::map<std::string, std::uint32_t> even = {{"DXT", 4}, {"MVP", 4}, {"NN", 4},  {"HOT", 1}, {"IMG", 4},
                                                     {"MM", 2},  {"BFS", 1}, {"BLK", 4}, {"KNN", 3}, {"LBM", 3}};
  for (const auto& [a, blocks_a] : even) {
    for (const auto& [b, blocks_b] : even) {
      const std::vector<Claim> pair = {{kTable2.at(a)}, {kTable2.at(b)}};
      EXPECT_THAT(even_split(pair, kSm), ElementsAre(blocks_a, blocks_b)) << a << " and " << b;
    }
  }
}

TEST(EvenSplit, ABlockLargerThanItsPartStillGetsOne) {
  const std::vector<Claim> pair = {{{1024, 100, 0, 1}}, {{64, 10, 0, 1}}};
  EXPECT_THAT(even_split(pair, kSm), ElementsAre(1, 4));
}

TEST(DominantFair, LeastDominantShareGetsTheNextBlock) {
  // Registers are dominant for the first (20% a block), threads for the second (12.5%): 3 and 3 leave too little for
  // either.
  const std::vector<Claim> pair = {{{64, 200, 0, 1}}, {{192, 100, 0, 1}}};
  EXPECT_THAT(dominant_fair(pair, kSm), ElementsAre(3, 4));
}

TEST(DominantFair, WeightsShiftTheBalance) {
  const std::vector<Claim> pair = {{{192, 0, 0, 1}, 3}, {{192, 0, 0, 1}, 1}};
  EXPECT_THAT(dominant_fair(pair, kSm), ElementsAre(6, 2));
}

TEST(EqualThreads, AsManyThreadsEach) {
  const std::vector<Claim> pair = {{{256, 10, 0, 1}}, {{128, 10, 0, 1}}};
  const gpu::Resources sm = {2048, 1000, 1000, 32};
  EXPECT_THAT(equal_threads(pair, sm), ElementsAre(4, 8));
}

TEST(EqualThreads, OtherResourcesTakeBlocksBack) {
  const std::vector<Claim> pair = {{{256, 200, 0, 1}}, {{128, 50, 0, 1}}};
  const gpu::Resources sm = {2048, 1000, 1000, 32};
  const auto blocks = equal_threads(pair, sm);
  EXPECT_TRUE(fits_together(pair, blocks, sm));
  EXPECT_THAT(blocks, ElementsAre(3, 8));
}

// 32 and 4 blocks have 1024 threads each but are more than 32. Taking a large block would leave 928 and 768 threads.
TEST(EqualThreads, TheLossThatLeavesNumbersMostEqualIsTaken) {
  const std::vector<Claim> pair = {{{32, 1, 0, 1}}, {{256, 1, 0, 1}}};
  EXPECT_THAT(equal_threads(pair, {2048, 1000, 1000, 32}), ElementsAre(28, 4));
}

// A third of the threads is five blocks; the 128 threads that remain are no kernel's part.
TEST(EqualThreads, NoKernelGetsMoreThanItsPart) {
  const std::vector<Claim> three(3, {{128, 1, 0, 1}});
  EXPECT_THAT(equal_threads(three, {2048, 1000, 1000, 32}), ElementsAre(5, 5, 5));
}

// 250, 400 and 450 threads are a block too much. Without a block of the third, 400 and 250 threads are nearer to each
// other than 450 and 250 are without one of the second.
TEST(EqualThreads, TheLoserIsTheKernelWithMostThreads) {
  const std::vector<Claim> three = {{{250, 1, 0, 1}}, {{100, 1, 0, 1}}, {{150, 1, 0, 1}}};
  EXPECT_THAT(equal_threads(three, {1350, 7, 0, 32}), ElementsAre(1, 4, 2));
}

TEST(EqualThreads, AKernelLosesAllButItsLastBlockAndTheFirstOfEqualsLoses) {
  const std::vector<Claim> pair(2, {{512, 1, 0, 1}});
  EXPECT_THAT(equal_threads(pair, {2048, 3, 0, 32}), ElementsAre(1, 2));
  EXPECT_THAT(equal_threads(pair, {2048, 2, 0, 32}), ElementsAre(1, 1));
}

TEST(DominantFair, TheFirstOfEqualsGetsTheBlock) {
  const std::vector<Claim> pair(2, {{512, 1, 0, 1}});
  EXPECT_THAT(dominant_fair(pair, {2048, 3, 0, 32}), ElementsAre(2, 1));
}

TEST(AccelOsShares, ExampleOfFigure3b) {
  // Four compute units, a work group each: A and B get two each.
  const std::vector<Claim> pair = {{{64, 1, 1, 1}}, {{64, 1, 1, 1}}};
  const gpu::Resources device = {256, 1000, 1000, 1000};
  EXPECT_THAT(accelos_shares(pair, device, device, 2), ElementsAre(2, 2));
}

TEST(AccelOsShares, LeastOfTheThreeThenGreedy) {
  // x = 1024/256 = 4, z = 500/200 = 2 for the first; x = 8, y = 500/300 = 1 for the second. 600 of registers and 1
  // local memory are taken then; the greedy round adds one of each while there is room.
  const std::vector<Claim> pair = {{{256, 200, 0, 1}}, {{128, 50, 300, 1}}};
  const gpu::Resources sm = {2048, 1000, 1000, 32};
  EXPECT_THAT(accelos_shares(pair, sm, sm, 2), ElementsAre(4, 3));
}

TEST(AccelOsShares, NothingLeftIsNothing) {
  const std::vector<Claim> one = {{{256, 200, 0, 1}}};
  const gpu::Resources sm = {2048, 1000, 1000, 32};
  EXPECT_THAT(accelos_shares(one, sm, {128, 1000, 1000, 32}, 2), ElementsAre(0));
}

TEST(Proportional, TheRemainderGoesToTheFirst) {
  const std::vector<double> equal = {1, 1, 1, 1};
  EXPECT_THAT(proportional(13, equal), ElementsAre(4, 3, 3, 3));
  EXPECT_THAT(proportional(2, equal), ElementsAre(1, 1, 0, 0));
  const std::vector<double> small = {0.25, 0.25};
  EXPECT_THAT(proportional(4, small), ElementsAre(2, 2));
  const std::vector<double> none = {0, 0};
  EXPECT_THAT(proportional(3, none), ElementsAre(1, 1));
  const std::vector<double> weighted = {3, 1};
  EXPECT_THAT(proportional(16, weighted), ElementsAre(12, 4));
}

}  // namespace
}  // namespace wm::policy
