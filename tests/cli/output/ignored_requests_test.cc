// Which goals and priorities a daemon's policy does not honour, from its status.
#include "cli/output/ignored_requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"

namespace wm::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

TEST(IgnoredRequests, NameThePolicyAndThoseThatHonourThem) {
  EXPECT_THAT(
      ignored_requests({{"policy", "accelos:a=1"}}, true, true),
      ElementsAre(AllOf(StartsWith("policy accelos does not honour goals"), HasSubstr("goal_shares")),
                  AllOf(StartsWith("policy accelos does not honour priorities"), HasSubstr("priority_shares"))));
  EXPECT_THAT(ignored_requests({{"policy", "fifo"}}, true, false),
              ElementsAre(HasSubstr("fifo does not honour goals")));
  EXPECT_THAT(ignored_requests({{"policy", "accelos"}}, false, false), IsEmpty());
  EXPECT_THAT(ignored_requests({{"policy", "goal_shares"}}, true, true), IsEmpty());
  EXPECT_THAT(ignored_requests({{"policy", "priority_headroom"}}, true, true), IsEmpty());
}

TEST(IgnoredRequests, NameOnlyPoliciesThatTheDaemonCanRun) {
  EXPECT_THAT(ignored_requests({{"policy", "accelos"}}, true, true),
              ElementsAre(EndsWith("these do: goal_shares"),
                          EndsWith("these do: fair_queueing, goal_shares, least_served, priority_shares, turns")));
  EXPECT_THAT(ignored_requests({{"policy", "accelos"}, {"simulated", {{"timing", "cycle"}}}}, true, false),
              ElementsAre(AllOf(HasSubstr("smqos"), HasSubstr("quota"))));
}

TEST(IgnoredRequests, PrioritiesAreHonouredWhereLaunchesLeaveHeadroom) {
  const nlohmann::ordered_json status{
      {"policy", "accelos"}, {"admission_rules", nlohmann::ordered_json::array({"priority_headroom: leaves half"})}};
  EXPECT_THAT(ignored_requests(status, false, true), IsEmpty());
  EXPECT_THAT(ignored_requests(status, true, true), ElementsAre(HasSubstr("goals")));
}

TEST(IgnoredRequests, OfClientsAreLinesOfTheStatus) {
  const auto text = ignored_requests_of_clients({{"policy", "accelos"},
                                                 {"clients",
                                                  {{{"client", 1}, {"priority", 0}, {"goal_seconds", nullptr}},
                                                   {{"client", 2}, {"priority", 0}, {"goal_seconds", 0.5}}}}});
  EXPECT_THAT(text, StartsWith("client 2: policy accelos does not honour goals"));
}

}  // namespace
}  // namespace wm::cli
