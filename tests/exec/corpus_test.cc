// The fuzzer's inputs that are kept, run within bounds: none may do more than end, fault or be refused.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/bounded_run.h"
#include "tree.h"

namespace wm::exec {
namespace {

TEST(Corpus, EveryInputEndsWithinItsBounds) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_path("fuzz/corpus/exec")))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  EXPECT_GT(files.size(), 50U);
  std::size_t kernels = 0;
  for (const auto& path : files) {
    SCOPED_TRACE(path.filename().string());
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    fuzz::run_bounded(text);
    if (const auto module = ptx::parse(text)) kernels += module->functions.size();
  }
  EXPECT_GT(kernels, 50U) << "most of what is kept should still parse";
}

}  // namespace
}  // namespace wm::exec
