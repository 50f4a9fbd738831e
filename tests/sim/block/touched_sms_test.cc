#include "sim/block/touched_sms.h"

#include <gtest/gtest.h>

namespace wm::sim {
namespace {

std::vector<policy::Sm> owned_by(const std::vector<policy::KernelId>& owners) {
  std::vector<policy::Sm> sms(owners.size());
  for (std::uint32_t i = 0; i < sms.size(); ++i) {
    sms[i].index = i;
    sms[i].owner = owners[i];
  }
  return sms;
}

std::vector<std::uint32_t> found(TouchedSms& touched, const std::vector<policy::Sm>& sms) {
  const auto span = touched.find(sms);
  return {span.begin(), span.end()};
}

const auto kSms = owned_by({{0}, {1}, policy::kNoKernel, {0}, {2}});

TEST(TouchedSms, StayInTheOrderInWhichTheyWereAdded) {
  TouchedSms touched;
  touched.add(3);
  touched.add(1);
  EXPECT_EQ(found(touched, kSms), (std::vector<std::uint32_t>{3, 1}));
}

TEST(TouchedSms, BlocksOfAClientMayStartOnItsOwnSmsAndOnThoseWithoutAnOwner) {
  TouchedSms touched;
  touched.add(4);
  touched.add_for({0});
  EXPECT_EQ(found(touched, kSms), (std::vector<std::uint32_t>{0, 2, 3, 4}));
}

TEST(TouchedSms, AreGoneOnceTaken) {
  TouchedSms touched;
  touched.add_all();
  EXPECT_EQ(found(touched, kSms).size(), kSms.size());
  std::vector<std::uint32_t> taken;
  touched.take(taken);
  EXPECT_EQ(taken.size(), kSms.size());
  EXPECT_TRUE(found(touched, kSms).empty());
}

}  // namespace
}  // namespace wm::sim
