// The policy of docs/guide/own-policy.md is a file that compiles, works, and equals the text of the page.
#define WM_POLICY_ENTRY entry_rotate
#include <algorithm>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "../../examples/policies/rotate.cc"
#include "policy/fake_machine.h"
#include "tree.h"

namespace wm::policy::test {
namespace {

std::string content(const std::string& path) {
  std::ifstream file(source_path(path));
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Example, ThePageShowsTheFile) {
  const std::string page = content("docs/guide/own-policy.md");
  const std::string begin = "```cpp\n";
  const std::size_t from = page.find(begin) + begin.size();
  ASSERT_NE(page.find(begin), std::string::npos);
  const std::string shown = page.substr(from, page.find("```", from) - from);
  EXPECT_EQ(shown, content("examples/policies/rotate.cc"));
  EXPECT_LT(std::count(shown.begin(), shown.end(), '\n'), 60);
}

TEST(Example, KernelsTakeTurns) {
  const Entry entry = entry_rotate();
  const std::vector<Argument> arguments = {{"slice", "1000"}, {"preemption", "switch"}};
  FakeMachine gpu({.sms = 4});
  gpu.start({&entry, *Values::from(entry.info.parameters, arguments, "rotate")});
  gpu.arrive_together({{.name = "a"}, {.name = "b"}});
  std::string turns;
  for (int i = 0; i < 6; ++i) {
    turns += gpu.owners()[0];
    gpu.run({1000});
  }
  EXPECT_EQ(turns, "ababab");
  gpu.finish({1});
  EXPECT_EQ(gpu.owners(), "aaaa");
}

}  // namespace
}  // namespace wm::policy::test
