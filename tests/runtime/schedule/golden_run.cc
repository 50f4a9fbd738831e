#include "runtime/schedule/golden_run.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

#include "tree.h"

namespace wm::runtime::test {

std::string Digest::text() const { return fmt::format("{:016x}", hash_); }

void show(const std::vector<std::string>& lines) {
  const char* asked = std::getenv("WM_GOLDEN_SCHEDULE");
  if (asked == nullptr || std::string(asked) != "lines") return;
  for (const std::string& line : lines) fmt::print("  {}\n", line);
}

void expect_golden(const std::string& name, const std::string& outcome) {
  if (std::getenv("WM_GOLDEN_SCHEDULE") != nullptr) fmt::print("{},{}\n", name, outcome);
  std::ifstream file(source_path("tests/runtime/schedule/golden_schedule.csv"));
  std::string expected = "no row";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name + ",")) expected = line.substr(name.size() + 1);
  }
  EXPECT_EQ(outcome, expected) << name;
}

}  // namespace wm::runtime::test
