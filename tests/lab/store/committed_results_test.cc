// The results in results/ are found by the program that is built beside them.
#include <filesystem>
#include <gtest/gtest.h>

#include "lab/run/run_spec.h"
#include "lab/store/exchange.h"
#include "tree.h"

namespace wm::lab {
namespace {

// A policy that gets a parameter must not change the key of runs with its default: their results would not be found.
TEST(CommittedResults, AreStoredUnderTheKeysOfTheirRuns) {
  std::size_t rows = 0;
  for (const auto& file : std::filesystem::directory_iterator(source_path("results"))) {
    if (file.path().extension() != ".json") continue;
    const auto results = load_results(file.path().string());
    ASSERT_TRUE(results.ok()) << results.error().to_string();
    for (const Row& row : results->rows) {
      auto spec = run_spec_from_json(row.spec, file.path().string());
      ASSERT_TRUE(spec.ok()) << row.spec;
      auto policy = spec->policy.resolved();
      ASSERT_TRUE(policy.ok()) << row.spec;
      spec->policy = *std::move(policy);
      ASSERT_EQ(key_of(*spec, row.gpu), row.key) << row.command;
      ++rows;
    }
  }
  EXPECT_GT(rows, 2000U);
}

}  // namespace
}  // namespace wm::lab
