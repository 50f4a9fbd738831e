// Tests of the runner with a fake executor: which jobs it starts, which results it stores, how it records failures.
#include "lab/experiment/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "lab/scratch.h"
#include "lab/store/store.h"

namespace wm::lab {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Completes each job at once: writes the result that `act` makes, or fails.
class FakeExecutor final : public Executor {
 public:
  std::function<int(const Job&, const std::string& result)> act = [](const Job& job, const std::string& result) {
    return write_file(result, R"({"run_hash":"h)" + job.id + R"(","code_version":"v","host":{"seconds":1}})") ? 0 : 2;
  };
  std::vector<std::string> started;
  std::string lost;  // the job whose node fails

  [[nodiscard]] std::size_t room() const override { return 2 - waiting_.size(); }
  Result<void> start(const Job& job) override {
    std::string result;
    for (std::size_t i = 0; i + 1 < job.command.size(); ++i)
      if (job.command[i] == "--json") result = job.command[i + 1];
    const auto spec = read_file(job.command[3]);
    EXPECT_EQ(job.command[1] + " " + job.command[2], "sim --spec");
    const auto run = spec ? run_spec_from_json(*spec, job.command[3]) : Result<RunSpec>(spec.error());
    EXPECT_TRUE(run.ok()) << (run.ok() ? "" : run.error().to_string());
    started.push_back(result.empty() ? "isolated " + run->kernels[0].name : "cell " + run->kernels[0].name);
    waiting_.push_back({job.id, result.empty() ? 0 : act(job, result), 3.5, 2.5, job.id == lost});
    return {};
  }
  Result<std::vector<FinishedCell>> wait() override { return std::exchange(waiting_, {}); }

 private:
  std::vector<FinishedCell> waiting_;
};

RunSpec spec_with(const std::vector<std::string>& kernels) {
  RunSpec spec;
  for (const std::string& name : kernels) spec.kernels.emplace_back().name = name;
  return spec;
}

Matrix some_matrix() {
  Matrix m;
  for (const char* key : {"a", "b", "c", "a"}) {
    Cell c;
    c.key = key;
    c.spec = spec_with({key});
    c.isolated = {spec_with({"x"}), spec_with({key})};
    c.labels = {{"workload", key}, {"policy", "P"}};
    c.code_version = "v";
    m.cells.push_back(c);
  }
  return m;
}

struct Lab {
  Scratch folder;
  std::string path = folder.path("s.db");
  Store store = *Store::open(path, Store::Mode::write);
  FakeExecutor executor;

