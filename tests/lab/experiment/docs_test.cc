// The table of measures in docs/reference/metrics.md is written from the lab's own: set WM_UPDATE_DOCS=1 to write it
// anew.
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "lab/experiment/record.h"
#include "tree.h"

namespace wm::lab {
namespace {

TEST(Docs, TheTableOfMeasuresIsUpToDate) {
  const std::string path = source_path("docs/reference/metrics.md");
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string heading = "## Measures of lab expressions\n";
  const std::string page = text.str().substr(0, text.str().find(heading) + heading.size());
  std::string table = "\n| measure | meaning |\n|---|---|\n";
  for (const Measure& m : measures()) table += fmt::format("| `{}` | {} |\n", m.name, m.about);
  if (std::getenv("WM_UPDATE_DOCS") != nullptr) {
    std::ofstream(path) << page << table;
    return;
  }
  EXPECT_EQ(text.str(), page + table);
}

}  // namespace
}  // namespace wm::lab
