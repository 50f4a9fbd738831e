#include "policy/record.h"

#include <array>
#include <gtest/gtest.h>
#include <stdexcept>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

TEST(Recorder, NeighboursTreatedAlikeShareALine) {
  FakeMachine gpu({.sms = 6});
  drive(gpu, "left_over", {arrive("a"), arrive("b")});
  Recorder recorder(gpu, Cans::all());
  for (std::uint32_t i : {0, 1, 2, 4}) recorder.cap({i}, {1}, 3);
  recorder.cap({5}, {1}, 2);
  recorder.set_quota({0}, {0}, 100);
  recorder.add_quota({0}, {0}, 50);
  recorder.preempt({1}, {0}, 2);
  recorder.gate({3});
  recorder.order(std::array{KernelId{1}, KernelId{0}});
  recorder.wake_at({700}, 3);
  EXPECT_EQ(recorder.actions(),
            "0 cap sm 0-2 k1 at 3\n"
            "0 cap sm 4 k1 at 3\n"
            "0 cap sm 5 k1 at 2\n"
            "0 quota sm 0 k0 = 100\n"
            "0 quota sm 0 k0 += 50\n"
            "0 preempt sm 1 k0, 2 blocks\n"
            "0 gate sm 3\n"
            "0 order k1 k0\n"
            "0 wake at 700 as 3\n");
}

TEST(Recorder, AskingForWhatIsSoLeavesNoLine) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "left_over", {arrive("a")});
  Recorder recorder(gpu, Cans::all());
  recorder.cap({0}, {0}, kNoCap);
  recorder.share({1});
  recorder.set_quota({0}, {0}, kNoQuota);
  EXPECT_EQ(recorder.actions(), "");
}

TEST(Recorder, AnSmThatIsSharedIsSharedOnTheMachineToo) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "left_over", {arrive("a")});
  Recorder recorder(gpu, Cans::all());
  recorder.give({1}, {0}, Preempt::drain);
  ASSERT_EQ(gpu.owned({0}), 1U);
  recorder.share({1});
  EXPECT_EQ(gpu.owned({0}), 0U);
}

TEST(Machine, AKernelHasNoRateBeforeTheFirstEpochIsOver) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "left_over", {arrive("a")});
  ASSERT_EQ(gpu.epoch_length().count, 0U);
  EXPECT_EQ(gpu.epoch_ipc({0}), 0);
}

TEST(Recorder, HoldsAPolicyToWhatItDeclared) {
  FakeMachine gpu({.sms = 2});
  drive(gpu, "left_over", {arrive("a")});
  Recorder recorder(gpu, {Can::cap_blocks});
  EXPECT_NO_THROW(recorder.cap({0}, {0}, 1));
  EXPECT_THROW(recorder.give({0}, {0}, Preempt::drain), std::logic_error);
  EXPECT_THROW(recorder.set_quota({0}, {0}, 1), std::logic_error);
}

}  // namespace
}  // namespace wm::policy::test
