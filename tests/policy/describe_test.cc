// Texts about policies for a user, and the properties that policies state.
#include "policy/describe.h"

#include <gmock/gmock.h>

#include "policy/registry.h"

namespace wm::policy {
namespace {

const Info& info_of(const std::string& name) {
  for (const Entry& e : entries())
    if (e.info.name == name) return e.info;
  throw std::runtime_error("no policy " + name);
}

TEST(Describe, DescriptionsOfAListBeginInOneColumn) {
  const std::string text = list_text();
  std::size_t longest = 0;
  for (const Entry& e : entries()) longest = std::max(longest, e.info.name.size());
  for (const Entry& e : entries()) {
    const auto at = text.find(std::string(e.info.name) + " ");
    ASSERT_NE(at, std::string::npos) << e.info.name;
    EXPECT_EQ(text.find(e.info.about, at) - at, longest + 2) << e.info.name;
  }
}

TEST(Describe, OnlyPublishedPoliciesNameAPaper) {
  EXPECT_THAT(details_text(info_of("quota")), testing::HasSubstr("published   Wang et al., ISCA 2017\n"));
  Info own = info_of("quota");
  own.paper = {};
  EXPECT_THAT(details_text(own), testing::Not(testing::HasSubstr("published")));
}

TEST(Describe, ColumnsOfParametersAreAsWideAsTheirLongestEntry) {
  Info info = info_of("mps");
  info.parameters = {number("a", 0.25, {0, 1}, "first", ""), integer("longer", 1, {0, 20}, "second", "")};
  EXPECT_THAT(details_text(info),
              testing::HasSubstr("\n  a       0.25  first; 0 to 1\n  longer  1     second; 0 to 20\n"));
}

TEST(Describe, PoliciesSayWhetherTheyHonourGoals) {
  for (const char* name : {"quota", "goal_shares", "spart", "smqos", "static_smqos"})
    EXPECT_TRUE(info_of(name).goals) << name;
  for (const char* name : {"fcfs", "moving_shares"}) EXPECT_FALSE(info_of(name).goals) << name;
  EXPECT_TRUE(info_of("moving_shares").short_launches_unmodified);
}

TEST(Describe, TheEndsOfRangesAreAllowed) {
  for (const char* text : {"moving_shares:at_once=0", "goal_shares:margin=0", "smqos:threshold=0", "smqos:threshold=1",
                           "mps:percentage=1", "elastic_kernels:together=1"})
    EXPECT_TRUE(choose(text).ok()) << text;
  for (const char* text : {"goal_shares:margin=-0.1", "goal_shares:margin=2.5", "smqos:threshold=1.5",
                           "mps:percentage=0", "mps:percentage=101", "elastic_kernels:together=0"})
    EXPECT_FALSE(choose(text).ok()) << text;
  EXPECT_THAT(details_text(info_of("moving_shares")), testing::ContainsRegex("at_once +0 "));
  EXPECT_THAT(details_text(info_of("quota")), testing::ContainsRegex("first_ipc +1 "));
}

}  // namespace
}  // namespace wm::policy
