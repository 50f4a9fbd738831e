// The zoo on an OpenCL device (PoCL on a CPU will do): kernels and references checked without our PTX or executor.
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "kernels/benchmark.h"
#include "kernels/opencl_runner.h"

namespace wm::zoo {

namespace {

// Names match what --gtest_filter and ctest -R take: mri_q.
std::string test_name(const testing::TestParamInfo<const Entry*>& info) {
  std::string name = info.param->benchmark.name;
  for (char& c : name)
    if (c == '-') c = '_';
  return name;
}

std::vector<const Entry*> all() {
  std::vector<const Entry*> out;
  for (const Entry& e : entries()) out.push_back(&e);
  return out;
}

class OnOpenCl : public testing::TestWithParam<const Entry*> {
 protected:
  void SetUp() override {
    if (!have_opencl_device()) GTEST_SKIP() << "no OpenCL device";
  }

  // WM_ZOO_SIZE=medium or large checks more than CI has time for.
  static Size size() {
    const char* text = std::getenv("WM_ZOO_SIZE");
    const std::string_view name = text != nullptr ? text : "small";
    return name == "large" ? Size::large : name == "medium" ? Size::medium : Size::small;
  }
};

}  // namespace

TEST_P(OnOpenCl, GivesTheReferencesResults) {
  const Entry& entry = *GetParam();
  const Case c = entry.benchmark.make(size());
  const auto contents = run_on_opencl(entry.source, c.application);
  ASSERT_TRUE(contents.ok()) << contents.error().to_string();
  const Result<void> verdict =
      verify(c, [&](gpu::BufferId id) -> const std::vector<std::byte>& { return (*contents)[id.index]; });
  EXPECT_TRUE(verdict.ok()) << verdict.error().to_string();
}

INSTANTIATE_TEST_SUITE_P(Zoo, OnOpenCl, testing::ValuesIn(all()), test_name);

}  // namespace wm::zoo
