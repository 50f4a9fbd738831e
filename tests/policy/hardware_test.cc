// Tests of the policies that NVIDIA GPUs apply by themselves: time slices, and MPS.
#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

FakeKernel endless(const char* name) { return {.name = name, .blocks = 1'000'000}; }

TEST(TimeSlice, ClientsHaveAllSmsInTurn) {
  FakeMachine gpu{{.sms = 4, .switch_time = {0}}};
  drive(gpu, "time_slice:slice=10000:switch=0", {arrive(endless("a")), arrive(endless("b")), run(5'000)});
  EXPECT_EQ(gpu.owners(), "aaaa");
  gpu.run({10'000});
  EXPECT_EQ(gpu.owners(), "bbbb");
  gpu.run({10'000});
  EXPECT_EQ(gpu.owners(), "aaaa");
}

TEST(TimeSlice, TheGpuDoesNothingBetweenTwoClients) {
  FakeMachine gpu{{.sms = 2, .switch_time = {0}}};
  drive(gpu, "time_slice:slice=10000:switch=4000", {arrive(endless("a")), arrive(endless("b")), run(12'000)});
  EXPECT_EQ(gpu.owners(), "bb");
  EXPECT_EQ(gpu.resident({0}, {1}), 0U);
  gpu.run({4'000});
  EXPECT_GT(gpu.resident({0}, {1}), 0U);
}

TEST(TimeSlice, AClientWithoutAKernelYields) {
  FakeMachine gpu{{.sms = 2, .switch_time = {0}}};
  drive(gpu, "time_slice:slice=1000000:switch=0:idle=0",
        {arrive(FakeKernel{.name = "a", .blocks = 2}), arrive(endless("b")), run(10'000)});
  EXPECT_EQ(gpu.owners(), "bb");
}

TEST(TimeSlice, AClientBetweenTwoLaunchesKeepsItsSlice) {
  FakeMachine gpu{{.sms = 2, .switch_time = {0}}};
  drive(gpu, "time_slice:slice=1000000:switch=0:idle=8000",
        {arrive(FakeKernel{.name = "a", .blocks = 2}), arrive(endless("b")), run(6'000)});
  EXPECT_EQ(gpu.resident({0}, {1}), 0U);
  gpu.run({10'000});
  EXPECT_EQ(gpu.owners(), "bb");
}

TEST(TimeSlice, ASingleClientIsNotInterrupted) {
  FakeMachine gpu{{.sms = 2}};
  drive(gpu, "time_slice:slice=1000:switch=500", {arrive(endless("a")), run(3'500)});
  EXPECT_GT(gpu.resident({0}, {0}), 0U);
  EXPECT_EQ(gpu.owners(), "aa");
}

FakeKernel endless_of(const char* name, std::uint32_t process) {
  FakeKernel k = endless(name);
  k.process = process;
  return k;
}

// One block of "a" needs one SM; "b" is of the same process and takes the others, without a switch.
TEST(TimeSlice, KernelsOfOneProcessShareItsSlice) {
  FakeMachine gpu{{.sms = 4, .switch_time = {0}}};
  drive(gpu, "time_slice:slice=100000:switch=4000",
        {arrive(FakeKernel{.name = "a", .blocks = 1, .process = 5}), arrive(endless_of("b", 5)), run(100)});
  EXPECT_EQ(gpu.owners(), "abbb");
  EXPECT_GT(gpu.resident({1}, {1}), 0U);
}

// The process of "a" and "c" has one turn, not two.
TEST(TimeSlice, AProcessHasOneTurnForAllItsKernels) {
  FakeMachine gpu{{.sms = 2, .switch_time = {0}}};
  drive(gpu, "time_slice:slice=10000:switch=0",
        {arrive(endless_of("a", 5)), arrive(endless("b")), arrive(endless_of("c", 5)), run(5'000)});
  EXPECT_EQ(gpu.owners(), "aa");
  gpu.run({10'000});
  EXPECT_EQ(gpu.owners(), "bb");
  gpu.run({10'000});
  EXPECT_EQ(gpu.owners(), "aa");
  gpu.run({10'000});
  EXPECT_EQ(gpu.owners(), "bb");
}

TEST(Mps, ClientsShareEverySm) {
  FakeMachine gpu{{.sms = 2}};
  drive(gpu, "mps", {arrive(FakeKernel{.name = "a", .blocks = 4}), arrive(endless("b")), run(100)});
  EXPECT_EQ(gpu.owners(), "..");
  EXPECT_GT(gpu.resident({0}, {0}), 0U);
  EXPECT_GT(gpu.resident({0}, {1}), 0U);
}

TEST(Mps, APercentageLimitsAClientToAPartOfTheSms) {
  FakeMachine gpu{{.sms = 4}};
  drive(gpu, "mps:percentage=50", {arrive(endless("a")), arrive(endless("b"))});
  EXPECT_EQ(gpu.caps({0}), "**00");
  EXPECT_EQ(gpu.caps({1}), "00**");
}

// Both kernels of process 5 are limited to the same half, and the next process has the other one.
TEST(Mps, APercentageLimitsTheKernelsOfAProcessTogether) {
  FakeMachine gpu{{.sms = 4}};
  drive(gpu, "mps:percentage=50", {arrive(endless_of("a", 5)), arrive(endless_of("b", 5)), arrive(endless("c"))});
  EXPECT_EQ(gpu.caps({0}), "**00");
  EXPECT_EQ(gpu.caps({1}), "**00");
  EXPECT_EQ(gpu.caps({2}), "00**");
}

}  // namespace
}  // namespace wm::policy::test
