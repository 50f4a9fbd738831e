#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/shell.h"

namespace wm::cli {
namespace {

TEST(Validate, ShowsCasesAndTheirSummary) {
  const Ran all = run_wm("validate --json -");
  ASSERT_EQ(all.code, 0) << all.err;
  const auto document = nlohmann::json::parse(all.out);
  EXPECT_GE(document["items"].size(), 60U);
  EXPECT_EQ(document["summary"].size(), 6U);
  const Ran some = run_wm("validate gemm");
  EXPECT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.out.find("gemm_naive"), std::string::npos);
  EXPECT_EQ(some.out.find("nbody"), std::string::npos);
}

TEST(Validate, SimulatesAnewAndSavesTheRows) {
  const Scratch scratch;
  const Ran ran = run_wm("validate copy_words.small --run --jobs 1 --save " + scratch.path("rows.csv") + " --page " +
                         scratch.path("page.md"));
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(scratch.read("rows.csv").find("copy_words.small,1,"), std::string::npos);
  EXPECT_NE(scratch.read("page.md").find("| `copy_words.small` |"), std::string::npos);
  const Ran again = run_wm("validate copy_words --simulated " + scratch.path("rows.csv"));
  EXPECT_EQ(again.code, 0) << again.err;
}

TEST(Validate, MistakesAreOneLine) {
  const Scratch scratch;
  scratch.write("empty.csv", "name,launch,cycles\n");
  EXPECT_EQ(run_wm("validate gem_naive").err,
            "wm: no case begins with 'gem_naive' (did you mean 'gemm_naive'?); wm validate lists them\n");
  EXPECT_EQ(run_wm("validate --gpu v100").err,
            "wm: --gpu, --table, --ptx and --save apply to cases that are simulated: add --run\n");
  const Ran none = run_wm("validate --measured " + scratch.path("empty.csv"));
  EXPECT_EQ(none.code, 2);
  EXPECT_EQ(none.err, "wm: the measured and the simulated rows have no case in common\n");
  EXPECT_EQ(run_wm("validate --measured /nowhere.csv").code, 2);
  EXPECT_EQ(run_wm("validate --page /nowhere/page.md").code, 2);
}

}  // namespace
}  // namespace wm::cli
