// Results travel: JSON and back without loss, CSV for spreadsheets, two stores into one.
#include "lab/store/exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lab/scratch.h"
#include "lab/store/open_rows.h"
#include "lab/store/rows.h"

namespace wm::lab {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Results some_results() {
  Row failed = some_row(2);
  failed.state = Row::State::failed;
  failed.run_hash = failed.result = "";
  failed.error = "killed by signal 9, \"out of memory\"";
  return {{some_row(1), failed}, {{"g", "name: g\nsm: {}\n"}}};
}

TEST(Exchange, JsonHoldsEverything) {
  const Results results = some_results();
  const auto again = from_json(to_json(results), "r.json");
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(again->rows, results.rows);
  EXPECT_EQ(again->gpus, results.gpus);
  EXPECT_EQ(to_json(*again), to_json(results));
}

TEST(Exchange, OtherJsonIsRefusedWithItsName) {
  EXPECT_THAT(from_json("{\"schema\":1}", "r.json").error().to_string(), StartsWith("r.json: no results of wm lab"));
  EXPECT_THAT(from_json("{\"sche", "r.json").error().to_string(), StartsWith("r.json: no results of wm lab"));
}

TEST(Exchange, CsvHasALineACellAndQuotesWhatNeedsIt) {
  const std::string csv = to_csv(some_results());
  EXPECT_THAT(csv,
              StartsWith("key,command,gpu_digest,code_version,state,host_seconds,error,cycles,filler,kernels.0.ipc\n"
                         "k01,wm sim --kernel vecadd --seed 1,g,c,done,0.250,,1,"));
  EXPECT_THAT(csv, HasSubstr("\nk02,wm sim --kernel vecadd --seed 2,g,c,failed,0.500,"
                             "\"killed by signal 9, \"\"out of memory\"\"\",,,\n"));
}

TEST(Exchange, CsvNamesEachColumnOnce) {
  Results results = some_results();
  results.rows[0].result = R"({"code_version":"c","cycles":1})";
  EXPECT_THAT(to_csv(results),
              StartsWith("key,command,gpu_digest,code_version,state,host_seconds,error,cycles\nk01,wm sim --kernel "
                         "vecadd --seed 1,g,c,done,0.250,,1\n"));
}

TEST(Exchange, MergeTakesWhatIsMissingOrFailedAndKeepsTheRest) {
  const Scratch folder;
  auto into = Store::open(folder.path("a.db"), Store::Mode::write);
  Row failed = some_row(1);
  failed.state = Row::State::failed;
  Row mine = some_row(2);
  mine.host_seconds = 99;
  ASSERT_TRUE(into->put({failed, mine, some_row(5)}).ok());

  Results from{{some_row(1), some_row(2), some_row(3), some_row(5)}, {{"g", "text"}}};
  from.rows[3].run_hash = "another";
  const auto merged = merge(*into, from, [](const Row&) { return false; });
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->added, 2U);
  EXPECT_EQ(merged->kept, 2U);
  EXPECT_EQ(merged->disagreed, 1U);
  EXPECT_EQ(**into->find("k01"), some_row(1));
  EXPECT_EQ(**into->find("k02"), mine);
  EXPECT_EQ(**into->find("k03"), some_row(3));
  EXPECT_EQ(into->gpus()->at("g"), "text");

  // Results that were exported from a store can be loaded like the store.
  folder.write("a.json", to_json(*load_results(folder.path("a.db"))));
  EXPECT_EQ(load_results(folder.path("a.json"))->rows, load_results(folder.path("a.db"))->rows);
}

TEST(Exchange, RowsOfThisCodeReplaceThoseOfOtherCode) {
  const Scratch folder;
  auto into = Store::open(folder.path("a.db"), Store::Mode::write);
  Row old = some_row(1);
  old.code_version = "old";
  Row mine = some_row(2);
  ASSERT_TRUE(into->put({old, mine}).ok());

  Results from{{some_row(1), some_row(2)}, {}};
  from.rows[1].code_version = "other";
  const auto merged = merge(*into, from, [](const Row& row) { return row.code_version == "c"; });
  ASSERT_TRUE(merged.ok());
  EXPECT_EQ(merged->replaced, 1U);
  EXPECT_EQ(merged->kept, 1U);
  EXPECT_EQ(merged->added, 0U);
  EXPECT_EQ(**into->find("k01"), some_row(1));
  EXPECT_EQ(**into->find("k02"), mine);
}

TEST(Exchange, ConfirmationsTravelWithTheRows) {
  const Scratch folder;
  const Confirmation record{"old", "c", 3, 40, "2026-01-31"};
  Results results = some_results();
  EXPECT_EQ(to_json(results).find("confirmed"), std::string::npos);
  results.confirmed = {record};
  folder.write("a.json", to_json(results));
  for (const auto& [from, into] : {std::pair{"a.json", "b.ndjson"}, {"b.ndjson", "c.db"}}) {
    const auto source = load_results(folder.path(from));
    ASSERT_TRUE(source.ok()) << source.error().to_string();
    const auto rows = open_rows(folder.path(into), RowStore::Mode::write);
    for (const std::size_t taken : {1U, 0U}) {
      const auto merged = merge(**rows, *source, [](const Row&) { return false; });
      ASSERT_TRUE(merged.ok()) << merged.error().to_string();
      EXPECT_EQ(merged->confirmed, taken);
    }
  }
  EXPECT_EQ(to_json(*load_results(folder.path("c.db"))), to_json(results));
}

TEST(Exchange, ABadConfirmationIsOneLineWithFileAndKey) {
  Results results = some_results();
  results.confirmed = {{"old", "c", 50, 40, "2026-01-31"}};
  EXPECT_EQ(from_json(to_json(results), "r.json").error().to_string(),
            "r.json: 'cells' in confirmed must be a number from 1 to that of 'of', not 50");
}

TEST(Exchange, RowsThatContradictAConfirmationDisagree) {
  const Scratch folder;
  auto into = Store::open(folder.path("a.db"), Store::Mode::write);
  Row old = some_row(1);
  old.code_version = "old";
  old.run_hash = "another";
  ASSERT_TRUE(into->put(old).ok());
  Results from{{some_row(1)}, {}};
  EXPECT_EQ(merge(*into, from, [](const Row&) { return false; })->disagreed, 0U);
  from.confirmed = {{"old", "c", 3, 40, "2026-01-31"}};
  EXPECT_EQ(merge(*into, from, [](const Row&) { return false; })->disagreed, 1U);
}

}  // namespace
}  // namespace wm::lab
