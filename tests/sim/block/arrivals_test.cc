// Open arrivals: when requests begin, and the percentiles of their latencies.
#include "sim/block/arrivals.h"

#include <fstream>
#include <gtest/gtest.h>

namespace wm::sim {
namespace {

TEST(Arrivals, PoissonHasItsMeanDistanceAndRepeats) {
  Arrivals a = Arrivals::poisson({1000}, 7);
  Arrivals b = Arrivals::poisson({1000}, 7);
  Cycles last;
  for (int i = 0; i < 20'000; ++i) {
    last = *a.next();
    ASSERT_EQ(last, *b.next());
  }
  EXPECT_NEAR(static_cast<double>(last.count) / 20'000, 1000, 25);
}

TEST(Arrivals, RequestsOfABurstArriveAtOnce) {
  Arrivals a = Arrivals::bursts({1000}, 3, 7);
  const Cycles first = *a.next();
  EXPECT_EQ(*a.next(), first);
  EXPECT_EQ(*a.next(), first);
  EXPECT_GT(*a.next(), first);
}

TEST(Arrivals, RatesAreRequestsASecond) {
  auto a = parse_arrivals("poisson=200", {1'000'000'000}, 3);
  ASSERT_TRUE(a.ok());
  Cycles last;
  for (int i = 0; i < 10'000; ++i) last = *a->next();
  EXPECT_NEAR(static_cast<double>(last.count) / 10'000, 5e6, 2e5);
}

TEST(Arrivals, AFileHasATimeOnEveryLine) {
  const std::string path = testing::TempDir() + "requests.txt";
  std::ofstream(path) << "# microseconds\n0\n2.5\n10\n";
  auto a = parse_arrivals("requests=" + path, {1'000'000'000}, 1);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(a->next()->count, 0U);
  EXPECT_EQ(a->next()->count, 2500U);
  EXPECT_EQ(a->next()->count, 10'000U);
  EXPECT_FALSE(a->next());
}

TEST(Arrivals, LinesOfAFileMayEndWithACarriageReturn) {
  const std::string path = testing::TempDir() + "carriage.txt";
  std::ofstream(path, std::ios::binary) << "1\r\n\r\n2\r\n";
  auto a = parse_arrivals("requests=" + path, {1'000'000'000}, 1);
  ASSERT_TRUE(a.ok()) << a.error().to_string();
  EXPECT_EQ(a->next()->count, 1000U);
  EXPECT_EQ(a->next()->count, 2000U);
  EXPECT_FALSE(a->next());
}

TEST(Arrivals, MistakesAreRefused) {
  const auto what = [](const std::string& text) { return parse_arrivals(text, {1'000'000'000}, 1).error().what; };
  EXPECT_EQ(what("poisson=-1"), "'poisson' must be requests a second, from 1e-6 to 1e9, not '-1'");
  EXPECT_EQ(what("bursts=20"), "'bursts' must be bursts a second and their size such as 20x8, not '20'");
  EXPECT_EQ(what("bursts=20x0"), "'bursts' must be bursts a second and their size such as 20x8, not '20x0'");
  const std::string path = testing::TempDir() + "falling.txt";
  std::ofstream(path) << "5\n3\n";
  const auto falling = parse_arrivals("requests=" + path, {1'000'000'000}, 1);
  ASSERT_FALSE(falling.ok());
  EXPECT_EQ(falling.error().to_string(),
            path + ":2: a time in microseconds, not before the last one, expected in place of '3'");
}

TEST(Arrivals, ExpectedRequestsAreThoseOfTheTimeOrOfTheRecord) {
  EXPECT_DOUBLE_EQ(Arrivals::bursts({100}, 5, 1).expected_before({1'000}), 50);
  EXPECT_DOUBLE_EQ(Arrivals::recorded({{0}, {7}}).expected_before({1'000'000}), 2);
}

TEST(Arrivals, MoreThanOneArrivalACycleIsRefused) {
  EXPECT_TRUE(parse_arrivals("poisson=1e6", {1'000'000}, 1).ok());
  const auto refused = parse_arrivals("bursts=2e6x3", {1'000'000}, 1);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().what, "'bursts=2e6x3': more than one arrival in each of the GPU's 1000000 cycles a second");
}

TEST(Percentile, IsAValueThatSoManyDoNotExceed) {
  std::vector<std::uint64_t> values;
  for (std::uint64_t i = 1; i <= 100; ++i) values.push_back(101 - i);
  EXPECT_EQ(percentile(values, 0.5), 50U);
  EXPECT_EQ(percentile(values, 0.99), 99U);
  EXPECT_EQ(percentile(values, 1), 100U);
  EXPECT_EQ(percentile({}, 0.5), 0U);
}

}  // namespace
}  // namespace wm::sim
