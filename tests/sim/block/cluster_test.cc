// Clusters at launch grain: hand-computed waits and slowdowns, placement rules, conservation.
#include "sim/block/cluster/cluster.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

Service service(std::uint64_t work, double demand, Arrivals arrivals, Cycles deadline = kNever) {
  return {.name = "s",
          .work = {work},
          .demand = static_cast<std::uint32_t>(demand * kWholeGpu),
          .deadline = deadline,
          .arrivals = std::move(arrivals)};
}
Arrivals at(std::vector<std::uint64_t> times) {
  std::vector<Cycles> cycles;
  for (const std::uint64_t t : times) cycles.push_back({t});
  return Arrivals::recorded(std::move(cycles));
}
std::uint64_t longest(const Cluster& c, std::uint32_t service) { return c.result(service).latencies.percentile(1); }

// Three requests of 60 cycles for one GPU that takes one at a time: the last ends at 180. Latencies below 64 are exact
// in the histogram, larger ones within 1.6%.
TEST(Cluster, RequestsWaitForAGpuWithRoom) {
  const auto rule = *make_placement("first_fit");
  Cluster cluster({.gpus = 1}, *rule, {service(60, 1, at({0, 0, 0}), {120})});
  ASSERT_TRUE(cluster.run(kNever).ok());
  EXPECT_EQ(cluster.result(0).latencies.percentile(0.3), 60U);
  EXPECT_NEAR(static_cast<double>(longest(cluster, 0)), 180, 3);
  EXPECT_EQ(cluster.result(0).on_time, 2U);
}

