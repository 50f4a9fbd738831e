// docs/reference/policies.md is written from the policies' own tables: set WM_UPDATE_DOCS=1 to write it anew.
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "policy/describe.h"
#include "tree.h"

namespace wm::policy {
namespace {

TEST(Docs, ThePageOfPoliciesIsUpToDate) {
  const std::string path = source_path("docs/reference/policies.md");
  if (std::getenv("WM_UPDATE_DOCS") != nullptr) std::ofstream(path) << policies_markdown();
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_EQ(text.str(), policies_markdown());
}

}  // namespace
}  // namespace wm::policy
