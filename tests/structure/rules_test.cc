// The rules of files and folders hold in this tree, and each check fails on a small tree that breaks it.
#include "structure/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "structure/temporary_tree.h"
#include "tree.h"

namespace wm::structure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(SourceTree, EveryModuleAndBenchmarkHasADescription) {
  EXPECT_THAT(folders_without_readme(source_path()), IsEmpty());
}
TEST(SourceTree, EveryHeaderIsGuarded) { EXPECT_THAT(unguarded_headers(source_path()), IsEmpty()); }
TEST(SourceTree, NoFileIsTooLong) { EXPECT_THAT(long_files(source_path()), IsEmpty()); }
TEST(SourceTree, NoFileNamesAMachineOrUnfinishedWork) { EXPECT_THAT(forbidden_words(source_path()), IsEmpty()); }

TEST(SourceTree, NoDriverTypeIsNamedAboveTheBackends) {
  EXPECT_THAT(driver_types_above_devices(source_path()), IsEmpty());
}

TEST(SourceTree, LinksLeadToFiles) { EXPECT_THAT(broken_links(source_path()), IsEmpty()); }

TEST(Rules, AFolderNeedsAReadme) {
  const TemporaryTree tree;
  tree.file("src/ptx/a.h", "#pragma once\n");
  tree.file("kernels/opencl/README.md", std::string(61, '\n'));
  tree.file("kernels/bfs/bfs.cl", "// One level of a search.\n");
  tree.file("kernels/bfs/bfs.cc", "#include <vector>\n");
  EXPECT_THAT(folders_without_readme(tree.root()),
              ElementsAre("src/ptx: no README.md", "kernels/bfs/bfs.cc: does not begin with a description",
                          "kernels/opencl/README.md: longer than a page"));
}

TEST(Rules, HeadersAndLengths) {
  const TemporaryTree tree;
  tree.file("src/ptx/a.h", "int x;\n");
  tree.file("src/ptx/b.cc", std::string(500, '\n'));
  tree.file("src/ptx/c.cc", std::string(499, '\n'));
  EXPECT_THAT(unguarded_headers(tree.root()), ElementsAre("src/ptx/a.h: no #pragma once"));
  EXPECT_THAT(long_files(tree.root()), ElementsAre("src/ptx/b.cc: 500 lines"));
}

TEST(Rules, BrokenLinksAreFound) {
  const TemporaryTree tree;
  tree.file("docs/a.md", "[b](b.md) [c](../docs/b.md#part) [d](#here) [e](https://example.org/x)\n![f](f.png)\n");
  tree.file("docs/b.md", "\n");
  EXPECT_THAT(broken_links(tree.root()), ElementsAre("docs/a.md:2: link to f.png"));
}

TEST(Rules, DriverTypesAreFoundAboveTheBackends) {
  const TemporaryTree tree;
  tree.file("src/runtime/device/opencl_cpu.cc", "cl_event event;\n");
  tree.file("src/runtime/schedule/a.cc", "int x;  // as cl_event\n#include <CL/cl.h>\n");
  tree.file("src/runtime/schedule/c.cc", "return CL_TRUE;\nclFinish(q);\ncuInit(0);\nint CUT, clock, cut, max_cl_x;\n");
  tree.file("src/runtime/session/b.h", "#include \"runtime/device/opencl_native.h\"\nCUstream stream;\n");
  tree.file("src/runtime/server/d.h",
            "#include \"runtime/device/cuda/objects.h\"\n#include \"runtime/device/memory.h\"\n");
  EXPECT_THAT(driver_types_above_devices(tree.root()),
              ElementsAre("src/runtime/schedule/a.cc:2: names <CL/", "src/runtime/schedule/c.cc:1: names CL_TRUE",
                          "src/runtime/schedule/c.cc:2: names clFinish", "src/runtime/schedule/c.cc:3: names cuInit",
                          "src/runtime/server/d.h:1: names runtime/device/cuda/",
                          "src/runtime/session/b.h:1: names runtime/device/opencl_",
                          "src/runtime/session/b.h:2: names CUstream"));
}

TEST(Rules, ForbiddenWordsAreFoundInEveryKindOfText) {
  const TemporaryTree tree;
  tree.file("docs/a.md", std::string("fine\nsee /wo") + "rk/main\n");
  tree.file("src/ptx/a.cc", std::string("// TO") + "DO later\n");
  tree.file("wm", "mkdir build/work\n");
  EXPECT_THAT(forbidden_words(tree.root()), ElementsAre(std::string("docs/a.md:2: contains '/wo") + "rk/'",
                                                        std::string("src/ptx/a.cc:1: contains 'TO") + "DO'"));
}

}  // namespace
}  // namespace wm::structure
