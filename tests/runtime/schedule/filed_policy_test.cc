#include "runtime/schedule/filed_policy.h"

#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "runtime/schedule/device_machine.h"

namespace wm::runtime {
namespace {

TEST(FiledPolicy, AppendsToItsFileWhileItRunsAndAtItsEnd) {
  const std::string file = testing::TempDir() + "decisions.txt";
  std::ofstream(file) << "before\n";
  const auto text = [&] {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  };
  const auto choice = *policy::choose("accelos");
  DeviceMachine gpu({}, 1, false);
  {
    auto policy =
        with_decisions_in(file, std::move(*policy::make(choice, DeviceMachine::capabilities(), "device")), choice);
    policy->on(policy::Started{}, gpu);
    EXPECT_EQ(text(), "before\n") << "a few lines are kept back";
    for (int i = 0; i < 300; ++i) policy->on(policy::Wake{}, gpu);
    EXPECT_EQ(text().find("before\n0 > started\n"), 0U);
  }
  const std::string all = text();
  EXPECT_EQ(std::count(all.begin(), all.end(), '\n'), 302);
}

TEST(FiledPolicy, WithoutAFileThePolicyIsTheSameObject) {
  const auto choice = *policy::choose("accelos");
  auto made = std::move(*policy::make(choice, DeviceMachine::capabilities(), "device"));
  const policy::Policy* before = made.get();
  EXPECT_EQ(with_decisions_in("", std::move(made), choice).get(), before);
}

}  // namespace
}  // namespace wm::runtime
