// Which rows are run again to confirm the others, and what refuses them.
#include "lab/experiment/confirm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/scratch.h"
#include "lab/store/rows_file.h"

namespace wm::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Cells k100, k101, … whose present code is "new", their rows, and a second file in which samples are run.
struct Rows {
  Scratch folder;
  Matrix matrix;
  RowsFile store = *RowsFile::open(folder.path("s.ndjson"), RowStore::Mode::write);
  RowsFile again = *RowsFile::open(folder.path("again.ndjson"), RowStore::Mode::write);

  void add(std::size_t cells, const std::string& version, Row::State state = Row::State::done) {
    for (std::size_t i = 0; i < cells; ++i) {
      Cell cell;
      cell.key = "k" + std::to_string(100 + matrix.cells.size());
      cell.code_version = "new";
      cell.spec.kernels.emplace_back().name = "vecadd";
      matrix.cells.push_back(cell);
      EXPECT_TRUE(store.put(row_of(cell, version, state)).ok());
    }
  }
  static Row row_of(const Cell& cell, const std::string& version, Row::State state = Row::State::done) {
    Row row = cell.row();
    row.code_version = version;
    row.state = state;
    row.run_hash = "h" + cell.key;
    row.result =
        R"({"metrics":{"stp":1.5},"kernels":[{"ipc":2}],"host":{"seconds":)" + std::to_string(version.size()) + "}}";
    return row;
  }
  std::vector<StaleGroup> groups(std::size_t sample = 0) const {
    auto all = stale_groups(matrix, store, sample);
    EXPECT_TRUE(all.ok());
    return *std::move(all);
  }
  // Runs the samples; the cell with the key `differs` has another hash than before.
  std::vector<GroupOutcome> confirm(const std::string& differs = {}) {
    const auto stale = groups();
    for (const StaleGroup& group : stale)
      for (const Cell& cell : group.sample) {
        Row row = row_of(cell, "new");
        if (cell.key == differs) row.run_hash = "other";
        EXPECT_TRUE(again.put(row).ok());
      }
    auto outcomes = lab::confirm(store, stale, again, "2026-01-31");
    EXPECT_TRUE(outcomes.ok()) << outcomes.error().to_string();
    return *std::move(outcomes);
  }
  std::string version(const std::string& key) const { return (*store.find(key))->code_version; }
};

TEST(Confirm, StaleRowsAreGroupedByTheirCode) {
  Rows rows;
  rows.add(2, "old");
  rows.add(1, "older");
  rows.add(4, "new");
  rows.add(1, "old", Row::State::failed);
  rows.matrix.cells.push_back(rows.matrix.cells.front());  // a cell of two figures
  const auto groups = rows.groups();
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].from + " " + groups[0].to, "old new");
  EXPECT_THAT(groups[0].cells, SizeIs(2));
  EXPECT_EQ(groups[1].from, "older");
  EXPECT_THAT(groups[1].sample, SizeIs(1));
}

TEST(Confirm, ASampleIsATwentiethAndAtLeastThreeSpreadOverTheGroup) {
  Rows rows;
  rows.add(30, "old");
  std::vector<std::string> keys;
  const auto groups = rows.groups();
  for (const Cell& cell : groups.at(0).sample) keys.push_back(cell.key);
  EXPECT_THAT(keys, ElementsAre("k105", "k115", "k125"));
  EXPECT_THAT(rows.groups(7).at(0).sample, SizeIs(7));
  EXPECT_THAT(rows.groups(99).at(0).sample, SizeIs(30));
  rows.add(51, "old");
  EXPECT_THAT(rows.groups().at(0).sample, SizeIs(5));
}

