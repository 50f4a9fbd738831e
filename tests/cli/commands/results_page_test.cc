// docs/results/papers.md is what one command makes of the rows in results/. WM_UPDATE_DOCS=1 writes it anew.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <regex>
#include <sstream>

#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

constexpr const char* kPage = "docs/results/papers.md";

// The text of a page without the marks of rows that were made by other sources, and without the paragraph on those that
// count as current: these depend on every change of the simulator, the verdicts do not.
std::string without_stale_marks(const std::string& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string unmarked = std::regex_replace(text.str(), std::regex(", ([0-9]+ )?stale"), "");
  return std::regex_replace(unmarked, std::regex("\nRows of older code count as current[^\n]*\n"), "");
}

TEST(LongDocs, ThePageOfResultsIsWrittenFromTheCommittedRows) {
  const Scratch scratch;
  const bool update = std::getenv("WM_UPDATE_DOCS") != nullptr;
  std::filesystem::create_directories(scratch.path("docs/results"));
  const Ran ran = shell("cd " + (update ? source_path() : scratch.path()) + " && " + binary_path("bin/wm") +
                        " lab report --protocol longest --html \"\" --markdown " + kPage);
  ASSERT_EQ(ran.code, 0) << ran.err;
  if (update) return;
  const std::string written = without_stale_marks(scratch.path(kPage));
  EXPECT_GT(written.size(), 10'000U);
  EXPECT_EQ(written, without_stale_marks(source_path(kPage)));
}

}  // namespace
}  // namespace wm::cli
