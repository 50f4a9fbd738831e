// Cells on threads of the process: each is run and returned once, failures included.
#include "lab/experiment/cell_threads.h"

#include <atomic>
#include <gtest/gtest.h>
#include <map>

namespace wm::lab {
namespace {

std::vector<Cell> numbered_cells(std::size_t count) {
  std::vector<Cell> cells(count);
  for (std::size_t i = 0; i < count; ++i) cells[i].spec.seed = i;
  return cells;
}
std::vector<const Cell*> pointers(const std::vector<Cell>& cells) {
  std::vector<const Cell*> all;
  for (const Cell& c : cells) all.push_back(&c);
  return all;
}

TEST(CellThreads, EveryCellIsReturnedOnceWithItsResult) {
  const auto cells = numbered_cells(100);
  const auto all = pointers(cells);
  CellThreads threads(all, 4, [](const RunSpec& spec) -> Result<std::string> {
    if (spec.seed == 7) return Error{"no such policy"};
    return std::to_string(spec.seed);
  });
  std::map<std::uint64_t, std::string> results;
  for (auto some = threads.wait(); !some.empty(); some = threads.wait())
    for (const CellThreads::Finished& f : some)
      EXPECT_TRUE(results.emplace(f.cell->spec.seed, f.result ? *f.result : f.result.error().what).second);
  ASSERT_EQ(results.size(), 100U);
  EXPECT_EQ(results[42], "42");
  EXPECT_EQ(results[7], "no such policy");
}

TEST(CellThreads, WithoutCellsThereIsNothingToWaitFor) {
  const std::vector<const Cell*> none;
  CellThreads threads(none, 4, [](const RunSpec&) -> Result<std::string> { return std::string(); });
  EXPECT_TRUE(threads.wait().empty());
}

// Cells that have not begun when the object is destroyed are left.
TEST(CellThreads, DestructionWaitsOnlyForCellsThatRun) {
  const auto cells = numbered_cells(1000);
  const auto all = pointers(cells);
  std::atomic<int> ran = 0;
  {
    CellThreads threads(all, 2, [&](const RunSpec&) -> Result<std::string> {
      ++ran;
      return std::string();
    });
    (void)threads.wait();
  }
  EXPECT_GE(ran, 1);
  EXPECT_LE(ran, 1000);
}

}  // namespace
}  // namespace wm::lab
