// wm cl: check and rewrite.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class WmCl : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(binary_path("bin/wm-rewrite"))) GTEST_SKIP() << "built without clang's libraries";
    scratch_.write("two.cl",
                   "kernel void k(global int* x) { x[get_global_id(0)] = N; }\n"
                   "kernel void lock(global int* x) { while (atomic_xchg(x, 1) != 0) ; }\n");
  }
  Scratch scratch_;
};

TEST_F(WmCl, CheckTellsWhichKernelsBecomeWorkers) {
  const Ran ran = run_wm("cl check --build=-DN=4 --json - " + scratch_.path("two.cl"));
  EXPECT_EQ(ran.code, 1);
  const json items = json::parse(ran.out)["items"];
  EXPECT_EQ(items[0]["name"], "k");
  EXPECT_EQ(items[0]["passed"], true);
  EXPECT_EQ(items[0]["chunk"], 8);
  EXPECT_EQ(items[0]["arguments"][0]["type"], "int*");
  EXPECT_EQ(items[1]["passed"], false);
  EXPECT_THAT(items[1]["detail"].get<std::string>(), HasSubstr("may wait for another group"));
}

TEST_F(WmCl, RewritePrintsTheNewProgram) {
  const Ran ran = run_wm("cl rewrite --build=-DN=4 " + scratch_.path("two.cl"));
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, StartsWith("// k: workers take 8 groups at a time\n// lock: not rewritten: may wait"));
  EXPECT_THAT(ran.out, HasSubstr("wm__body_k("));
  EXPECT_EQ(run_wm("cl rewrite --build=-DN=4 -o " + scratch_.path("out.cl") + " " + scratch_.path("two.cl")).out, "");
  EXPECT_EQ(scratch_.read("out.cl"), ran.out);
}

TEST_F(WmCl, AMistakeIsOneLineWithItsPlace) {
  const Ran ran = run_wm("cl rewrite " + scratch_.path("two.cl"));
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "wm: " + scratch_.path("two.cl") + ":1:54: use of undeclared identifier 'N'\n");
}

TEST_F(WmCl, ACacheServesWithoutTheWorker) {
  const std::string words = "cl rewrite --build=-DN=4 --cache " + scratch_.path("c") + " " + scratch_.path("two.cl");
  const Ran made = run_wm(words);
  const Ran found = shell("WM_REWRITE=/nowhere/wm-rewrite " + binary_path("bin/wm ") + words);
  EXPECT_EQ(found.out, made.out);
  EXPECT_EQ(found.code, 1);
}

}  // namespace
}  // namespace wm::cli
