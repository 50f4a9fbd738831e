// Sharing in software: accelOS and elastic kernels.
#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

TEST(AccelOs, Decisions) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "accelos",
        {arrive_together({{.name = "a"}, {.name = "b", .block = {256, 32, 0}}}), run(1000), arrive("c"), done(0)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 > k0 arrived\n"
            "0 cap sm 0-3 k0 at 0\n"
            "0 > k1 arrived\n"
            "0 cap sm 0-3 k1 at 0\n"
            "0 cap sm 0-3 k0 at 8\n"
            "0 cap sm 0-3 k1 at 4\n"
            "1000 > k2 arrived\n"
            "1000 cap sm 0-3 k2 at 0\n"  // the two are bound; there is no room
            "1000 > k0 done\n"
            "1000 cap sm 0-3 k2 at 8\n");  // half of the SM, as K is 2 again
}

TEST(AccelOs, ALaunchKeepsWhatItHasWhenOthersEnd) {
  FakeMachine gpu({.sms = 4});
  drive(
      gpu, "accelos",
      {arrive_together({{.name = "a", .blocks = 1000}, {.name = "b", .blocks = 1000}}), run(1000), done(1), run(9000)});
  EXPECT_EQ(gpu.caps({0}), "8888");
  EXPECT_EQ(gpu.resident({0}, {0}), 8U);
}

TEST(AccelOs, TheNextLaunchIsSharedOutAnew) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "accelos",
        {arrive_together({{.name = "a", .blocks = 64, .launches = 0}, {.name = "b", .blocks = 100}}), run(1000),
         done(1), run(40'000)});
  for (const Sm& sm : gpu.sms()) EXPECT_EQ(gpu.residents(sm.id)[0].cap, 16U);
}

// Section 3 counts the resources of the device: eight launches with groups of half an SM all get their share.
TEST(AccelOs, LargeGroupsOfManyClientsShareTheDevice) {
  for (const std::uint32_t sms : {1U, 4U}) {  // a runtime that sees no SMs shows one with the sum of all
    FakeSpec spec{.sms = sms};
    gpu::Resources& total = spec.limits.total;
    const std::uint32_t by = 4 / sms;
    total = {total.threads * by, total.registers * by, total.shared_bytes * by, total.blocks * by};
    FakeMachine gpu(spec);
    gpu.start("accelos");
    std::vector<FakeKernel> kernels;
    for (int i = 0; i < 8; ++i)
      kernels.push_back({.name = std::string(1, static_cast<char>('a' + i)), .block = {1024, 16, 0}});
    gpu.arrive_together(kernels);
    for (std::uint32_t k = 0; k < 8; ++k) {
      std::uint32_t workers = 0;
      for (std::uint32_t sm = 0; sm < sms; ++sm) workers += gpu.resident({sm}, {k});
      EXPECT_EQ(workers, 1U) << "kernel " << k << " on " << sms << " SMs";
    }
  }
}

TEST(AccelOs, SharesMayDiffer) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "accelos", {arrive_together({{.name = "a", .share = 3}, {.name = "b"}})});
  EXPECT_EQ(gpu.residents({0})[0].cap, 12U);
  EXPECT_EQ(gpu.residents({0})[1].cap, 4U);
}

TEST(ElasticKernels, Decisions) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "elastic_kernels",
        {arrive_together({{.name = "a"}, {.name = "b", .block = {256, 32, 0}}, {.name = "c"}}), run(60'000)});
  EXPECT_EQ(gpu.recorder().actions(),
            "0 cap sm 0-3 k0 at 0\n"
            "0 cap sm 0-3 k1 at 0\n"
            "0 cap sm 0-3 k2 at 0\n"
            "0 cap sm 0-3 k0 at 14\n"
            "0 cap sm 0-3 k1 at 1\n"
            "51200 cap sm 0-3 k2 at 16\n");  // only when both have ended
}

TEST(ElasticKernels, ALaunchThatDoesNotFitBesideIsNotMerged) {
  FakeMachine gpu({.sms = 1});
  drive(gpu, "elastic_kernels",
        {arrive_together({{.name = "a", .block = {1024, 40, 0}}, {.name = "b", .block = {1024, 40, 0}}})});
  EXPECT_EQ(gpu.caps({0}), "1");
  EXPECT_EQ(gpu.caps({1}), "0");
}

}  // namespace
}  // namespace wm::policy::test
