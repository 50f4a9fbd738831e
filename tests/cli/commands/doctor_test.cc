// wm doctor, wm man and wm completion.
#include <filesystem>
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

#ifdef WM_RUNTIME
TEST(Doctor, ADriverThatOffersNoDeviceIsNotToBeInstalledAgain) {
  if (run_wm("cl run vecadd").code != 0) GTEST_SKIP() << "no OpenCL device";
  const std::string out = shell("POCL_CACHE_DIR=/dev/null/none " + kProgram + " doctor").out;
  if (out.find("no OpenCL device here") == std::string::npos) GTEST_SKIP() << "not PoCL";
  EXPECT_THAT(out, HasSubstr("offers none to this user (PoCL must be able to write its cache"));
  EXPECT_THAT(out, testing::Not(HasSubstr("apt install pocl-opencl-icd")));
}

// The findings of the program where no daemon runs.
std::string advice_on_daemon(const Scratch& home) {
  return shell("HOME=" + home.path("") + " WARPMUX_SOCKET=" + home.path("socket") + " " + kProgram + " doctor").out;
}

TEST(Doctor, NamesTheUnitOnlyWhereItIsInstalled) {
  const Scratch home;
  if (!std::filesystem::exists("/usr/lib/systemd/user/warpmux.service")) {
    EXPECT_THAT(advice_on_daemon(home), testing::Not(HasSubstr("systemctl")));
  }
  std::filesystem::create_directories(home.path(".config/systemd/user"));
  home.write(".config/systemd/user/warpmux.service", "[Service]\n");
  EXPECT_THAT(advice_on_daemon(home), HasSubstr("none runs: wm serve, or systemctl --user enable --now warpmux"));
}
#endif

TEST(Documentation, TheManualHasEveryCommandAndOption) {
  const std::string page = run_wm("man").out;
  for (const char* text : {".SS wm sim\n", ".SS wm lab run\n", "\\fB\\-\\-policy\\fR", ".SH EXIT STATUS"}) {
    EXPECT_THAT(page, HasSubstr(text));
  }
  EXPECT_THAT(page, testing::Not(HasSubstr("\\-\\-spec"))) << "hidden options stay hidden";
}

std::string completed(const std::string& words, int at) {
  return shell("bash -c 'wm() { " + kProgram + " \"$@\"; }; source <(wm completion bash); COMP_WORDS=(" + words +
               "); COMP_CWORD=" + std::to_string(at) + "; _wm; echo ${COMPREPLY[@]}'")
      .out;
}

TEST(Documentation, BashCompletesCommandsAndOptions) {
  EXPECT_EQ(completed("wm compa", 1), "compare\n");
  EXPECT_EQ(completed("wm lab sh", 2), "show\n");
  EXPECT_EQ(completed("wm sim --po", 2), "--policy\n");
}

TEST(Documentation, BashCompletesNames) {
  EXPECT_EQ(completed("wm policies moving", 2), "moving_shares\n");
  EXPECT_EQ(completed("wm policy moving", 2), "moving_shares\n");
  EXPECT_EQ(completed("wm sim --policy = moving", 4), "moving_shares\n");
  EXPECT_EQ(completed("wm gpus v1", 2), "v100\n");
  EXPECT_EQ(completed("wm run --simulate v1", 3), "v100\n");
  EXPECT_EQ(completed("wm kernels check pathf", 3), "pathfinder\n");
  EXPECT_EQ(completed("wm lab show qos-isca17/fig6", 3), "qos-isca17/fig6a qos-isca17/fig6b qos-isca17/fig6c\n");
}

TEST(Documentation, AnotherShellIsRefused) {
  const Ran ran = run_wm("completion tcsh");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "wm: no completion for 'tcsh'; there is one for bash\n");
}

}  // namespace
}  // namespace wm::cli
