// The layers hold in this tree, and each check fails on a small tree that breaks it.
#include "structure/layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "structure/temporary_tree.h"
#include "tree.h"

namespace wm::structure {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<LayerSection> layers_of_this_tree() { return read_layers(source_path("tests/structure/layers.txt")); }

// The modules of src/ and no more; the folders named exist only where a test makes them.
Violations violations(const TemporaryTree& tree, const std::string& sections = {}) {
  tree.file("layers.txt", "[src]\nbase\ngpu ptx\npolicy exec\nsim rewrite\nruntime lab\ncli\n" + sections);
  for (const char* name : {"base", "gpu", "ptx", "policy", "exec", "sim", "rewrite", "runtime", "lab", "cli"}) {
    std::filesystem::create_directories(tree.root() / "src" / name);
  }
  return layer_violations(tree.root(), read_layers(tree.root() / "layers.txt"));
}

TEST(SourceTree, ModulesIncludeOnlyLowerLayers) {
  EXPECT_THAT(layer_violations(source_path(), layers_of_this_tree()), IsEmpty());
}

TEST(SourceTree, TheArchitecturePageDescribesEveryModule) {
  EXPECT_THAT(undescribed_modules(source_path("docs/design/architecture.md"), layers_of_this_tree()), IsEmpty());
}

TEST(Layers, AModuleThatThePageOmitsIsNamed) {
  const TemporaryTree tree;
  tree.file("layers.txt", "[src]\nbase\nsim\n[src/sim]\ncycle block\n.\n");
  tree.file("page.md", "`src/base/`, `src/sim/cycle/` and block\n");
  EXPECT_THAT(undescribed_modules(tree.root() / "page.md", read_layers(tree.root() / "layers.txt")),
              ElementsAre("page.md: src/sim/block is not described"));
}

TEST(Layers, AModuleMayUseLowerLayersAndItself) {
  const TemporaryTree tree;
  tree.file("src/exec/a.cc",
            "#include \"ptx/ir.h\"\n#include \"base/result.h\"\n#include \"exec/b.h\"\n#include <x>\n");
  tree.file("src/cli/a.cc", "#include \"kernels/benchmark.h\"\n#include \"exec/b.h\"\n");
  tree.file("kernels/bfs/bfs.cc", "#include \"kernels/benchmark.h\"\n#include \"gpu/application.h\"\n");
  EXPECT_THAT(violations(tree), IsEmpty());
}

TEST(Layers, AHigherModuleIsAViolation) {
  const TemporaryTree tree;
  tree.file("src/base/a.h", "#pragma once\n#include \"gpu/application.h\"\n");
  EXPECT_THAT(violations(tree), ElementsAre("src/base/a.h:2: base (layer 0) includes gpu (layer 1)"));
}

TEST(Layers, AModuleOfTheSameLayerIsAViolation) {
  const TemporaryTree tree;
  tree.file("src/ptx/deep/a.cc", "\n\n  #  include \"gpu/application.h\"\n");
  EXPECT_THAT(violations(tree), ElementsAre("src/ptx/deep/a.cc:3: ptx (layer 1) includes gpu (layer 1)"));
}

TEST(Layers, TheZooUsesBaseAndGpuOnly) {
  const TemporaryTree tree;
  tree.file("kernels/bfs/bfs.cc", "#include \"exec/run.h\"\n");
  tree.file("src/exec/a.cc", "#include \"kernels/benchmark.h\"\n");
  EXPECT_THAT(violations(tree), ElementsAre("src/exec/a.cc:1: exec includes the zoo",  //
                                            "kernels/bfs/bfs.cc:1: the zoo includes exec"));
}

TEST(Layers, AClimbingPathAndAModuleWithoutALayerAreViolations) {
  const TemporaryTree tree;
  tree.file("src/attic/a.cc", "\n");
  tree.file("src/ptx/a.cc", "#include \"../gpu/application.h\"\n");
  EXPECT_THAT(violations(tree), ElementsAre("src/attic/a.cc: in no layer of src",
                                            "src/ptx/a.cc:1: includes by a path that climbs: ../gpu/application.h"));
}

TEST(Layers, SubfoldersHaveLayersOfTheirOwn) {
  const TemporaryTree tree;
  tree.file("src/runtime/protocol/ring.h", "#include \"runtime/device/backend.h\"\n");
  tree.file("src/runtime/device/backend.h", "#include \"runtime/protocol/ring.h\"\n");
  tree.file("src/runtime/device/cuda/stream.h", "#include \"runtime/device/backend.h\"\n");
  tree.file("src/runtime/version.h", "");
  EXPECT_THAT(violations(tree, "[src/runtime]\nprotocol\ndevice  # devices\nserver\n"),
              ElementsAre("src/runtime/version.h: in no layer of src/runtime",
                          "src/runtime/server: has a layer and does not exist",
                          "src/runtime/protocol/ring.h:1: protocol (layer 0) includes device (layer 1)"));
}

TEST(Layers, AListInParenthesesReplacesTheLayerRule) {
  const TemporaryTree tree;
  tree.file("src/runtime/protocol/ring.h", "");
  tree.file("src/runtime/device/backend.h", "");
  tree.file("src/runtime/client/opencl/api.cc",
            "#include \"runtime/protocol/ring.h\"\n#include \"runtime/device/backend.h\"\n");
  EXPECT_THAT(violations(tree, "[src/runtime]\nprotocol\ndevice\nclient/opencl(protocol)\n"),
              ElementsAre("src/runtime/client/opencl/api.cc:2: client/opencl may not include device"));
}

TEST(Layers, FilesDirectlyInTheFolderAreNamedByADot) {
  const TemporaryTree tree;
  tree.file("src/cli/app.cc", "#include \"cli/commands/sim.h\"\n");
  tree.file("src/cli/commands/sim.h", "");
  tree.file("src/cli/commands/demo.h", "#include \"cli/app.h\"\n");
  EXPECT_THAT(violations(tree, "[src/cli]\ncommands\n.\n"),
              ElementsAre("src/cli/commands/demo.h:1: commands (layer 0) includes . (layer 1)"));
}

TEST(IncludeCycles, AHeaderAndItsSourceCountAsOneFile) {
  const TemporaryTree tree;
  tree.file("src/lab/corun.h", "");
  tree.file("src/lab/corun.cc", "#include \"lab/corun.h\"\n#include \"lab/record.h\"\n");
  tree.file("src/lab/record.h", "#include \"lab/cell.h\"\n");
  tree.file("src/lab/cell.h", "");
  tree.file("src/lab/cell.cc", "#include \"lab/corun.h\"\n");
  tree.file("src/lab/apart.h", "#include \"lab/corun.h\"\n");
  EXPECT_THAT(include_cycles(tree.root()), ElementsAre("cycle src/lab/cell src/lab/corun src/lab/record"));
}

TEST(IncludeCycles, ADiamondIsNoCycle) {
  const TemporaryTree tree;
  tree.file("src/lab/a.cc", "#include \"lab/b.h\"\n#include \"lab/c.h\"\n");
  tree.file("src/lab/b.h", "#include \"lab/d.h\"\n");
  tree.file("src/lab/c.h", "#include \"lab/d.h\"\n");
  tree.file("src/lab/d.h", "");
  EXPECT_THAT(include_cycles(tree.root()), IsEmpty());
}

}  // namespace
}  // namespace wm::structure
