#include <gtest/gtest.h>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

TEST(Spatial, TwoKernelsOwnHalfTheMachineEach) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "spatial", {arrive("a"), arrive("b")});
  EXPECT_EQ(gpu.owners(), "aabb");
}

TEST(Spatial, ADepartedKernelsSmsGoToTheOther) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "spatial", {arrive("a"), arrive("b"), done(0)});
  EXPECT_EQ(gpu.owners(), "bbbb");
}

TEST(Spatial, Decisions) {
  FakeMachine gpu({.sms = 4});
  drive(gpu, "spatial", {arrive("a"), run(100), arrive("b"), done(0)});
  EXPECT_EQ(gpu.recorder().everything(),
            "0 > started\n"
            "0 > k0 arrived\n"
            "0 give sm 0-3 to k0, drain\n"
            "100 > k1 arrived\n"
            "100 give sm 2-3 to k1, drain\n"
            "100 > sm 2 ready for k1\n"
            "100 > sm 3 ready for k1\n"
            "100 > k0 done\n"
            "100 give sm 0-1 to k1, drain\n");
}

}  // namespace
}  // namespace wm::policy::test