TEST(Confirm, ASampleThatAgreesMakesTheOthersCurrent) {
  Rows rows;
  rows.add(30, "old");
  const auto outcomes = rows.confirm();
  ASSERT_THAT(outcomes, SizeIs(1));
  EXPECT_TRUE(outcomes[0].confirmed());
  EXPECT_THAT(rows.store.confirmations()->records(), ElementsAre(Confirmation{"old", "new", 3, 30, "2026-01-31"}));
  EXPECT_THAT(rows.groups(), IsEmpty());
  EXPECT_EQ(rows.version("k105"), "new") << "a row of the sample";
  EXPECT_EQ(rows.version("k100"), "old");
}

TEST(Confirm, ADifferentHashRefusesTheGroupAndOnlyIt) {
  Rows rows;
  rows.add(30, "old");
  rows.add(3, "older");
  const auto outcomes = rows.confirm("k115");
  ASSERT_THAT(outcomes, SizeIs(2));
  ASSERT_THAT(outcomes[0].differences, SizeIs(1));
  const Difference& d = outcomes[0].differences[0];
  EXPECT_EQ(d.command, "wm sim --gpu qos16 --kernel vecadd --policy left_over --size medium --seed 1");
  EXPECT_EQ(d.value + " " + d.before + " " + d.now, "run_hash hk115 other");
  EXPECT_THAT(rows.store.confirmations()->records(), ElementsAre(Confirmation{"older", "new", 3, 3, "2026-01-31"}));
  EXPECT_EQ(rows.version("k105"), "old") << "its sample must not shrink to the rows that agree";
  EXPECT_THAT(rows.groups(), SizeIs(1));
}

TEST(Confirm, ChainsOfRecordsAreFollowed) {
  Rows rows;
  rows.add(3, "old");
  rows.add(4, "older");
  ASSERT_TRUE(rows.store.put(Confirmation{"older", "old", 3, 4, "2026-01-01"}).ok());
  ASSERT_THAT(rows.groups(), SizeIs(2));
  ASSERT_TRUE(rows.store.put(Confirmation{"old", "new", 3, 3, "2026-01-31"}).ok());
  EXPECT_THAT(rows.groups(), IsEmpty());
}

// Otherwise the rows that differ would count as current through the older record.
TEST(Confirm, AGroupThatDiffersBlocksTheGroupThatItCountsAs) {
  Rows rows;
  rows.add(3, "old");
  rows.add(4, "older");
  ASSERT_TRUE(rows.store.put(Confirmation{"older", "old", 3, 4, "2026-01-01"}).ok());
  const auto outcomes = rows.confirm(rows.groups().at(1).sample.at(0).key);
  EXPECT_EQ(outcomes.at(0).record.from, "old");
  EXPECT_EQ(outcomes.at(0).blocked_by, "older");
  EXPECT_THAT(rows.groups(), SizeIs(2));
}

TEST(Confirm, ResultsAreComparedWithoutWhatDependsOnTheHostOrIsNew) {
  Cell cell;
  const Row before = Rows::row_of(cell, "old");
  Row now = Rows::row_of(cell, "new version");
  now.result = R"({"metrics":{"stp":1.5,"antt":2},"kernels":[{"ipc":2,"joules":3}]})";
  EXPECT_FALSE(difference(before, now).has_value());
  now.result = R"({"metrics":{"stp":1.25},"kernels":[{"ipc":2}]})";
  EXPECT_EQ(difference(before, now)->value, "/metrics/stp");
  EXPECT_EQ(difference(before, now)->now, "1.25");
  now.result = R"({"kernels":[{"ipc":2}]})";
  EXPECT_EQ(difference(before, now)->now, "nothing");
  now.state = Row::State::failed;
  now.error = "exit code 1";
  EXPECT_EQ(difference(before, now)->now, "exit code 1");
}

TEST(Confirm, ASampleThatWasNotRunIsAnError) {
  Rows rows;
  rows.add(3, "old");
  EXPECT_FALSE(lab::confirm(rows.store, rows.groups(), rows.again, "2026-01-31").ok());
  EXPECT_THAT(rows.groups(), SizeIs(1));
}

}  // namespace
}  // namespace wm::lab
