// ./wm itself, in a small tree with stand-ins for the tools it calls: what it does on a fresh machine, and what it does
// not do the second time. Every stand-in writes its name and arguments to `calls`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <unistd.h>

#include "cli/shell.h"
#include "tree.h"

namespace wm::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class FrontDoor : public ::testing::Test {
 protected:
  void SetUp() override {
    shell("cp " + source_path("wm ") + tree_.path("wm"));
    tree_.write("packages.txt", "# a comment\ncmake\nsome-lib # why\n");
    tree_.write("CMakeLists.txt", "");
    tree_.write("CMakePresets.json", "");
    tree_.write("cmake/a.cmake", "");
    tree_.write("src/a.cc", "");
    tree_.write("kernels/a.cl", "");
    tree_.write("web/a.js", "");
    // Nothing is installed until apt-get was asked to; the lists are empty until `update`.
    tool("dpkg-query", "[ -e installed ] && echo -n installed || exit 1");
    tool("apt-get", "case \"$*\" in *update*) touch updated ;; *install*) [ -e updated ] && touch installed ;; esac");
    tool("cmake",
         "case \"$*\" in *--build*) mkdir -p build/release/bin; echo '[1/2] compiling';"
         " printf '#!/bin/sh\\necho ran \"$@\"\\n' > build/release/bin/wm; chmod +x build/release/bin/wm;;"
         " *) mkdir -p build/release; touch build/release/build.ninja ;; esac");
    tool("ctest", "echo '100% tests passed'");
    tool("id", "echo ${FAKE_USER:-0}");
    tool("env", "while [ \"${1#*=}\" != \"$1\" ]; do shift; done; exec \"$@\"");
  }

  // A stand-in on the path, run in the tree's root.
  void tool(const std::string& name, const std::string& body) const {
    tree_.write("bin/" + name,
                "#!/bin/bash\ncd " + tree_.path() + "\necho \"" + name + " $*\" >> calls\n" + body + "\n", true);
  }
  [[nodiscard]] Ran start(const std::string& arguments, const std::string& environment = "") const {
    return shell("cd / && PATH=" + tree_.path("bin") + ":/usr/bin:/bin " + environment + " " + tree_.path("wm") + " " +
                 arguments);
  }
  std::string calls() const {
    std::string text = tree_.read("calls");
    shell("rm -f " + tree_.path("calls"));
    return text;
  }

  Scratch tree_;
};

TEST_F(FrontDoor, AFreshMachineIsSetUpBuiltAndRun) {
  const Ran ran = start("kernels --json -");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "ran kernels --json -\n") << "stdout belongs to the program";
  const std::string made = calls();
  EXPECT_THAT(made, HasSubstr("install --no-install-recommends cmake some-lib\n"));
  EXPECT_THAT(made, HasSubstr(" update\n"));
  EXPECT_THAT(made, HasSubstr("cmake --preset release\ncmake --build --preset release --target wm\n"));
}

TEST_F(FrontDoor, ASecondStartDoesNothingAgain) {
  ASSERT_EQ(start("demo").code, 0);
  calls();
  const Ran ran = start("demo");
  EXPECT_EQ(ran.out, "ran demo\n");
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(calls(), "");
}

TEST_F(FrontDoor, AChangedSourceIsBuiltAgain) {
  ASSERT_EQ(start("demo").code, 0);
  calls();
  shell("sleep 0.02; touch " + tree_.path("src/a.cc"));
  EXPECT_EQ(start("demo").code, 0);
  EXPECT_EQ(calls(), "cmake --build --preset release --target wm\n");
  shell("sleep 0.02; rm " + tree_.path("kernels/a.cl"));
  EXPECT_EQ(start("demo").code, 0);
  EXPECT_EQ(calls(), "cmake --build --preset release --target wm\n") << "a file gone is a change";
}

// docs/guide/own-policy.md: cmake --preset release -DWM_POLICIES=FILE, then ./wm.
TEST_F(FrontDoor, AnOptionGivenToCmakeIsBuiltIn) {
  ASSERT_EQ(start("demo").code, 0);
  calls();
  shell("sleep 0.02; touch " + tree_.path("build/release/CMakeCache.txt"));
  EXPECT_EQ(start("demo").code, 0);
  EXPECT_EQ(calls(), "cmake --build --preset release --target wm\n");
  EXPECT_EQ(start("demo").code, 0);
  EXPECT_EQ(calls(), "");
}

TEST_F(FrontDoor, ALinkToItUsesTheCheckoutItLiesIn) {
  shell("mkdir " + tree_.path("elsewhere") + " && ln -s ../wm " + tree_.path("elsewhere/gpu"));
  const Ran ran =
      shell("cd / && PATH=" + tree_.path("bin") + ":/usr/bin:/bin " + tree_.path("elsewhere/gpu") + " demo");
  EXPECT_EQ(ran.out, "ran demo\n") << ran.err;
  EXPECT_EQ(shell("ls " + tree_.path("elsewhere")).out, "gpu\n");
}

