// Results of format 1 are found under the keys of their run specifications, and none is lost.
#include "lab/store/migrate.h"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "lab/run/gpu_digest.h"
#include "lab/scratch.h"
#include "lab/store/exchange.h"
#include "lab/store/store.h"

namespace wm::lab {
namespace {

using ::testing::HasSubstr;

const std::string kGpu = "name: g\nsm: {count: 2}\n";
const std::string kCommand =
    "wm sim --gpu g --kernel a:launches=0:goal=0.9 --kernel c:launches=0:blocks=3 --policy quota:scheme=elastic "
    "--cycles 1000 --size small --match-instructions --seed 4";
const std::string kPolicy = "quota:epoch=10000:scheme=elastic";  // sorted, as the JSON has it

RowFormat1 old_row(const std::string& key, const std::string& command = kCommand) {
  RowFormat1 old;
  old.row.key = key;
  old.row.command = command;
  old.row.gpu = "old digest";
  old.row.seed = 4;
  old.row.code_version = "c";
  old.row.run_hash = "h";
  old.row.result = R"({"cycles":1})";
  old.configuration = R"({"policy":")" + kPolicy + R"("})";
  return old;
}

RunSpec new_spec() {
  RunSpec spec;
  spec.gpu = "g";
  KernelSpec a;
  a.name = "a";
  a.size = "small";
  a.launches = 0;
  a.goal = 0.9;
  KernelSpec c;
  c.name = "c";
  c.size = "small";
  c.launches = 0;
  c.blocks_per_sm = 3;
  spec.kernels = {a, c};
  spec.policy = *PolicySpec::parse(kPolicy);
  spec.cycles = 1000;
  spec.match_instructions = true;
  spec.seed = 4;
  return spec;
}

// A store as version 0.1.0 wrote it.
void write_old_store(const std::string& path, const std::vector<RowFormat1>& rows) {
  sqlite3* database = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
  std::string sql =
      "CREATE TABLE cells(key TEXT PRIMARY KEY, command TEXT NOT NULL, gpu TEXT NOT NULL, configuration TEXT NOT NULL,"
      " seed INTEGER NOT NULL, code_version TEXT NOT NULL, state TEXT NOT NULL, run_hash TEXT NOT NULL,"
      " host_seconds REAL NOT NULL, result TEXT NOT NULL, error TEXT NOT NULL) WITHOUT ROWID;"
      "CREATE TABLE gpus(digest TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;"
      "PRAGMA application_id = 2003659874; PRAGMA user_version = 1;"
      "INSERT INTO gpus VALUES('old digest', '" +
      kGpu + "');";
  for (const RowFormat1& r : rows)
    sql += "INSERT INTO cells VALUES('" + r.row.key + "','" + r.row.command + "','" + r.row.gpu + "','" +
           r.configuration + "'," + std::to_string(r.row.seed) + ",'c','" +
           (r.row.state == Row::State::done ? "done" : "failed") + "','h',0.5,'" + r.row.result + "','');";
  char* message = nullptr;
  ASSERT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
  sqlite3_close(database);
}

TEST(Migration, ReadsTheCommandsOfFormat1) {
  const auto spec = spec_of_format_1(kCommand);
  ASSERT_TRUE(spec.ok()) << spec.error().to_string();
  RunSpec expected = new_spec();
  expected.policy = *PolicySpec::parse("quota:scheme=elastic");
  EXPECT_EQ(*spec, expected);
  EXPECT_EQ(command_of(*spec), kCommand);
  EXPECT_EQ(spec_of_format_1("wm sim --gpu 'my gpu.yaml' --kernel a --policy left_over --size large --seed 1")->gpu,
            "my gpu.yaml");
  EXPECT_FALSE(spec_of_format_1("wm compare --kernel a").ok());
  EXPECT_FALSE(spec_of_format_1("wm sim --kernel a --colour red").ok());
}

TEST(Migration, FindsAnOldRowUnderTheKeyOfItsSpecification) {
  const Results results = migrate_format_1({old_row("k")}, {{"old digest", kGpu}});
  ASSERT_EQ(results.rows.size(), 1U);
  const Row& row = results.rows[0];
  EXPECT_EQ(row.gpu, gpu_digest(kGpu));
  EXPECT_EQ(row.key, key_of(new_spec(), gpu_digest(kGpu)));
  EXPECT_EQ(*run_spec_from_json(row.spec, ""), new_spec());
  EXPECT_EQ(row.run_hash, "h");
  EXPECT_EQ(results.gpus, (std::map<std::string, std::string>{{gpu_digest(kGpu), kGpu}}));
}

TEST(Migration, DropsParametersThatOracleHasNoMore) {
  RowFormat1 old = old_row("old");
  old.configuration = R"({"policy":"oracle:blocks=3/5:objective=ipc:settle=5000:trial=5000"})";
  RowFormat1 searching = old_row("searching");
  searching.configuration = R"({"policy":"oracle:objective=ipc:settle=5000:trial=5000"})";
  const Results results = migrate_format_1({old, searching}, {{"old digest", kGpu}});
  RunSpec spec = new_spec();
  spec.policy = *PolicySpec::parse("oracle:blocks=3/5");
  ASSERT_EQ(results.rows.size(), 2U);
  const auto has = [&](const RunSpec& s) {
    return std::any_of(results.rows.begin(), results.rows.end(),
                       [&](const Row& row) { return row.key == key_of(s, gpu_digest(kGpu)); });
  };
  EXPECT_TRUE(has(spec));
  spec.policy = *PolicySpec::parse("oracle");
  EXPECT_FALSE(has(spec)) << "a run that searched is not one without caps";
}

TEST(Migration, KeepsARowThatItCannotReadAndARowWhoseKeyIsTaken) {
  RowFormat1 failed = old_row("k2");
  failed.row.state = Row::State::failed;
  const Results results =
      migrate_format_1({failed, old_row("k1"), old_row("k3", "written by hand")}, {{"old digest", kGpu}});
  std::map<std::string, Row::State> states;
  for (const Row& row : results.rows) states[row.key] = row.state;
  EXPECT_EQ(states, (std::map<std::string, Row::State>{{"k2", Row::State::failed},
                                                       {"k3", Row::State::done},
                                                       {key_of(new_spec(), gpu_digest(kGpu)), Row::State::done}}));
  EXPECT_EQ(results.gpus.size(), 2U) << "the rows with old keys still refer to the old digest";
}

TEST(Migration, RewritesAnOldStoreThatIsOpenedForWriting) {
  const Scratch folder;
  write_old_store(folder.path("s.db"), {old_row("k1"), old_row("k2", "written by hand")});
  const std::string key = key_of(new_spec(), gpu_digest(kGpu));
  for (int opening = 0; opening < 2; ++opening) {
    const auto store = Store::open(folder.path("s.db"), Store::Mode::write);
    ASSERT_TRUE(store.ok()) << store.error().to_string();
    EXPECT_EQ(store->rows()->size(), 2U);
    ASSERT_TRUE((*store->find(key)).has_value());
    EXPECT_EQ((*store->find(key))->host_seconds, 0.5);
    EXPECT_EQ(store->gpus()->at(gpu_digest(kGpu)), kGpu);
  }
}

TEST(Migration, LeavesTheFileOfAnOldStoreThatIsOnlyRead) {
  const Scratch folder;
  write_old_store(folder.path("s.db"), {old_row("k1")});
  const std::string bytes = folder.read("s.db");
  const auto results = load_results(folder.path("s.db"));
  ASSERT_TRUE(results.ok()) << results.error().to_string();
  ASSERT_EQ(results->rows.size(), 1U);
  EXPECT_EQ(results->rows[0].key, key_of(new_spec(), gpu_digest(kGpu)));
  EXPECT_EQ(folder.read("s.db"), bytes);
}

TEST(Migration, ReadsExportedResultsOfSchema1) {
  const std::string text =
      R"({"schema":1,"gpus":{"old digest":"name: g\nsm: {count: 2}\n"},"cells":[
{"key":"k","command":")" +
      kCommand + R"(","gpu":"old digest","configuration":{"policy":")" + kPolicy +
      R"("},"seed":4,"code_version":"c","state":"done","run_hash":"h","host_seconds":0.5,"result":{}}
]})";
  const auto results = from_json(text, "x.json");
  ASSERT_TRUE(results.ok()) << results.error().to_string();
  EXPECT_EQ(results->rows.at(0).key, key_of(new_spec(), gpu_digest(kGpu)));
  EXPECT_THAT(from_json(R"({"schema":9,"gpus":{},"cells":[]})", "x.json").error().to_string(), HasSubstr("schema 9"));
}

}  // namespace
}  // namespace wm::lab
