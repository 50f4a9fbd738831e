// Tests of the Slurm executor with fake Slurm commands: which arrays it submits, which tasks it reports, cancels and
// takes over. tests/slurm/ has the test against real daemons.
#include "lab/experiment/slurm_executor.h"

#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "lab/scratch.h"

namespace wm::lab {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

// The queue of a cluster that starts no task by itself.
struct FakeSlurm {
  std::vector<std::vector<std::string>> submitted, cancelled;
  std::set<std::pair<int, std::size_t>> queued;
  std::function<void()> at_poll = [] {};

  Result<std::string> operator()(const std::vector<std::string>& words) {
    if (words[0] == "scancel") cancelled.push_back(words);
    if (words[0] == "squeue") {
      at_poll();
      return queue();
    }
    if (words[0] != "sbatch") return std::string();
    submitted.push_back(words);
    const auto number = static_cast<int>(submitted.size()) + 6;
    for (std::size_t task = 1; task <= tasks_of(words); ++task) queued.emplace(number, task);
    return fmt::format("sbatch: a warning\n{};cluster\n", number);
  }
  static std::size_t tasks_of(const std::vector<std::string>& words) {
    return std::stoul(words[2].substr(words[2].find('-', 8) + 1));  // --array=1-N%M
  }
  [[nodiscard]] std::string queue() const {
    std::string lines;
    for (const auto& [number, task] : queued) lines += fmt::format("{} {}\n", number, task);
    return lines;
  }
  // The task writes its file and leaves the queue.
  void end(std::size_t array, std::size_t task, int code) {
    const std::string file = fmt::format("{}/{}.ended", submitted[array].back(), task);
    ASSERT_TRUE(write_file(file, fmt::format("{} 7\n0m0.01s 0m0.02s\n1m2.5s 0m0.25s\n", code)).ok());
    queued.erase({static_cast<int>(array) + 7, task});
  }
};

class Slurm : public testing::Test {
 protected:
  SlurmExecutor executor(std::size_t max_array = 1000) {
    return SlurmExecutor({.folder = folder_.path("slurm"),
                          .sbatch = {"--partition=p"},
                          .at_a_time = 3,
                          .max_array = max_array,
                          .seconds_between_polls = 0.002,
                          .seconds_between_looks = 0.001},
                         [this](const std::vector<std::string>& words) { return slurm_(words); });
  }
  static void start(SlurmExecutor& executor, std::initializer_list<const char*> ids) {
    for (const char* id : ids) ASSERT_TRUE(executor.start({id, {"wm", "it's", id}, "errors"}).ok());
  }
  Scratch folder_;
  FakeSlurm slurm_;
};

std::vector<std::string> ids_of(const Result<std::vector<FinishedCell>>& finished) {
  std::vector<std::string> ids;
  for (const FinishedCell& f : *finished) ids.push_back(f.id + (f.lost ? " lost" : ""));
  return ids;
}

TEST_F(Slurm, JobsBecomeArraysOfLimitedSize) {
  auto executor = this->executor(2);
  start(executor, {"a", "b", "c"});
  slurm_.at_poll = [&] { slurm_.end(1, 1, 0); };
  EXPECT_THAT(ids_of(executor.wait()), ElementsAre("c"));
  ASSERT_EQ(slurm_.submitted.size(), 2U);
  EXPECT_EQ(slurm_.submitted[0][2], "--array=1-2%3");
  EXPECT_EQ(slurm_.submitted[1][2], "--array=1-1%3");
  EXPECT_THAT(slurm_.submitted[0], Contains("--partition=p"));
  EXPECT_EQ(
      *read_file(slurm_.submitted[0].back() + "/commands"),
      "'wm' 'it'\\''s' 'a' </dev/null >/dev/null 2>'errors'\n'wm' 'it'\\''s' 'b' </dev/null >/dev/null 2>'errors'\n");
}

TEST_F(Slurm, ATaskReportsItsExitCodeAndTimes) {
  auto executor = this->executor();
  start(executor, {"a"});
  slurm_.at_poll = [&] { slurm_.end(0, 1, 139); };
  const auto finished = executor.wait();
  ASSERT_EQ(finished->size(), 1U);
  EXPECT_EQ(finished->front().code, 139);
  EXPECT_EQ(finished->front().seconds, 7);
  EXPECT_EQ(finished->front().busy_seconds, 62.75);
  EXPECT_FALSE(finished->front().lost);
  EXPECT_FALSE(std::filesystem::exists(folder_.path("slurm"))) << "the array's folder is removed";
}

TEST_F(Slurm, ATaskThatLeavesTheQueueWithoutAFileIsLost) {
  auto executor = this->executor();
  start(executor, {"a", "b"});
  slurm_.at_poll = [&] { slurm_.queued.erase({7, 2}); };
  EXPECT_THAT(ids_of(executor.wait()), ElementsAre("b lost"));
}

TEST_F(Slurm, ATaskWhoseFileAppearsAfterItLeftTheQueueIsNotLost) {
  auto executor = this->executor();
  start(executor, {"a"});
  int polls = 0;
  slurm_.at_poll = [&] {
    slurm_.queued.clear();
    if (++polls == 2) slurm_.end(0, 1, 0);
  };
  EXPECT_THAT(ids_of(executor.wait()), ElementsAre("a"));
}

TEST_F(Slurm, TheTasksOfAnEarlierProcessContinueOrAreCancelled) {
  {
    auto killed = this->executor();
    start(killed, {"a", "b", "c"});
    slurm_.at_poll = [&] { slurm_.end(0, 1, 0); };
    EXPECT_THAT(ids_of(killed.wait()), ElementsAre("a"));
  }
  slurm_.at_poll = [] {};
  auto next = this->executor();
  ASSERT_TRUE(next.begin({"b", "d"}).ok());
  EXPECT_THAT(slurm_.cancelled, ElementsAre(ElementsAre("scancel", "7_3")));
  start(next, {"d"});
  slurm_.at_poll = [&] {
    slurm_.end(0, 2, 0);
    slurm_.end(1, 1, 0);
  };
  EXPECT_THAT(ids_of(next.wait()), ElementsAre("d")) << "b ended, and was not asked for yet";
  slurm_.at_poll = [] {};
  start(next, {"b"});
  EXPECT_THAT(ids_of(next.wait()), ElementsAre("b"));
  EXPECT_EQ(slurm_.submitted.size(), 2U) << "b was not submitted again";
}

}  // namespace
}  // namespace wm::lab