TEST_F(FrontDoor, AnotherUserMayUseACheckoutThatIsBuilt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can start a program as another user";
  shell("chmod -R a+rX,go-w " + tree_.path());
  const auto as_other = [&](const std::string& arguments) {
    return shell("cd / && PATH=" + tree_.path("bin") +
                 ":/usr/bin:/bin setpriv --reuid 65534 --regid 65534 --clear-groups " + tree_.path("wm") + " " +
                 arguments);
  };
  const std::string message = "which belongs to another user; clone the repository\n";
  Ran ran = as_other("demo");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "wm: cannot write " + tree_.path("wm").substr(0, tree_.path("wm").size() - 3) + ", " + message);
  ASSERT_EQ(start("demo").code, 0);
  shell("chmod -R a+rX,go-w " + tree_.path());
  ran = as_other("kernels");
  EXPECT_EQ(ran.out, "ran kernels\n") << ran.err;
  ran = as_other("test");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "wm: cannot write " + tree_.path("build") + ", " + message);
}

TEST_F(FrontDoor, AChangedPackageListIsInstalledAgain) {
  ASSERT_EQ(start("demo").code, 0);
  calls();
  tree_.write("packages.txt", "cmake\nother-lib\n");
  shell("rm " + tree_.path("installed"));
  EXPECT_EQ(start("demo").code, 0);
  EXPECT_THAT(calls(), HasSubstr("install --no-install-recommends cmake other-lib"));
}

TEST_F(FrontDoor, PackagesThatOnlyTestsNeedAreInstalledForTestsOnly) {
  tree_.write("packages.txt", "cmake\ntest: browser # large\n");
  ASSERT_EQ(start("demo").code, 0);
  EXPECT_THAT(calls(), HasSubstr("install --no-install-recommends cmake\n"));
  shell("rm " + tree_.path("installed"));
  ASSERT_EQ(start("test").code, 0);
  EXPECT_THAT(calls(), HasSubstr("install --no-install-recommends cmake browser\n"));
}

TEST_F(FrontDoor, APackageThatAnotherProvidesIsThere) {
  tree_.write("packages.txt", "node\nnpm\n");
  tool("dpkg-query",
       "case \"$*\" in *' node') echo -n installed ;; *' npm') exit 1 ;; *) echo ' other (= 1), npm' ;; esac");
  ASSERT_EQ(start("demo").code, 0);
  EXPECT_THAT(calls(), Not(HasSubstr("apt-get")));
}

TEST_F(FrontDoor, TestBuildsAllAndRunsCtest) {
  const Ran ran = start("test");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "100% tests passed\n");
  const std::string made = calls();
  EXPECT_THAT(made, HasSubstr("--target all\n"));
  EXPECT_THAT(made, HasSubstr(fmt::format("-j{} --output-on-failure --label-exclude long|slurm|format",
                                          std::thread::hardware_concurrency() + 1)));
  EXPECT_EQ(start("test --all").code, 2);
}

TEST_F(FrontDoor, OrdinaryUsersGoThroughSudo) {
  tool("sudo", "[ \"$1\" = -n ] && exit 0; exec \"$@\"");
  EXPECT_EQ(start("demo", "FAKE_USER=1000").code, 0);
  EXPECT_THAT(calls(), HasSubstr("sudo env DEBIAN_FRONTEND=noninteractive apt-get"));
}

TEST_F(FrontDoor, AMissingPackageIsNamedInOneLine) {
  tool("sudo", "exit 1");
  Ran ran = start("demo", "FAKE_USER=1000");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.err, "wm: sudo needs a password; run as root first: apt-get install cmake some-lib\n");

  tool("apt-get", "exit 100");
  ran = start("demo");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("wm: cannot install cmake some-lib (no network, or not Debian 12? see "));
}

TEST_F(FrontDoor, PackagesCanBeTakenForPresent) {
  EXPECT_EQ(start("demo", "WM_NO_INSTALL=1").code, 0);
  EXPECT_THAT(calls(), Not(HasSubstr("dpkg-query")));
}

TEST_F(FrontDoor, ABrokenBuildShowsWhyAndIsTriedAgain) {
  tool("cmake",
       "[ \"$1\" = --build ] && { echo 'FAILED: a.o'; echo 'a.cc:1: error: no'; exit 1; }; "
       "mkdir -p build/release; touch build/release/build.ninja");
  const Ran ran = start("demo");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("a.cc:1: error: no\nwm: the build failed"));
  calls();
  EXPECT_EQ(start("demo").code, 2);
  EXPECT_THAT(calls(), HasSubstr("cmake --build"));
}

}  // namespace
}  // namespace wm::cli
