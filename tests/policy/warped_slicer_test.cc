// Warped-Slicer and its oracle.
#include <gmock/gmock.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const gpu::SmLimits kTable1 = {.total = {.threads = 1536, .registers = 32768, .shared_bytes = 49152, .blocks = 8}};

// The two kernels of figure 3: one saturates, one thrashes the L1.
FakeKernel img() {
  return {.name = "i", .blocks = 1'000'000, .block = {64, 27, 0}, .ipc = {20, 40, 55, 70, 90, 95, 100, 100}};
}
FakeKernel nn() {
  return {.name = "n", .blocks = 1'000'000, .block = {192, 20, 0}, .ipc = {40, 70, 90, 100, 95, 90, 80, 70}};
}

TEST(WarpedSlicer, DecisionsForFigure3b) {
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({img(), nn()}), run(25'000)});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555");
  EXPECT_EQ(gpu.caps({1}), "3333333333333333");
  const std::string log = gpu.recorder().everything();
  // Figure 4: 1 to 8 blocks of each kernel, on eight SMs each.
  EXPECT_THAT(log, HasSubstr("0 cap sm 0 k0 at 1\n0 cap sm 0 k1 at 0\n0 cap sm 1 k0 at 2\n0 cap sm 1 k1 at 0\n"));
  EXPECT_THAT(log, HasSubstr("0 cap sm 15 k0 at 0\n0 cap sm 15 k1 at 8\n"));
  EXPECT_THAT(log, HasSubstr("0 wake at 20000 as 1\n"
                             "20000 > wake 1\n"
                             "20000 epoch 5000\n"
                             "25000 > epoch\n"));
}

TEST(WarpedSlicer, FewerSmsThanBlockCountsMeansRoundsThatAddBlocks) {
  FakeMachine gpu({.sms = 4, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({img(), nn()}), run(21'000)});
  EXPECT_EQ(gpu.caps({0}), "1200");
  gpu.run({5'000});
  EXPECT_EQ(gpu.caps({0}), "3400");
  gpu.run({15'000});  // samples of 1-2, 3-4, 5-6 and 7-8 blocks
  EXPECT_EQ(gpu.caps({0}), "5555");
  EXPECT_EQ(gpu.caps({1}), "3333");
}

// A launch of either function is over long before a measurement of it could be.
TEST(WarpedSlicer, AClientWhoseFunctionsAlternateIsMeasuredAsAWhole) {
  FakeKernel turns = nn();
  turns.blocks = 200;
  turns.block_instructions = 1'000;
  turns.launches = 0;
  turns.alternates = true;
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({img(), turns}), run(120'000)});
  ASSERT_GT(gpu.find(KernelId{1})->launch, 20U);
  EXPECT_EQ(gpu.caps({0}), "5555555555555555");
  EXPECT_EQ(gpu.caps({1}), "3333333333333333");
  const std::string caps = gpu.caps({1});
  gpu.run({20'000});
  EXPECT_EQ(gpu.caps({1}), caps) << "and is not measured again with its next launches";
}

TEST(WarpedSlicer, FallsBackToSpatialWhereAKernelWouldLoseTooMuch) {
  // Blocks so large that two and one are all that fit: the first would run at a quarter of its best.
  FakeKernel big = img();
  big.block = {512, 16, 0};
  big.ipc = {20, 50, 100};
  FakeKernel other = nn();
  other.block = {1024, 16, 0};
  other.ipc = {50};
  FakeMachine gpu({.sms = 8, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({big, other}), run(40'000)});
  EXPECT_EQ(gpu.caps({0}), "****0000");
  EXPECT_EQ(gpu.caps({1}), "0000****");
  FakeMachine tolerant({.sms = 8, .limits = kTable1});
  drive(tolerant, "warped_slicer:loss=1.7", {arrive_together({big, other}), run(40'000)});
  EXPECT_EQ(tolerant.caps({0}), "11111111");
}

TEST(WarpedSlicer, AThirdKernelStartsANewMeasurementAndADepartureNone) {
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({img(), nn()}), run(30'000)});
  gpu.arrive({.name = "t", .blocks = 1'000'000, .block = {64, 16, 0}, .ipc = {30, 60}});
  EXPECT_EQ(gpu.caps({2}), "0000000000012345");
  gpu.run({60'000});
  const std::string three = gpu.caps({0});
  EXPECT_EQ(three, std::string(16, three[0]));
  gpu.finish({2});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555");  // at once, from the curves it knows
  EXPECT_EQ(gpu.caps({1}), "3333333333333333");
}

TEST(WarpedSlicer, AMeasurementCutShortIsNoMeasurement) {
  FakeMachine gpu({.sms = 6, .limits = kTable1});
  FakeKernel third = img();
  third.name = "t";
  drive(gpu, "warped_slicer", {arrive_together({img(), nn(), third}), run(26'000)});
  EXPECT_EQ(gpu.caps({0}), "340000") << "in the second of four rounds";
  gpu.finish({2});
  EXPECT_EQ(gpu.caps({0}), "123000") << "all over, for two";
}

TEST(WarpedSlicer, ALaunchOfAKnownKernelIsNotMeasuredAgain) {
  FakeKernel again = img();
  again.blocks = 400;
  again.block_instructions = 2'000;
  again.launches = 0;
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({again, nn()}), run(100'000)});
  EXPECT_GT(gpu.find({0})->launch, 2U);
  EXPECT_EQ(gpu.caps({0}), "5555555555555555");
  EXPECT_THAT(gpu.recorder().actions(), Not(HasSubstr("as 2")));  // one plan only
}

TEST(WarpedSlicer, ASustainedChangeOfRateStartsANewMeasurement) {
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({img(), nn()}), run(60'000)});
  gpu.become({0}, {5, 10, 15, 20, 25, 30, 35, 40});
  gpu.run({20'000});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555") << "a change that is shorter than a measurement is not yet a phase";
  gpu.run({10'000});
  EXPECT_EQ(gpu.caps({0}), "1234567800000000");
  gpu.run({40'000});
  EXPECT_EQ(gpu.caps({0}), "6666666666666666");  // it rises to its last block now
  EXPECT_EQ(gpu.caps({1}), "2222222222222222");
}

// Blocks of the first kernel outlast the measurement of its new phase, which costs more the longer it takes.
TEST(WarpedSlicer, TheMeasurementOfAPhaseIsGivenUpWhereBlocksHoldItUp) {
  FakeKernel slow = img();
  slow.block_instructions = 2'000'000;
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({slow, nn()}), run(400'000)});
  ASSERT_EQ(gpu.caps({0}), "5555555555555555");
  gpu.become({0}, {5, 10, 15, 20, 25, 30, 35, 40});
  gpu.run({35'000});
  EXPECT_EQ(gpu.caps({0}), "1234567800000000");
  gpu.run({40'000});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555") << "the partition of before, after two warm-ups";
  gpu.run({80'000});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555") << "the rate of this phase is the usual one now";
}

// It slows down as its blocks run out, which says nothing about those that ran.
TEST(WarpedSlicer, ALaunchThatRunsOutOfBlocksIsNoPhase) {
  FakeKernel ends = img();
  ends.blocks = 250;  // the last of four waves has fewer than one on each SM
  ends.block_instructions = 2'000'000;
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({ends, nn()}), run(25'000)});
  ASSERT_EQ(gpu.caps({0}), "5555555555555555");
  gpu.after_each_step([](const FakeMachine& seen) {
    if (seen.kernels().size() == 2) {
      EXPECT_EQ(seen.caps({0}), "5555555555555555") << seen.now().count;
    }
  });
  gpu.run({1'000'000});
}

// It rises when sampled, since the SMs with more blocks took the bandwidth; with stalls in sight it is seen to be flat.
TEST(WarpedSlicer, BandwidthScalingUsesMemoryStalls) {
  FakeKernel memory = img();
  memory.ipc = {10, 20, 30, 40, 50, 60, 70, 80};
  FakeMachine blind({.sms = 16, .limits = kTable1});
  drive(blind, "warped_slicer", {arrive_together({memory, nn()}), run(25'000)});
  EXPECT_EQ(blind.caps({0}), "6666666666666666");
  memory.memory_stalls = 1;
  FakeMachine seeing({.sms = 16, .limits = kTable1});
  drive(seeing, "warped_slicer", {arrive_together({memory, nn()}), run(25'000)});
  EXPECT_EQ(seeing.caps({0}), "1111111111111111");
  FakeMachine printed({.sms = 16, .limits = kTable1});
  drive(printed, "warped_slicer:psi=printed", {arrive_together({memory, nn()}), run(25'000)});
  EXPECT_EQ(printed.caps({0}), "6666666666666666");
}

// Eight block slots are not enough for three kernels to keep 60% each, but whole SMs would leave them a third.
TEST(WarpedSlicer, ThreeKernelsShareSmsWhereTheyKeepMoreThanTheirPartOfTheSms) {
  FakeKernel linear = img();
  linear.ipc = {10, 20, 30, 40, 50, 60, 70, 80};
  FakeKernel slow = linear;
  slow.ipc = {1, 2, 3, 4, 5, 6, 7, 80};  // one eightieth with one block
  FakeMachine gpu({.sms = 24, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({linear, linear, linear}), run(25'000)});
  EXPECT_EQ(gpu.caps({0}), std::string(24, '3'));
  EXPECT_EQ(gpu.caps({1}), std::string(24, '3'));
  EXPECT_EQ(gpu.caps({2}), std::string(24, '2'));
  FakeMachine other({.sms = 24, .limits = kTable1});
  drive(other, "warped_slicer", {arrive_together({linear, linear, slow}), run(25'000)});
  EXPECT_EQ(other.caps({2}), std::string(16, '0') + std::string(8, '*'));
}

// With the bandwidth that counters show, a kernel is flat from the number of blocks on with which all SMs fill the
// DRAM.
TEST(WarpedSlicer, AKernelGetsTheBlocksWithWhichAllSmsFillTheBandwidth) {
  FakeKernel memory = img();
  memory.ipc = {10, 20, 30, 40, 50, 60, 70, 80};
  memory.memory_stalls = 0.5;
  memory.dram_bytes = 0.1;  // 2 bytes per cycle of an SM with two blocks
  const auto caps = [&](double dram_bytes_per_cycle, const char* policy) {
    FakeMachine gpu({.sms = 16, .limits = kTable1, .dram_bytes_per_cycle = dram_bytes_per_cycle});
    drive(gpu, policy, {arrive_together({memory, nn()}), run(25'000)});
    return gpu.caps({0});
  };
  EXPECT_EQ(caps(16 * 2, "warped_slicer"), "2222222222222222");
  EXPECT_EQ(caps(16 * 3, "warped_slicer"), "3333333333333333");
  EXPECT_EQ(caps(16 * 8, "warped_slicer"), "6666666666666666") << "stalls without a lack of bandwidth change nothing";
  EXPECT_EQ(caps(16 * 8, "warped_slicer:psi=shares"), caps(0, "warped_slicer")) << "where the peak is not known";
}

// The first kernel fills all SMs when the second one arrives, and its blocks outlast the warm-up.
TEST(WarpedSlicer, ASampleWaitsUntilEverySmHoldsItsTarget) {
  FakeKernel slow = img();
  slow.block_instructions = 1'000'000;  // about 80,000 cycles with eight blocks on an SM
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive(slow), run(10'000), arrive(nn()), run(30'000)});
  EXPECT_EQ(gpu.resident({0}, {0}), 8U) << "blocks above the target are still there";
  EXPECT_EQ(gpu.caps({0}), "1234567800000000") << "no partition from such a sample";
  gpu.run({200'000});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555");
  EXPECT_EQ(gpu.caps({1}), "3333333333333333");
}

// At the end of a launch an SM may hold fewer blocks than its target: what it does then is no sample of that number.
TEST(WarpedSlicer, ASampleAtTheEndOfALaunchIsRepeated) {
  FakeKernel last = img();
  last.blocks = 36;                   // one block for every place of its eight SMs, so that none follows those that end
  last.block_instructions = 290'000;  // 23,200 cycles where eight blocks share an SM, 14,500 where one runs by itself
  last.launches = 0;
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer", {arrive_together({last, nn()}), run(25'500)});
  EXPECT_EQ(gpu.caps({0}), "1234567800000000") << "a launch ended at 23,200";
  gpu.run({5'000});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555");
  EXPECT_EQ(gpu.caps({1}), "3333333333333333");
}

TEST(WarpedSlicer, APlanIsKeptWhileAClientPausesForAtMostItsParameter) {
  for (const char* policy : {"warped_slicer", "warped_slicer:pause=3000"}) {
    FakeMachine gpu({.sms = 16, .limits = kTable1});
    drive(gpu, policy, {arrive_together({img(), nn()}), run(30'000)});
    ASSERT_EQ(gpu.caps({0}), "5555555555555555");
    gpu.finish({1});
    gpu.run({2'900});
    const bool keeps = std::string(policy) != "warped_slicer";
    EXPECT_EQ(gpu.caps({0}), keeps ? "5555555555555555" : "****************") << policy;
    gpu.relaunch({1});
    gpu.run({5'000});
    EXPECT_EQ(gpu.caps({0}), "5555555555555555");
    EXPECT_EQ(gpu.caps({1}), "3333333333333333");
  }
}

TEST(WarpedSlicer, AClientThatIsAbsentForLongerHasNoPlan) {
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer:pause=3000", {arrive_together({img(), nn()}), run(30'000)});
  gpu.finish({1});
  gpu.run({2'900});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555");
  gpu.run({200});
  EXPECT_EQ(gpu.caps({0}), "****************");
}

TEST(WarpedSlicer, ANewClientDoesNotWaitForOneThatPauses) {
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer:pause=3000", {arrive_together({img(), nn()}), run(30'000)});
  gpu.finish({1});
  gpu.run({1'000});
  gpu.arrive({.name = "t", .blocks = 1'000'000, .block = {64, 16, 0}, .ipc = {30, 60}});
  EXPECT_EQ(gpu.caps({0}), "1234567800000000");
}

// Without a grace period every pause begins a measurement of 25,000 cycles anew, and none is ever complete.
TEST(WarpedSlicer, AMeasurementGoesOnAfterAPause) {
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer:pause=3000", {arrive_together({img(), nn()}), run(2'000)});
  for (int i = 0; i < 4; ++i) {
    gpu.finish({1});
    gpu.run({1'000});
    EXPECT_EQ(gpu.caps({0}), "1234567800000000") << "sampled while the other pauses";
    gpu.relaunch({1});
    gpu.run({8'000});
  }
  gpu.run({4'000});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555");
  EXPECT_EQ(gpu.caps({1}), "3333333333333333");
}

// A sample that ends while a client pauses would lack that client's part of the curve.
TEST(WarpedSlicer, NoSampleIsTakenAndNothingDecidedWhileAClientPauses) {
  FakeMachine gpu({.sms = 16, .limits = kTable1});
  drive(gpu, "warped_slicer:pause=3000", {arrive_together({img(), nn()}), run(24'000)});
  gpu.finish({1});
  gpu.run({2'000});
  EXPECT_EQ(gpu.caps({0}), "1234567800000000") << "the sample ended at 25,000";
  gpu.relaunch({1});
  gpu.run({15'000});
  EXPECT_EQ(gpu.caps({0}), "5555555555555555");
  EXPECT_EQ(gpu.caps({1}), "3333333333333333");
}

TEST(Oracle, CapsNothingWhereNoCombinationIsGiven) {
  FakeMachine gpu({.sms = 2, .limits = kTable1});
  drive(gpu, "oracle", {arrive_together({img(), nn()}), run(50'000)});
  EXPECT_EQ(gpu.caps({0}), "**");
  EXPECT_EQ(gpu.caps({1}), "**");
}

TEST(Oracle, RunsOneCombinationWhereToldTo) {
  FakeMachine gpu({.sms = 2, .limits = kTable1});
  drive(gpu, "oracle:blocks=6/2", {arrive_together({img(), nn()}), run(50'000)});
  EXPECT_EQ(gpu.recorder().actions(),
            "0 cap sm 0-1 k0 at 6\n"
            "0 cap sm 0-1 k1 at 2\n");
}

}  // namespace
}  // namespace wm::policy::test