  Result<RunSummary> run(const RunnerOptions& options = {.program = "wm", .cache = "cache"}) {
    return Runner(store, path, executor, options).run(some_matrix(), [](const Progress&) {});
  }
};

TEST(Runner, RunsEachIsolatedRateOnceThenEveryCellOnce) {
  Lab lab;
  const auto summary = lab.run();
  ASSERT_TRUE(summary.ok()) << summary.error().to_string();
  EXPECT_THAT(lab.executor.started,
              ElementsAre("isolated x", "isolated a", "isolated b", "isolated c", "cell a", "cell b", "cell c"));
  EXPECT_EQ(summary->cells, 3U);
  EXPECT_EQ(summary->ran, 3U);
  EXPECT_EQ((*lab.store.find("b"))->run_hash, "hb");
  EXPECT_EQ((*lab.store.find("b"))->host_seconds, 2.5);
  EXPECT_FALSE(std::filesystem::exists(lab.path + ".cells"));
}

TEST(Runner, DoesNotRunAStoredCellAgain) {
  Lab lab;
  ASSERT_TRUE(lab.run().ok());
  lab.executor.started.clear();
  const auto again = lab.run();
  EXPECT_THAT(lab.executor.started, IsEmpty());
  EXPECT_EQ(again->stored, 3U);
  ASSERT_TRUE(lab.run({.program = "wm", .cache = "", .again = true}).ok());
  EXPECT_EQ(lab.executor.started.size(), 7U);
}

TEST(Runner, ALostCellIsNotStoredAndRunsNextTime) {
  Lab lab;
  lab.executor.lost = "b";
  const auto works = lab.executor.act;
  lab.executor.act = [&](const Job& job, const std::string& result) { return job.id == "b" ? 0 : works(job, result); };
  const auto summary = lab.run();
  EXPECT_EQ(summary->lost, 1U);
  EXPECT_EQ(summary->failed, 0U);
  EXPECT_EQ(summary->ran, 2U);
  EXPECT_FALSE((*lab.store.find("b")).has_value());
  lab.executor.lost.clear();
  lab.executor.act = works;
  EXPECT_EQ(lab.run()->ran, 1U);
  EXPECT_EQ((*lab.store.find("b"))->state, Row::State::done);
}

TEST(Runner, AFailedCellIsRecordedAndTheOthersGoOn) {
  Lab lab;
  const auto works = lab.executor.act;
  lab.executor.act = [&](const Job& job, const std::string& result) {
    if (job.id != "b") return works(job, result);
    (void)write_file(job.error_file, "wm: it broke\n");
    return 139;
  };
  const auto summary = lab.run();
  EXPECT_EQ(summary->failed, 1U);
  EXPECT_EQ(summary->ran, 3U);
  const Row row = **lab.store.find("b");
  EXPECT_EQ(row.state, Row::State::failed);
  EXPECT_EQ(row.error, "killed by signal 11: wm: it broke");
  EXPECT_EQ(row.command, "wm sim --gpu qos16 --kernel b --policy left_over --size medium --seed 1");
  EXPECT_EQ((*lab.store.find("c"))->state, Row::State::done);

  // It stays as it is until asked for.
  lab.executor.started.clear();
  lab.executor.act = works;
  ASSERT_TRUE(lab.run().ok());
  EXPECT_THAT(lab.executor.started, IsEmpty());
  ASSERT_TRUE(lab.run({.program = "wm", .cache = "", .retry = true}).ok());
  EXPECT_THAT(lab.executor.started, ElementsAre("isolated x", "isolated b", "cell b"));
  EXPECT_EQ((*lab.store.find("b"))->state, Row::State::done);
}

TEST(Runner, RunsCellsAgainWhoseResultIsOfOtherCode) {
  Lab lab;
  ASSERT_TRUE(lab.run().ok());
  Row old = **lab.store.find("c");
  old.code_version = "before";
  ASSERT_TRUE(lab.store.put(old).ok());
  lab.executor.started.clear();
  ASSERT_TRUE(lab.run({.program = "wm", .cache = "", .keep_old = true}).ok());
  EXPECT_THAT(lab.executor.started, IsEmpty());
  ASSERT_TRUE(lab.run().ok());
  EXPECT_THAT(lab.executor.started, ElementsAre("isolated x", "isolated c", "cell c"));
  EXPECT_EQ((*lab.store.find("c"))->code_version, "v");
}

TEST(Runner, ConfirmedRowsOfOtherCodeAreNotRunAgainUnlessTheyFailed) {
  Lab lab;
  ASSERT_TRUE(lab.run().ok());
  for (const char* key : {"b", "c"}) {
    Row old = **lab.store.find(key);
    old.code_version = "before";
    if (old.key == "b") old.state = Row::State::failed;
    ASSERT_TRUE(lab.store.put(old).ok());
  }
  ASSERT_TRUE(lab.store.put(Confirmation{"before", "between", 1, 1, "2026-01-31"}).ok());
  ASSERT_TRUE(lab.store.put(Confirmation{"between", "v", 1, 1, "2026-01-31"}).ok());
  lab.executor.started.clear();
  const auto summary = lab.run();
  EXPECT_EQ(summary->stored, 2U);
  EXPECT_THAT(lab.executor.started, ElementsAre("isolated x", "isolated b", "cell b"));
  EXPECT_EQ((*lab.store.find("c"))->code_version, "before");
}

TEST(Runner, ImportsTheFinishedResultsOfAKilledRun) {
  Lab lab;
  lab.folder.write("s.db.cells/a.json", R"({"run_hash":"kept","code_version":"v","host":{"seconds":7}})");
  lab.folder.write("s.db.cells/b.json", R"({"run_hash":"old","code_version":"before","host":{"seconds":7}})");
  lab.folder.write("s.db.cells/c.json", R"({"run_hash":"ha)");
  const auto summary = lab.run();
  ASSERT_TRUE(summary.ok()) << summary.error().to_string();
  EXPECT_EQ(summary->imported, 1U);
  EXPECT_EQ((*lab.store.find("a"))->run_hash, "kept");
  EXPECT_EQ((*lab.store.find("b"))->run_hash, "hb");
  EXPECT_EQ((*lab.store.find("c"))->run_hash, "hc");
}

TEST(Runner, TwoRunsDoNotFillOneStoreAtATime) {
  Lab lab;
  lab.executor.act = [&](const Job&, const std::string&) {
    FakeExecutor other;
    const auto second =
        Runner(lab.store, lab.path, other, {.program = "wm", .cache = ""}).run(some_matrix(), [](const Progress&) {});
    EXPECT_FALSE(second.ok());
    EXPECT_THAT(second.error().to_string(), HasSubstr("another run is filling the store"));
    EXPECT_THAT(other.started, IsEmpty());
    return 1;
  };
  ASSERT_TRUE(lab.run().ok());
}

}  // namespace
}  // namespace wm::lab
