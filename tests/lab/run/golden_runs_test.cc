// Same inputs, same bits: co-runs whose hash is written down must have it on every host, compiler and build type.
//
// golden_runs.csv holds the hashes. Where the model is changed on purpose, test_lab prints the new rows with
// WM_GOLDEN_RUNS=print in its environment. Rows are compared where the PTX is the one they were made of: another
// version of clang makes other instructions.
#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>

#include "lab/run/digest.h"
#include "lab/scratch.h"
#include "tree.h"

namespace wm::lab {
namespace {

struct Golden {
  std::string gpu;
  std::string policy;
  std::string kernels;  // NAME[*GOAL] joined by '+'
  std::string ptx;      // digest
  std::string hash;
};

std::vector<std::string> split(const std::string& text, char by) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, by);) parts.push_back(part);
  return parts;
}

std::vector<Golden> rows() {
  std::vector<Golden> all;
  std::ifstream file(source_path("tests/lab/golden_runs.csv"));
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const auto cells = split(line, ',');
    if (cells.size() >= 3)
      all.push_back({cells[0], cells[1], cells[2], cells.size() > 3 ? cells[3] : "", cells.size() > 4 ? cells[4] : ""});
  }
  return all;
}

std::vector<Participant> participants_of(const Golden& row) {
  std::vector<Participant> all;
  for (const std::string& word : split(row.kernels, '+')) {
    const auto star = word.find('*');
    all.push_back(zoo_participant(word.substr(0, star)));
    all.back().launches = 0;
    if (star != std::string::npos) all.back().goal = std::stod(word.substr(star + 1));
  }
  return all;
}

std::string ptx_digest(const std::vector<Participant>& participants) {
  Digest digest;
  for (const Participant& p : participants) digest.add(p.ptx);
  return digest.hex();
}

std::string run_hash(const Golden& row, const std::vector<Participant>& participants, std::uint32_t threads) {
  CorunOptions options;
  options.cycles = 40'000;
  options.threads = threads;
  const auto policy = policy::choose(row.policy);
  EXPECT_TRUE(policy.ok()) << row.policy;
  if (!policy.ok()) return "";
  const auto ran = corun(test_gpu(row.gpu), participants, *policy, options);
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  return ran.ok() ? fmt::format("{:016x}", ran->run_hash) : "";
}

TEST(GoldenRuns, HaveTheHashThatIsWrittenDown) {
  ASSERT_GE(rows().size(), 6U);
  const bool print = std::getenv("WM_GOLDEN_RUNS") != nullptr;
  std::size_t compared = 0;
  for (const Golden& row : rows()) {
    const auto participants = participants_of(row);
    const std::string ptx = ptx_digest(participants);
    if (print) {
      fmt::print("{},{},{},{},{}\n", row.gpu, row.policy, row.kernels, ptx, run_hash(row, participants, 1));
    } else if (ptx == row.ptx) {
      ++compared;
      EXPECT_EQ(run_hash(row, participants, 1), row.hash) << row.gpu << " " << row.policy << " " << row.kernels;
    }
  }
  if (compared == 0) GTEST_SKIP() << "the zoo's PTX is not the one of golden_runs.csv";
}

TEST(GoldenRuns, DoNotDependOnTheNumberOfThreads) {
  const Golden row = rows().front();
  const auto participants = participants_of(row);
  EXPECT_EQ(run_hash(row, participants, 2), run_hash(row, participants, 1));
}

}  // namespace
}  // namespace wm::lab
