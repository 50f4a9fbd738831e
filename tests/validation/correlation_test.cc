// Simulated against measured cycles over the zoo: the committed figures hold, and they are those of this simulator.
#include "correlation/correlation.h"

#include <gtest/gtest.h>

#include "gpu/load_gpu.h"
#include "kernels/benchmark.h"
#include "lab/validation/simulated_launches.h"
#include "tree.h"

namespace wm::validation {
namespace {

const std::string kFolder = source_path("validation/h200/");

std::vector<Point> committed(bool held_out) {
  const auto measured = read_launches(kFolder + "zoo-cycles.csv");
  const auto simulated = read_launches(kFolder + "zoo-simulated.csv");
  const auto apart = read_names(kFolder + "heldout.txt");
  EXPECT_TRUE(measured.ok() && simulated.ok() && apart.ok());
  EXPECT_EQ(apart->size(), 8U);
  std::vector<Point> some;
  for (const Point& p : points(*measured, *simulated, *apart, kThresholdCycles))
    if (p.held_out == held_out) some.push_back(p);
  return some;
}

TEST(Correlation, OfWhatTheSimulatorWasTunedOn) {
  const Agreement a = agreement(committed(false));
  EXPECT_GE(a.points, 30U);
  EXPECT_LE(a.mean_absolute_error, 0.30);
  EXPECT_GE(a.log_correlation, 0.95);
}

TEST(Correlation, OfWhatWasHeldOut) {
  const Agreement a = agreement(committed(true));
  EXPECT_GE(a.points, 12U);
  EXPECT_LE(a.mean_absolute_error, 0.30);
  EXPECT_GE(a.log_correlation, 0.90);
}

Point point(double measured, double simulated) {
  Point p;
  p.measured = measured;
  p.simulated = simulated;
  return p;
}

TEST(Correlation, ErrorsAreAveragedAndLogarithmsCorrelated) {
  const Agreement even = agreement({point(100, 110), point(1000, 900), point(10000, 10000)});
  EXPECT_NEAR(even.mean_absolute_error, 0.2 / 3, 1e-12);
  EXPECT_GT(even.log_correlation, 0.99);
  const Agreement turned = agreement({point(100, 1000), point(1000, 100)});
  EXPECT_NEAR(turned.log_correlation, -1, 1e-9);
}

TEST(Correlation, AKernelsLaunchesAreOnePointAndShortOnesAreLeftOut) {
  LaunchTable measured;
  LaunchTable simulated;
  measured[{"a", "large", 0}] = {"k", 30000, 10};
  measured[{"a", "large", 1}] = {"k", 50000, 10};
  measured[{"a", "large", 2}] = {"s", 100, 10};
  for (auto& [key, row] : measured) simulated[key] = {row.kernel, 2 * row.cycles, 10};
  measured[{"a", "large", 3}] = {"k", 1e9, 10};  // never simulated
  const std::vector<Point> all = points(measured, simulated, {"a"}, kThresholdCycles);
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].launches, 2U);
  EXPECT_DOUBLE_EQ(all[0].measured, 40000);
  EXPECT_DOUBLE_EQ(all[0].error(), 1.0);
  EXPECT_TRUE(all[0].held_out);
}

// The committed cycles are not those of some earlier simulator.
class Simulated : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Fresh, Simulated, ::testing::Values("vecadd"));
INSTANTIATE_TEST_SUITE_P(LongFresh, Simulated, ::testing::Values("sgemm", "libor", "smem", "fma"));

TEST_P(Simulated, IsWhatIsCommitted) {
  const auto table = read_launches(kFolder + "zoo-simulated.csv");
  ASSERT_TRUE(table.ok()) << table.error().to_string();
  const auto config = gpu::load_gpu("h200", source_path("configs/gpus"));
  const zoo::Entry& entry = **zoo::find(GetParam());
  const auto run = lab::simulate(*config, entry.ptx, entry.benchmark.make(zoo::Size::medium).application, 12);
  ASSERT_TRUE(run.ok()) << run.error().to_string();
  for (std::uint32_t i = 0; i < run->launches.size(); ++i) {
    const auto it = table->find({entry.benchmark.name, "medium", i});
    ASSERT_NE(it, table->end());
    EXPECT_NEAR(static_cast<double>(run->launches[i].cycles) / it->second.cycles, 1.0, 0.1)
        << "run validation/simulate.sh again and commit what it gives";
  }
}

}  // namespace
}  // namespace wm::validation