// Two requests that use 0.8 of a GPU each share one that takes 1.6: each works at 1/1.6 of its rate.
TEST(Cluster, RequestsThatAskForMoreThanTheGpuSlowEachOther) {
  const auto rule = *make_placement("first_fit");
  Cluster cluster({.gpus = 1, .limit = 2 * kWholeGpu}, *rule, {service(1'000, 0.8, at({0, 0}))});
  ASSERT_TRUE(cluster.run(kNever).ok());
  EXPECT_NEAR(static_cast<double>(longest(cluster, 0)), 1'600, 26);
  EXPECT_NEAR(cluster.utilization(), 1, 1e-3);
}

// Jobs of two days on a GPU of 2 GHz, one after the other: 2^48 cycles of work, the limit of 64 bits, are 39 hours.
TEST(Cluster, RequestsMayRunForDays) {
  constexpr std::uint64_t kTwoDays = 2 * 86'400 * std::uint64_t{2'000'000'000};
  const auto rule = *make_placement("first_fit");
  Cluster cluster({.gpus = 1}, *rule, {service(kTwoDays, 1, at({0, 0, 0}))});
  ASSERT_TRUE(cluster.run(kNever).ok());
  EXPECT_NEAR(static_cast<double>(longest(cluster, 0)) / kTwoDays, 3, 0.05);
  EXPECT_NEAR(static_cast<double>(cluster.result(0).latencies.percentile(0.3)) / kTwoDays, 1, 0.02);
}

// A hundred services with two requests each, which arrive at once for one GPU that takes one at a time.
TEST(Cluster, RequestsOfEveryServiceArePlacedInOrderOfArrival) {
  const auto rule = *make_placement("first_fit");
  std::vector<Service> services;
  for (std::uint64_t i = 0; i < 100; ++i) services.push_back(service(10, 1, at({i, 1'000 + i})));
  Cluster cluster({.gpus = 1}, *rule, std::move(services));
  ASSERT_TRUE(cluster.run(kNever).ok());
  EXPECT_EQ(cluster.waiting(), 0U);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(cluster.result(i).latencies.total(), 2U) << i;
  EXPECT_EQ(cluster.result(3).latencies.percentile(0.5), 37U);  // behind three others: from 3 to 40
  EXPECT_EQ(cluster.now(), Cycles{2'000});
}

// Each request takes 1,000 cycles of the only GPU, and a burst of ten arrives every cycle.
TEST(Cluster, MoreWaitingRequestsThanTheLimitEndTheRun) {
  const auto rule = *make_placement("first_fit");
  Cluster cluster({.gpus = 1, .max_waiting = 500}, *rule, {service(1'000, 1, Arrivals::bursts({1}, 10, 3))});
  const auto ran = cluster.run(kNever);
  ASSERT_FALSE(ran.ok());
  EXPECT_EQ(cluster.waiting(), 501U);
  EXPECT_EQ(ran.error().what.find("more than 500 requests wait at cycle "), 0U) << ran.error().what;
}

// 0.5 and 0.3 are taken on two GPUs; 0.4 then goes to the first that has room, or to the one that it fills best.
TEST(Placement, FirstFitAndBestFitDiffer) {
  GpuPool pool(3, kWholeGpu);
  const std::vector<Service> services = {service(1, 0.4, at({0}))};
  pool.take(0, kWholeGpu * 3 / 10);
  pool.take(1, kWholeGpu / 2);
  EXPECT_EQ((*make_placement("first_fit"))->choose(pool, services, 0), 0U);
  EXPECT_EQ((*make_placement("best_fit"))->choose(pool, services, 0), 1U);
}

TEST(Placement, ByClassDividesTheGpusByLoad) {
  GpuPool pool(8, kWholeGpu);
  std::vector<Service> services = {service(100, 1, Arrivals::poisson({100}, 1)),
                                   service(300, 1, Arrivals::poisson({100}, 1))};
  services[1].name = "longer";
  const auto rule = *make_placement("by_class");
  rule->begin(pool, services);
  EXPECT_EQ(rule->choose(pool, services, 0), 0U);
  EXPECT_EQ(rule->choose(pool, services, 1), 2U);
  pool.take(0, kWholeGpu);
  pool.take(1, kWholeGpu);
  EXPECT_EQ(rule->choose(pool, services, 0), kNoGpu);
}

// A record of one request at the beginning keeps one GPU at work at most, not as many as a request in every cycle
// would.
TEST(Placement, ByClassGivesAShortRecordNoMoreGpusThanItHasRequests) {
  GpuPool pool(8, kWholeGpu);
  std::vector<Service> services = {service(1000, 1, at({0})), service(1000, 1, Arrivals::poisson({200}, 1))};
  services[1].name = "load";
  const auto rule = *make_placement("by_class");
  rule->begin(pool, services);
  EXPECT_EQ(rule->choose(pool, services, 0), 0U);
  EXPECT_EQ(rule->choose(pool, services, 1), 1U);
}

// Two services of one class have the GPUs of both.
TEST(Placement, ByClassGivesServicesOfOneNameTheSameGpus) {
  GpuPool pool(8, kWholeGpu);
  std::vector<Service> services(3, service(100, 1, Arrivals::poisson({100}, 1)));
  services[1].name = "other";
  const auto rule = *make_placement("by_class");
  rule->begin(pool, services);
  EXPECT_EQ(rule->choose(pool, services, 0), 0U);
  EXPECT_EQ(rule->choose(pool, services, 2), 0U);
  EXPECT_EQ(rule->choose(pool, services, 1), 5U);
}

TEST(Placement, ByClassServesMoreClassesThanGpus) {
  const auto rule = *make_placement("by_class");
  std::vector<Service> services(4, service(10, 1, at({0})));
  for (std::size_t i = 0; i < services.size(); ++i) services[i].name += std::to_string(i);
  Cluster cluster({.gpus = 2}, *rule, std::move(services));
  ASSERT_TRUE(cluster.run(kNever).ok());
  EXPECT_EQ(cluster.waiting(), 0U);
  EXPECT_EQ(cluster.now(), Cycles{20});
}

TEST(Placement, FirstSearchesItsRangeOnly) {
  GpuPool pool(5, 100);
  pool.take(2, 100);
  EXPECT_EQ(pool.first(50, 2, 5), 3U);
  EXPECT_EQ(pool.first(50, 2, 3), kNoGpu);
  pool.take(3, 100);
  pool.take(4, 100);
  EXPECT_EQ(pool.first(1, 2, 5), kNoGpu);
  EXPECT_EQ(pool.first(100, 0, 5), 0U);
}

TEST(Placement, AnUnknownRuleIsRefused) {
  EXPECT_EQ(make_placement("first_fist").error().what, "unknown placement 'first_fist' (did you mean 'first_fit'?)");
}

// Every request that arrived has ended, waits or runs; two runs are equal.
TEST(Cluster, ConservesRequestsAndRepeats) {
  for (const PlacementEntry& entry : placements()) {
    std::uint64_t p99 = 0;
    for (int i = 0; i < 2; ++i) {
      const auto rule = entry.make();
      Cluster cluster(
          {.gpus = 10}, *rule,
          {service(5'000, 0.7, Arrivals::poisson({1'500}, 3)), service(900, 0.2, Arrivals::bursts({4'000}, 5, 4))});
      ASSERT_TRUE(cluster.run({20'000'000}).ok());
      const ServiceResult& r = cluster.result(0);
      EXPECT_GT(r.latencies.total(), 10'000U) << entry.name;
      EXPECT_LE(r.latencies.total() + cluster.waiting(), r.arrived + cluster.result(1).arrived) << entry.name;
      EXPECT_LE(r.arrived, r.latencies.total() + cluster.waiting() + 20) << entry.name;
      EXPECT_GE(longest(cluster, 0), 5'000U);
      if (i == 1) {
        EXPECT_EQ(r.latencies.percentile(0.99), p99) << entry.name;
      }
      p99 = r.latencies.percentile(0.99);
    }
  }
}

// An M/D/1 queue at half load waits half a service time on average; at this load the median request waits for none.
TEST(Cluster, AQueueAtHalfLoadHasItsKnownWaits) {
  const auto rule = *make_placement("first_fit");
  Cluster cluster({.gpus = 1}, *rule, {service(1'000, 1, Arrivals::poisson({2'000}, 9))});
  ASSERT_TRUE(cluster.run({400'000'000}).ok());
  EXPECT_NEAR(cluster.utilization(), 0.5, 0.01);
  EXPECT_NEAR(static_cast<double>(cluster.result(0).latencies.percentile(0.5)), 1'000, 20);
  // The wait is 0 with probability 1 - 0.5; P(W <= 3 service times) is 0.985 for M/D/1 at 0.5.
  EXPECT_NEAR(static_cast<double>(cluster.result(0).latencies.percentile(0.98)), 4'000, 500);
}

}  // namespace
}  // namespace wm::sim
