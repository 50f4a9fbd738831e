// Same events, same decisions: what every policy decides for random workloads is written down as a digest of its log.
//
// golden_decisions.csv holds the digests. Where a policy is changed on purpose, test_policy prints its new rows with
// WM_GOLDEN_DECISIONS=print in its environment; rows of other policies must stay.
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "policy/contract_suite.h"
#include "policy/random_workload.h"
#include "tree.h"

namespace wm::policy::test {
namespace {

constexpr std::uint64_t kWorkloads = 8;

// Parameters that are lengths of time take lengths that pass often in a workload.
std::string with_short_times(const std::string& policy) {
  const Choice choice = *choose(policy);
  std::string text = policy;
  std::uint32_t number = 0;
  for (const Parameter& p : choice.entry->info.parameters) {
    const bool is_time = p.kind == Parameter::Kind::integer && p.range.high >= 1'000'000;
    if (is_time) text += fmt::format(":{}={}", p.name, std::max(p.range.low, 400.0 * ++number));
  }
  return text;
}

std::vector<std::string> policies() {
  std::vector<std::string> all;
  for (const Contract& c : contracts(nullptr)) {
    all.push_back(c.policy);
    if (const std::string quick = with_short_times(c.policy); quick != c.policy) all.push_back(quick);
  }
  return all;
}

std::uint64_t digest(std::uint64_t digest, const std::string& text) {  // FNV-1a
  for (const char c : text) digest = (digest ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return digest;
}

std::string decisions(const std::string& policy) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  std::size_t lines = 0;
  for (std::uint64_t seed = 1; seed <= kWorkloads; ++seed) {
    RandomWorkload workload(seed);
    FakeMachine gpu(workload.machine());
    workload.drive(gpu, policy);
    hash = digest(hash, gpu.recorder().everything());
    lines += gpu.recorder().lines();
  }
  return fmt::format("{},{:016x}", lines, hash);
}

std::map<std::string, std::string> golden() {
  std::map<std::string, std::string> rows;
  std::ifstream file(source_path("tests/policy/golden_decisions.csv"));
  for (std::string line; std::getline(file, line);) {
    const auto comma = line.find(',');
    if (!line.starts_with('#') && comma != std::string::npos) rows[line.substr(0, comma)] = line.substr(comma + 1);
  }
  return rows;
}

class GoldenDecisions : public testing::TestWithParam<std::string> {};

TEST_P(GoldenDecisions, AreAsWrittenDown) {
  const std::string decided = decisions(GetParam());
  if (std::getenv("WM_GOLDEN_DECISIONS") != nullptr) fmt::print("{},{}\n", GetParam(), decided);
  const auto rows = golden();
  const auto row = rows.find(GetParam());
  EXPECT_EQ(decided, row == rows.end() ? "no row" : row->second) << "lines of the log, and their digest";
}

INSTANTIATE_TEST_SUITE_P(Fake, GoldenDecisions, testing::ValuesIn(policies()), [](const auto& info) {
  std::string name = info.param;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace
}  // namespace wm::policy::test
