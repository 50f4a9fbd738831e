// Rows as lines: what a killed process leaves is read, files of several hosts add up.
#include "lab/store/rows_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "lab/scratch.h"
#include "lab/store/exchange.h"
#include "lab/store/rows.h"

namespace wm::lab {
namespace {

using ::testing::HasSubstr;

RowsFile opened_rows(const std::string& path, RowsFile::Mode mode = RowsFile::Mode::write) {
  auto file = RowsFile::open(path, mode);
  EXPECT_TRUE(file.ok()) << file.error().to_string();
  return *std::move(file);
}

TEST(RowsFile, RowsAreThereWhenItIsOpenedAgain) {
  const Scratch folder;
  const std::string path = folder.path("r.ndjson");
  RowsFile file = opened_rows(path);
  ASSERT_TRUE(file.put(some_row(1)).ok());
  Row newer = some_row(1);
  newer.host_seconds = 9;
  ASSERT_TRUE(file.put(newer).ok());
  ASSERT_TRUE(file.put_gpu("g", "name: g\n").ok());
  const RowsFile again = opened_rows(path, RowsFile::Mode::read);
  EXPECT_EQ(**again.find("k01"), newer);
  EXPECT_FALSE(again.find("k02")->has_value());
  EXPECT_EQ(again.results().gpus.at("g"), "name: g\n");
}

TEST(RowsFile, APartOfALineThatAKilledProcessLeftIsIgnored) {
  const Scratch folder;
  const std::string path = folder.path("r.ndjson");
  RowsFile file = opened_rows(path);
  ASSERT_TRUE(file.put(some_row(1)).ok());
  folder.write("r.ndjson", *read_file(path) + "{\"row\":{\"key\":\"k0");
  RowsFile after = opened_rows(path);
  ASSERT_TRUE(after.put(some_row(2)).ok());
  EXPECT_EQ(opened_rows(path, RowsFile::Mode::read).results().rows.size(), 2U);
}

TEST(RowsFile, FilesOfTwoHostsAreMergedIntoAStore) {
  const Scratch folder;
  ASSERT_TRUE(opened_rows(folder.path("a.ndjson")).put(some_row(1)).ok());
  ASSERT_TRUE(opened_rows(folder.path("b.ndjson")).put(some_row(2)).ok());
  auto into = Store::open(folder.path("s.db"), Store::Mode::write);
  for (const char* name : {"a.ndjson", "b.ndjson"})
    ASSERT_EQ(merge(*into, *load_results(folder.path(name)), [](const Row&) { return false; })->added, 1U);
  EXPECT_EQ(**into->find("k01"), some_row(1));
  EXPECT_EQ(**into->find("k02"), some_row(2));
}

TEST(RowsFile, TheLastConfirmationOfTwoVersionsCounts) {
  const Scratch folder;
  const std::string path = folder.path("r.ndjson");
  RowsFile file = opened_rows(path);
  const Confirmation later{"a", "b", 5, 40, "2026-02-01"};
  ASSERT_TRUE(file.put(Confirmation{"a", "b", 3, 40, "2026-01-31"}).ok());
  ASSERT_TRUE(file.put(later).ok());
  EXPECT_THAT(opened_rows(path, RowsFile::Mode::read).results().confirmed, ::testing::ElementsAre(later));
  folder.write("r.ndjson", R"({"confirmed":{"from":"a","to":"b","cells":3}})");
  EXPECT_THAT(RowsFile::open(path, RowsFile::Mode::read).error().to_string(),
              HasSubstr("r.ndjson:1: 'of' in confirmed must be a number from 1, and is missing"));
}

TEST(RowsFile, AnotherFileIsRefusedWithItsName) {
  const Scratch folder;
  folder.write("r.ndjson", "name: g\n");
  EXPECT_THAT(RowsFile::open(folder.path("r.ndjson"), RowsFile::Mode::read).error().to_string(),
              HasSubstr("r.ndjson:1: no row of wm lab"));
  EXPECT_THAT(RowsFile::open(folder.path("none.ndjson"), RowsFile::Mode::read).error().to_string(),
              HasSubstr("there is no file of rows"));
}

}  // namespace
}  // namespace wm::lab
