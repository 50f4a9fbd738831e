#include "policy/logged_policy.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "policy/fake_machine.h"

namespace wm::policy::test {
namespace {

TEST(LoggedPolicy, AppendsToItsFileWhileItRunsAndAtItsEnd) {
  const std::string file = testing::TempDir() + "decisions.txt";
  std::ofstream(file) << "before\n";
  const auto text = [&] {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  };
  const auto choice = *choose("spatial");
  FakeMachine gpu({.sms = 4});
  {
    auto policy = with_decisions_in(file, std::move(*make(choice, gpu.cans(), "fake")), choice);
    policy->on(Started{}, gpu);
    EXPECT_EQ(text(), "before\n") << "a few lines are kept back";
    for (int i = 0; i < 300; ++i) policy->on(Wake{}, gpu);
    EXPECT_EQ(text().find("before\n0 > started\n"), 0U);
  }
  const std::string all = text();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 302);
}

TEST(LoggedPolicy, WithoutAFileThePolicyIsTheSameObject) {
  const auto choice = *choose("spatial");
  auto made = std::move(*make(choice, FakeMachine({.sms = 4}).cans(), "fake"));
  const Policy* before = made.get();
  EXPECT_EQ(with_decisions_in("", std::move(made), choice).get(), before);
}

}  // namespace
}  // namespace wm::policy::test
