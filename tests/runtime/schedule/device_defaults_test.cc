#include "runtime/schedule/device_defaults.h"

#include <gtest/gtest.h>

namespace wm::runtime::test {
namespace {

std::string chosen(const std::string& text) {
  const auto choice = choose_for_device(text);
  return choice ? choice->to_string() : choice.error().what;
}

TEST(DeviceDefaults, PeriodsAndRatesFitADevice) {
  const std::string all = chosen("quota:scheme=elastic");
  EXPECT_NE(all.find(":epoch=2000000"), std::string::npos) << all;
  EXPECT_NE(all.find(":first_ipc=10"), std::string::npos) << all;
  EXPECT_NE(all.find(":scheme=elastic"), std::string::npos) << all;
}

// A client's host needs some of these between two launches.
TEST(DeviceDefaults, PlansOutlastPausesOfMilliseconds) {
  const std::string all = chosen("warped_slicer");
  EXPECT_NE(all.find(":pause=2000000"), std::string::npos) << all;
}

TEST(DeviceDefaults, GivenValuesStay) {
  const std::string all = chosen("quota:epoch=500000:first_ipc=2");
  EXPECT_NE(all.find(":epoch=500000"), std::string::npos) << all;
  EXPECT_NE(all.find(":first_ipc=2"), std::string::npos) << all;
}

TEST(DeviceDefaults, PoliciesWithoutSuchParametersAreAsChosen) {
  EXPECT_EQ(chosen("spatial"), policy::choose("spatial")->to_string());
  EXPECT_EQ(chosen("moving_shares:slice=5000"), policy::choose("moving_shares:slice=5000")->to_string());
}

TEST(DeviceDefaults, ErrorsAreThoseOfTheRegistry) {
  EXPECT_EQ(chosen("quota:epok=3"), policy::choose("quota:epok=3").error().what);
}

}  // namespace
}  // namespace wm::runtime::test
