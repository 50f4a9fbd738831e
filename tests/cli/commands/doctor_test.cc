// wm doctor, wm man and wm completion.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using testing::HasSubstr;

const std::string kProgram = binary_path("bin/wm");

TEST(Doctor, NamesWhatWorksAndWhatToDo) {
  const Ran ran = run_wm("doctor --json -");
  const auto items = nlohmann::json::parse(ran.out)["items"];
  bool usable = true;
  for (const auto& item : items) usable = usable && (item["passed"] || !item["needed"]);
  EXPECT_EQ(ran.code, usable ? 0 : 1);
  ASSERT_FALSE(items.empty());
  EXPECT_EQ(items[0]["name"], "data");
  EXPECT_TRUE(items[0]["passed"]);
}

TEST(Doctor, MissingDataIsFoundAndFails) {
  const Ran ran = shell("env WM_DATA=/nowhere " + kProgram + " doctor");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("/nowhere/configs/gpus is missing"));
}

TEST(Documentation, TheManualHasEveryCommandAndOption) {
  const std::string page = run_wm("man").out;
  for (const char* text : {".SS wm sim\n", ".SS wm lab run\n", "\\fB\\-\\-policy\\fR", ".SH EXIT STATUS"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THAT(page, testing::Not(HasSubstr("\\-\\-spec"))) << "hidden options stay hidden";
}

std::string completed(const std::string& words, int at) {
  return shell("bash -c 'source <(" + kProgram + " completion bash); COMP_WORDS=(" + words +
               "); COMP_CWORD=" + std::to_string(at) + "; _wm; echo ${COMPREPLY[@]}'")
      .out;
}

TEST(Documentation, BashCompletesCommandsAndOptions) {
  EXPECT_EQ(completed("wm compa", 1), "compare\n");
  EXPECT_EQ(completed("wm lab sh", 2), "show\n");
  EXPECT_EQ(completed("wm sim --po", 2), "--policy\n");
}

TEST(Documentation, AnotherShellIsRefused) {
  const Ran ran = run_wm("completion tcsh");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "wm: no completion for 'tcsh'; there is one for bash\n");
}

}  // namespace
}  // namespace wm::cli
