#include "policy/algorithm/water_filling.h"

#include <algorithm>
#include <gmock/gmock.h>

#include "base/random.h"

namespace wm::policy {
namespace {

using testing::ElementsAre;

// The SM of Warped-Slicer's table I, in per mille of registers so that table II's shares can be written down as they
// are.
constexpr gpu::Resources kOneSm = {.threads = 1536, .registers = 1000, .shared_bytes = 1000, .blocks = 8};

TEST(WaterFilling, SweetSpotOfFigure3b) {
  // IMG rises until it saturates, NN falls again once the L1 thrashes; an even split costs IMG 30%, 5 and 3 blocks cost
  // both 10%.
  const std::vector<double> img = {0.2, 0.4, 0.55, 0.7, 0.9, 0.95, 1.0, 1.0};
  const std::vector<double> nn = {0.4, 0.7, 0.9, 1.0, 0.95, 0.9, 0.8, 0.7};
  const std::vector<Sharer> both = {{img, {64, 54, 0, 1}}, {nn, {192, 117, 0, 1}}};
  EXPECT_THAT(*water_fill(both, kOneSm), ElementsAre(5, 3));
}

// Table III for the five kernels whose curves figure 3a shows. The paper prints no numbers: these curves have its
// shapes and what section IV says of them. A block of HOT takes 26% of the registers, the most with which table III's
// (2,4) fits an SM. IMG with NN is left out: figure 3b has (5,3), above, and table III (3,5).
TEST(WaterFilling, TheDynamicColumnOfTable3) {
  struct Shape {
    std::vector<double> curve;
    gpu::Resources block;
  };
  const Shape hot{{0.4, 0.72, 1.0}, {256, 260, 63, 1}};
  const Shape img{{0.2, 0.4, 0.55, 0.7, 0.9, 0.95, 1.0, 1.0}, {64, 54, 0, 1}};
  const Shape blk{{0.35, 0.6, 0.8, 0.92, 0.97, 0.99, 1.0, 1.0}, {128, 119, 0, 1}};
  const Shape nn{{0.4, 0.7, 0.9, 1.0, 0.95, 0.9, 0.8, 0.7}, {192, 117, 0, 1}};
  const Shape mvp{{1.0, 0.95, 0.8, 0.7, 0.6, 0.55, 0.5, 0.5}, {192, 92, 0, 1}};
  const auto divided = [](const Shape& a, const Shape& b) {
    const std::vector<Sharer> both = {{a.curve, a.block}, {b.curve, b.block}};
    return *water_fill(both, kOneSm);
  };
  EXPECT_THAT(divided(hot, mvp), ElementsAre(3, 1));
  EXPECT_THAT(divided(hot, nn), ElementsAre(2, 4));
  EXPECT_THAT(divided(hot, blk), ElementsAre(2, 4));
  EXPECT_THAT(divided(hot, img), ElementsAre(2, 6));
  EXPECT_THAT(divided(img, mvp), ElementsAre(7, 1));
  EXPECT_THAT(divided(img, blk), ElementsAre(5, 3));
}

TEST(WaterFilling, OfKernelsThatLoseAlikeTheFirstGrows) {
  const std::vector<double> line = {0.5, 1.0};
  const std::vector<Sharer> three = {{line, {192, 0, 0, 1}}, {line, {192, 0, 0, 1}}, {line, {192, 0, 0, 1}}};
  EXPECT_THAT(*water_fill(three, {1536, 1000, 1000, 4}), ElementsAre(2, 1, 1));
  EXPECT_THAT(*water_fill(three, {1536, 1000, 1000, 5}), ElementsAre(2, 2, 1));
}

TEST(WaterFilling, FlatStretchesAreSkipped) {
  // The first kernel gains only from its fourth block on; it gets all three more at once or none.
  const std::vector<double> steps = {0.3, 0.3, 0.3, 1.0};
  const std::vector<double> line = {0.5, 1.0};
  const std::vector<Sharer> both = {{steps, {192, 0, 0, 1}}, {line, {192, 0, 0, 1}}};
  EXPECT_THAT(*water_fill(both, kOneSm), ElementsAre(4, 2));
  const gpu::Resources four_blocks = {1536, 1000, 1000, 4};
  EXPECT_THAT(*water_fill(both, four_blocks), ElementsAre(1, 2));
}

TEST(WaterFilling, BlocksThatHurtAreNeverGiven) {
  const std::vector<double> thrashes = {1.0, 0.8, 0.6};
  const std::vector<Sharer> one = {{thrashes, {64, 0, 0, 1}}};
  EXPECT_THAT(*water_fill(one, kOneSm), ElementsAre(1));
}

TEST(WaterFilling, NothingWhereNotEvenOneBlockEachFits) {
  const std::vector<double> line = {1.0};
  const std::vector<Sharer> both = {{line, {1024, 0, 0, 1}}, {line, {1024, 0, 0, 1}}};
  EXPECT_FALSE(water_fill(both, kOneSm).has_value());
}

// Equation 1 by brute force: no combination has a better worst kernel. Curves that rise and then fall, as in figure 3a.
TEST(WaterFilling, NoCombinationHasABetterWorstKernel) {
  Random random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::vector<double>> curves;
    std::vector<gpu::Resources> footprints;
    std::vector<Sharer> sharers;
    const std::size_t kernels = 2 + random.below(2);
    for (std::size_t k = 0; k < kernels; ++k) {
      footprints.push_back({64 * (1 + random.below(4)), 40 + random.below(200), random.below(200), 1});
      std::vector<double> curve;
      const double peak = 1 + random.below(8);
      for (std::uint32_t j = 1; j <= gpu::fit(footprints[k], kOneSm); ++j)
        curve.push_back(j <= peak ? j / peak : peak / j);
      curves.push_back(normalized(curve));
    }
    for (std::size_t k = 0; k < kernels; ++k) sharers.push_back({curves[k], footprints[k]});
    const auto worst = [&](const std::vector<std::uint32_t>& t) {
      double least = 1;
      for (std::size_t k = 0; k < kernels; ++k) least = std::min(least, curves[k][t[k] - 1]);
      return least;
    };
    const auto chosen = water_fill(sharers, kOneSm);
    const auto all = combinations(footprints, kOneSm);
    ASSERT_EQ(chosen.has_value(), !all.empty());
    if (!chosen) continue;
    double best = 0;
    for (const auto& t : all) best = std::max(best, worst(t));
    // Exact where curves rise to a peak: giving the worst kernel its next step is then never a mistake.
    EXPECT_DOUBLE_EQ(worst(*chosen), best);
  }
}

TEST(WaterFilling, CurvesAreRelativeToTheirBestPoint) {
  EXPECT_EQ(normalized(std::vector{2.0, 4.0}), (std::vector{0.5, 1.0}));
  EXPECT_EQ(normalized(std::vector{0.5, 0.25}), (std::vector{1.0, 0.5}));
  EXPECT_EQ(normalized(std::vector{0.0, 0.0}), (std::vector{0.0, 0.0}));
}

TEST(BandwidthScaling, Equation3) {
  // Half the cycles stalled on memory, half of the bandwidth of the sample: factor 1 + 0.5 * (0.5 - 1).
  EXPECT_DOUBLE_EQ(scale_for_bandwidth(10, 0.5, psi_of_shares(8, 4)), 7.5);
  EXPECT_DOUBLE_EQ(scale_for_bandwidth(10, 0.5, psi_of_shares(2, 4)), 15);
  EXPECT_DOUBLE_EQ(scale_for_bandwidth(10, 0, psi_of_shares(8, 4)), 10);
  EXPECT_DOUBLE_EQ(scale_for_bandwidth(10, 1, psi_of_shares(4, 4)), 10);
  EXPECT_DOUBLE_EQ(scale_for_bandwidth(10, 0.5, psi_as_printed(8, 4)), 15);
}

// SMs with 1 to 8 blocks that all wait for memory and have bandwidth in proportion to their blocks: all run alike if
// all have as many.
TEST(BandwidthScaling, AKernelThatFillsTheBandwidthNeedsOneBlock) {
  for (int blocks = 1; blocks <= 8; ++blocks)
    EXPECT_NEAR(scale_for_bandwidth(3.0 * blocks, 1, psi_of_shares(blocks, 4.5)), 13.5, 1e-9);
}

TEST(BandwidthScaling, AnSmKeepsNoMoreThanItsEqualPartOfTheBandwidth) {
  EXPECT_DOUBLE_EQ(part_kept_at(12, 6), 0.5);
  EXPECT_DOUBLE_EQ(part_kept_at(6, 6), 1);
  EXPECT_DOUBLE_EQ(part_kept_at(2, 6), 1) << "all SMs together leave bandwidth unused";
  EXPECT_DOUBLE_EQ(part_kept_at(0, 6), 1);
}

TEST(Combinations, AllThatFitWithOneOfEachAtLeast) {
  const std::vector<gpu::Resources> two = {{512, 0, 0, 1}, {512, 0, 0, 1}};
  EXPECT_THAT(combinations(two, kOneSm), ElementsAre(ElementsAre(1, 1), ElementsAre(1, 2), ElementsAre(2, 1)));
}

}  // namespace
}  // namespace wm::policy
