// Changes of a running daemon, priorities and goals, with clients in processes of their own.
#include <chrono>
#include <cstdlib>
#include <thread>
#include <unistd.h>

#include "runtime/conformance/children.h"
#include "runtime/protocol/monitor.h"

namespace wm::runtime::test {
namespace {

std::string control(const Daemon& daemon, const std::string& request) {
  const auto answer = request_control(daemon.socket(), request);
  return answer ? *answer : answer.error().what;
}

// Starts a client with a value of the environment.
struct Started : Child {
  Started(const Daemon& daemon, const char* name, const char* value)
      : Child((::setenv(name, value, 1), daemon), {"repeat"}) {
    ::unsetenv(name);
  }
};

// The number of launches of the n-th client, from 1; -1: there is none.
double launches(const Daemon& daemon, int client) {
  const std::string status = daemon.status();
  const auto entry = status.find("{\"client\":" + std::to_string(client)), at = status.find("\"launches\":", entry);
  if (entry == std::string::npos || at == std::string::npos) return -1;
  return std::strtod(status.c_str() + at + 11, nullptr);
}

bool reaches(const Daemon& daemon, int client, double count) {
  for (int i = 0; i < 3000; ++i) {
    if (launches(daemon, client) >= count) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(Control, ClientsAndPolicyChangeWhileTheyRun) {
  const Daemon daemon("control", "moving_shares");
  if (!daemon.started()) GTEST_SKIP() << "no OpenCL device";
  Child child(daemon, {"repeat"});
  ASSERT_TRUE(reaches(daemon, 1, 2));
  EXPECT_NE(control(daemon, R"({"op":"set","client":"1","share":5,"priority":2})").find("share 5, priority 2"),
            std::string::npos);
  EXPECT_TRUE(comes_to_say(daemon, R"("priority":2,"share":5.0)"));
  EXPECT_EQ(control(daemon, R"({"op":"policy","policy":"priority_shares"})"), R"({"done":"policy priority_shares"})");
  EXPECT_TRUE(comes_to_say(daemon, R"("policy":"priority_shares")"));
  const double before = launches(daemon, 1);
  EXPECT_TRUE(reaches(daemon, 1, before + 5)) << "its kernels run on under the new policy";
  EXPECT_NE(control(daemon, R"({"op":"end","client":"runtime_client"})").find("is ended"), std::string::npos);
  EXPECT_EQ(child.wait(), 42) << "its next call fails";
  EXPECT_TRUE(comes_to_say(daemon, "was ended with wm end"));
}

TEST(Control, WrongRequestsAreRefusedAndChangeNothing) {
  const Daemon daemon("control", "moving_shares");
  if (!daemon.started()) GTEST_SKIP() << "no OpenCL device";
  for (const char* request :
       {"no json", "{}", R"({"op":"set","client":"7","share":2})", R"({"op":"set","client":"7"})",
        R"({"op":"set","client":7,"share":"x"})", R"({"op":"policy","policy":"quota"})",
        R"({"op":"policy","policy":"fifo"})", R"({"op":"policy"})", R"({"op":"set","client":"user:x","share":-1})",
        R"({"op":"set","client":"user:","share":2})", R"({"op":"set","client":"user:no-such-user","share":2})",
        R"({"op":"end","client":"9"})", R"([1])"}) {
    EXPECT_EQ(control(daemon, request).find(R"({"error":)"), 0U) << request;
  }
  EXPECT_TRUE(comes_to_say(daemon, R"("policy":"moving_shares)"));
}

TEST(Control, TheDefaultShareOfAUserIsUsed) {
  const Daemon daemon("control", "moving_shares");
  if (!daemon.started()) GTEST_SKIP() << "no OpenCL device";
  const char* user = std::getenv("USER");
  const std::string name = ::getuid() == 0 ? "root" : user != nullptr ? user : "";
  if (name.empty()) GTEST_SKIP() << "the user's name is not known";
  EXPECT_NE(control(daemon, R"({"op":"set","client":"user:)" + name + R"(","share":4})").find("0 clients now"),
            std::string::npos);
  const Child child(daemon, {"repeat"});
  EXPECT_TRUE(comes_to_say(daemon, R"("share":4.0)"));
}

TEST(Control, AClientSeesItsMemoryLimit) {
  const Daemon daemon("limit", "accelos", std::to_string(24 << 20));
  if (!daemon.started()) GTEST_SKIP() << "no OpenCL device";
  Child child(daemon, {"memory"});
  EXPECT_EQ(child.wait(), 24);
}

// While the second client always has a launch, the first gets only what the second leaves at the end of its launches.
// Divided equally, both would advance by the same number.
void first_client_waits(const Daemon& daemon) {
  ASSERT_TRUE(reaches(daemon, 2, 10)) << "all forms of its kernel are compiled then";
  const double before = launches(daemon, 1);
  ASSERT_TRUE(reaches(daemon, 2, 50));
  EXPECT_LE(launches(daemon, 1), before + 20) << daemon.status();
}

TEST(Priorities, AHigherPriorityGoesFirst) {
  const Daemon daemon("priority", "priority_shares");
  if (!daemon.started()) GTEST_SKIP() << "no OpenCL device";
  const Child first(daemon, {"repeat"});
  ASSERT_TRUE(reaches(daemon, 1, 10));
  const Started second(daemon, "WARPMUX_PRIORITY", "1");
  first_client_waits(daemon);
}

// A goal of a microsecond cannot be reached: its client gets all of the device.
TEST(Goals, AGoalTakesWhatItNeeds) {
  const Daemon daemon("goal", "goal_shares");
  if (!daemon.started()) GTEST_SKIP() << "no OpenCL device";
  const Child first(daemon, {"repeat"});
  ASSERT_TRUE(reaches(daemon, 1, 10));
  const Started second(daemon, "WARPMUX_GOAL", "1");
  first_client_waits(daemon);
}

// A goal of ten seconds, or of a thousandth of the isolated rate, needs one compute unit at most.
struct EasyGoal : testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(EasyGoal, LeavesTheRestToOthers) {
  const Daemon daemon("goal", "goal_shares");
  if (!daemon.started()) GTEST_SKIP() << "no OpenCL device";
  const Child first(daemon, {"repeat"});
  ASSERT_TRUE(reaches(daemon, 1, 10));
  const Started second(daemon, GetParam().first, GetParam().second);
  ASSERT_TRUE(reaches(daemon, 2, 6)) << "its isolated time is known then";
  if (std::thread::hardware_concurrency() < 2) GTEST_SKIP() << "one compute unit cannot be divided";
  const double before = launches(daemon, 1);
  EXPECT_TRUE(reaches(daemon, 1, before + 10)) << daemon.status();
}

INSTANTIATE_TEST_SUITE_P(Goals, EasyGoal,
                         testing::Values(std::pair{"WARPMUX_GOAL", "10000000"},
                                         std::pair{"WARPMUX_GOAL_PART", "0.001"}));

}  // namespace
}  // namespace wm::runtime::test
