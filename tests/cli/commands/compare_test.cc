// wm compare as a user and a script see it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/shell.h"

namespace wm::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kPair = "compare --kernel lbm --kernel mri-q --size small --cycles 3000 --cache '' ";

TEST(Compare, PrintsARowAPolicyAndNamesPoliciesThatWereLeftOut) {
  const Ran ran = run_wm(kPair + "--policy even --policy spatial --policy quota");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("lbm + mri-q on qos16"));
  EXPECT_THAT(ran.out, HasSubstr("\neven "));
  EXPECT_THAT(ran.out, HasSubstr("\nspatial "));
  EXPECT_THAT(ran.out, HasSubstr("not run: quota: no kernel has a goal"));
}

TEST(Compare, ItsJsonHasARunAPolicy) {
  const Ran ran = run_wm(kPair + "--policy even --policy quota --json -");
  ASSERT_EQ(ran.code, 0) << ran.err;
  const json all = json::parse(ran.out);
  ASSERT_EQ(all["items"].size(), 1U);
  EXPECT_EQ(all["items"][0]["name"], "even");
  EXPECT_EQ(all["items"][0]["kernels"].size(), 2U);
  EXPECT_EQ(all["unfit"][0]["name"], "quota");
}

TEST(Compare, APageHoldsTheRuns) {
  const Scratch scratch;
  const Ran ran =
      run_wm(kPair + "--policy even --policy dss --policy dss:preemption=switch --html " + scratch.path("page.html"));
  if (ran.err.find("this build writes no pages") != std::string::npos) GTEST_SKIP() << ran.err;
  ASSERT_EQ(ran.code, 0) << ran.err;
  const std::string html = scratch.read("page.html");
  EXPECT_THAT(html, HasSubstr("\"label\":\"even\""));
  EXPECT_THAT(html, HasSubstr("\"label\":\"dss:preemption=drain\"")) << "the same policy twice is told apart";
  EXPECT_THAT(html, HasSubstr("wm compare --gpu qos16 --kernel lbm --kernel mri-q --policy even"));
}

TEST(Compare, NothingThatFitsIsNoSuccess) {
  const Ran ran = run_wm(kPair + "--policy quota");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("not run: quota"));
}

TEST(Compare, AnUnknownPolicyIsNamedWithItsNeighbour) {
  const Ran ran = run_wm(kPair + "--policy spatal");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean 'spatial'"));
}

}  // namespace
}  // namespace wm::cli
