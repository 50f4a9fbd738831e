#include "sim/cycle/golden_run.h"

#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>

#include "policy/record.h"
#include "policy/recorded_policy.h"

namespace wm::sim {

namespace {

constexpr std::uint32_t kWords = 1U << 18;

std::string counters_text(const ClientTotals& t) {
  const SmCounters& s = t.sm;
  const PartitionCounters& m = t.memory;
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} | {} {} {} {} {} {} {} | {} {} {} {}\n",
                     s.warp_instructions, s.thread_instructions, s.issued, s.unit_lanes, s.unit_cycles, s.stalls,
                     s.register_lanes, s.shared_lanes, s.shared_conflict_cycles, s.l1_sectors, s.l1_misses,
                     s.texture_sectors, s.texture_misses, s.requests, s.l2_misses, s.noc_flits, s.blocks_done,
                     s.lsu_blocked_cycles, s.idle_warp_samples, m.l2_sectors, m.l2_misses, m.dram_read_sectors,
                     m.dram_write_sectors, m.dram_accesses, m.dram_activates, m.atomics, t.cycles, t.blocks, t.launches,
                     t.preemptions);
}

std::string digest(const std::string& text) {  // FNV-1a
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace

ClientSpec golden_client(const std::string& name, const std::string& body, std::uint32_t blocks,
                         std::uint32_t launches) {
  auto application = std::make_shared<gpu::Application>();
  std::vector<std::uint32_t> words(kWords);
  for (std::uint32_t i = 0; i < kWords; ++i) words[i] = i * 2654435761U >> 5;
  const gpu::BufferId data = application->add("data", words);
  application->upload(data);
  application->launch(
      {.kernel = "k", .grid = {blocks}, .block = {96}, .arguments = {gpu::buffer(data)}, .dynamic_shared_bytes = 0});
  ClientSpec spec;
  spec.name = name;
  spec.module = std::make_shared<ptx::Module>(*ptx::parse(kernel_text(body), name));
  spec.application = application;
  spec.launches = launches;
  return spec;
}

std::string outcome(CycleMachine& machine, const std::string& policy_text, std::uint64_t cycles) {
  policy::test::RecordedPolicy policy(machine, *policy::choose(policy_text), "cycle");
  const auto ran = machine.run(policy, {.cycles = cycles, .instructions = {}});
  EXPECT_TRUE(ran.ok()) << (ran.ok() ? "" : ran.error().to_string());
  std::string text = policy.record().everything();
  for (std::uint32_t i = 0; i < machine.clients(); ++i) text += counters_text(machine.totals(i));
  return fmt::format("{},{}", machine.now().count, digest(text));
}

void expect_golden(const std::string& name, const std::string& row) {
  if (std::getenv("WM_GOLDEN_TIMING") != nullptr) fmt::print("{},{}\n", name, row);
  std::map<std::string, std::string> rows;
  std::ifstream file(source_path("tests/sim/cycle/golden_timing.csv"));
  for (std::string line; std::getline(file, line);) {
    const auto comma = line.find(',');
    if (!line.starts_with('#') && comma != std::string::npos) rows[line.substr(0, comma)] = line.substr(comma + 1);
  }
  const auto expected = rows.find(name);
  EXPECT_EQ(row, expected == rows.end() ? "no row" : expected->second) << name << ": cycles, and the counters' digest";
}

}  // namespace wm::sim
