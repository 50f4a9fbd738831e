// The estimated register demand against ptxas for the same kernels (validation/ptxas-registers.csv).
#include <cmath>
#include <gtest/gtest.h>

#include "kernels/benchmark.h"
#include "ptx/analysis.h"
#include "ptx/parse.h"
#include "table.h"

namespace wm::zoo {
namespace {

TEST(RegisterDemand, IsWithinAQuarterOfPtxasForFourKernelsInFive) {
  std::map<std::string, double> reference;  // by entry
  for (const Row& row : read_table("../../validation/ptxas-registers.csv")) {
    reference[row.at("kernel")] = std::stod(row.at("ptxas_registers"));
  }
  int near = 0;
  int all = 0;
  std::string far;
  for (const Entry& entry : entries()) {
    const auto module = ptx::parse(entry.ptx, entry.benchmark.name + ".ptx");
    ASSERT_TRUE(module.ok()) << module.error().to_string();
    for (const Kernel& kernel : entry.benchmark.kernels) {
      const ptx::Function* function = module->entry(kernel.entry);
      ASSERT_NE(function, nullptr) << kernel.entry;
      ASSERT_TRUE(reference.contains(kernel.entry))
          << kernel.entry << " is not in the table: run validation/ptxas-registers.sh where ptxas is";
      const double ours = ptx::register_demand(*module, *function).registers;
      const double theirs = reference[kernel.entry];
      ++all;
      if (std::abs(ours - theirs) <= 0.25 * theirs) {
        ++near;
      } else {
        far += "  " + kernel.entry + ": " + std::to_string(ours) + ", ptxas " + std::to_string(theirs) + "\n";
      }
    }
  }
  RecordProperty("kernels", all);
  RecordProperty("near", near);
  EXPECT_GE(all, 55);
  EXPECT_GE(near, std::ceil(0.8 * all)) << "far off:\n" << far;
}

}  // namespace
}  // namespace wm::zoo
