#include <algorithm>
#include <gtest/gtest.h>
#include <set>

#include "kernels/benchmark.h"

namespace wm::zoo {

namespace {

std::string error_of(std::string_view name) {
  const auto found = find(name);
  return found.ok() ? "found " + (*found)->benchmark.name : found.error().to_string();
}

}  // namespace

TEST(Registry, HasEveryNameScriptsRelyOn) {
  for (const char* name :
       {"bfs",     "cutcp",    "histo",  "lbm",       "mri-gridding", "mri-q", "sad",      "sgemm",
        "spmv",    "stencil",  "tpacf",  "hotspot",   "pathfinder",   "knn",   "dxt",      "blackscholes",
        "denoise", "binomial", "neural", "mergesort", "libor",        "atax",  "bicg",     "gesummv",
        "mvp",     "vecadd",   "fma",    "gather",    "chase",        "smem",  "pingpong", "atomics"})
    EXPECT_TRUE(find(name).ok()) << name;
}

TEST(Registry, HasTheKernelsOfTheBenchmarksWithSeveral) {
  const auto kernels = [](std::string_view name) {
    std::set<std::string> names;
    for (const Kernel& k : (*find(name))->benchmark.kernels) names.insert(k.name);
    return names;
  };
  EXPECT_EQ(kernels("histo"), (std::set<std::string>{"prescan", "intermediates", "main", "final"}));
  EXPECT_EQ(kernels("mri-gridding"),
            (std::set<std::string>{"binning", "scanL1", "scaninter1", "scaninter2", "uniformAdd", "reorder",
                                   "splitSort", "splitRearrange", "gridding"}));
  EXPECT_EQ(kernels("mri-q"), (std::set<std::string>{"phimag", "q"}));
  EXPECT_EQ(kernels("mri-q-constant"), kernels("mri-q"));
  EXPECT_EQ(kernels("sad"), (std::set<std::string>{"mb", "8", "16"}));
}

// A CUDA driver passes addresses of global memory only, so such a benchmark must say that it needs others.
TEST(Registry, PointersToConstantMemoryAreDeclared) {
  for (const Entry& e : entries())
    EXPECT_EQ(e.ptx.find(".ptr .const") != std::string_view::npos, e.benchmark.constant_pointers) << e.benchmark.name;
}

TEST(Registry, ThePapersAbbreviationsAreAliases) {
  EXPECT_EQ((*find("MM"))->benchmark.name, "sgemm");
  EXPECT_EQ((*find("CP"))->benchmark.name, "cutcp");
  EXPECT_EQ((*find("mri-g"))->benchmark.name, "mri-gridding");
  EXPECT_EQ((*find("BLK"))->benchmark.name, "blackscholes");
  EXPECT_EQ((*find("HOT"))->benchmark.name, "hotspot");
}

TEST(Registry, AWrongNameIsAnsweredWithTheNearest) {
  EXPECT_EQ(error_of("sgem"), "no benchmark is named 'sgem' (did you mean 'sgemm'?); `wm kernels` lists them");
  EXPECT_EQ(error_of("mri-gridin"),
            "no benchmark is named 'mri-gridin' (did you mean 'mri-gridding'?); `wm kernels` lists them");
  EXPECT_EQ(error_of("somethingelse"), "no benchmark is named 'somethingelse'; `wm kernels` lists them");
}

TEST(Registry, NamesAndAliasesAreUnambiguous) {
  std::set<std::string> seen;
  for (const Entry& e : entries()) {
    EXPECT_TRUE(seen.insert(e.benchmark.name).second) << e.benchmark.name;
    for (const std::string& alias : e.benchmark.aliases) {
      const auto found = find(alias);
      ASSERT_TRUE(found.ok()) << alias;
      EXPECT_EQ((*found)->benchmark.name, e.benchmark.name) << alias;
    }
  }
}

TEST(Registry, EveryKernelIsInThePtxAndInTheSource) {
  for (const Entry& e : entries()) {
    EXPECT_FALSE(e.benchmark.about.empty()) << e.benchmark.name;
    EXPECT_FALSE(e.benchmark.kernels.empty()) << e.benchmark.name;
    for (const Kernel& k : e.benchmark.kernels) {
      EXPECT_NE(e.ptx.find(".entry " + k.entry + "("), std::string_view::npos) << k.entry;
      EXPECT_NE(e.source.find(" " + k.entry + "("), std::string_view::npos) << k.entry;
    }
  }
}

TEST(Registry, ApplicationsLaunchTheirKernelsInTheOrderListed) {
  for (const Entry& e : entries()) {
    std::vector<std::string> launched, listed;
    const Case c = e.benchmark.make(Size::small);
    for (const gpu::Step& step : c.application.steps)
      if (const auto* l = std::get_if<gpu::Launch>(&step); l != nullptr)
        if (std::find(launched.begin(), launched.end(), l->kernel) == launched.end()) launched.push_back(l->kernel);
    for (const Kernel& k : e.benchmark.kernels) listed.push_back(k.entry);
    EXPECT_EQ(launched, listed) << e.benchmark.name;
  }
}

}  // namespace wm::zoo
