#include "cli/output/sim_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <sys/resource.h>

#include "base/json.h"
#include "cli/output/table.h"
#include "cli/output/verification.h"
#include "lab/run/code_version.h"
#include "lab/run/metrics.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, gpu::kUnits> kUnitNames{"fp32",   "integer",    "fp64",   "sfu",
                                                          "tensor", "load_store", "branch", "multiply"};
constexpr std::array<const char*, sim::kStalls> kStallNames{"memory",  "unit",  "dependency", "fetch",
                                                            "barrier", "quota", "idle"};

Json or_null(const std::optional<bool>& value) { return value ? Json(*value) : Json(nullptr); }

// All counters, for figures about more than rates.
Json counters_of(const lab::KernelResult& k) {
  const sim::SmCounters& c = k.totals.sm;
  const sim::PartitionCounters& m = k.totals.memory;
  Json units = Json::object();
  for (std::size_t u = 0; u < gpu::kUnits; ++u) units[kUnitNames[u]] = c.unit_cycles[u];
  Json stalls = Json::object();
  for (std::size_t s = 0; s < sim::kStalls; ++s) stalls[kStallNames[s]] = c.stalls[s];
  return {{"issued", c.issued},
          {"units", units},
          {"stalls", stalls},
          {"l1_sectors", c.l1_sectors},
          {"l1_misses", c.l1_misses},
          {"texture_sectors", c.texture_sectors},
          {"texture_misses", c.texture_misses},
          {"l2_sectors", m.l2_sectors},
          {"l2_misses", m.l2_misses},
          {"l2_line_misses", m.l2_line_misses},
          {"dram_read_sectors", m.dram_read_sectors},
          {"dram_write_sectors", m.dram_write_sectors},
          {"dram_accesses", m.dram_accesses},
          {"dram_activates", m.dram_activates}};
}

Json held_of(const lab::CorunResult& r) {
  const lab::Held h = r.residency.held();
  return {{"threads", h.threads},
          {"registers", h.registers},
          {"shared_memory", h.shared_memory},
          {"gated", h.gated},
          {"together", h.together},
          {"partition", r.residency.partition()},
          {"note_cycles", lab::Residency::kNote},
          {"owned", r.residency.owned()},
          {"off", r.residency.off()}};
}

Json json_of(const lab::KernelResult& k, std::size_t client) {
  Json kernel{{"name", k.name},
              {"client", client},
              {"instructions", k.totals.sm.thread_instructions},
              {"warp_instructions", k.totals.sm.warp_instructions},
              {"cycles", k.totals.cycles},
              {"ipc", k.ipc},
              {"ipc_alone", k.isolated_ipc},
              {"normalized", k.normalized()},
              {"goal", k.goal ? Json(*k.goal) : Json(nullptr)},
              {"reached", or_null(k.reached())},
              {"blocks_done", k.totals.blocks},
              {"launches_done", k.totals.launches},
              {"runs_done", k.runs},
              {"starved", k.starved},
              {"preemptions", k.totals.preemptions},
              {"joules", k.joules},
              {"counters", counters_of(k)},
              {"verified", or_null(k.verified)}};
  if (!k.mismatch.empty()) kernel["mismatch"] = k.mismatch;
  if (!k.printed.empty()) kernel["printed"] = k.printed;
  return kernel;
}

Cell yes_or_no(const std::optional<bool>& value) {
  if (!value) return "";
  return *value ? Cell("yes", Style::good) : Cell("no", Style::bad);
}

}  // namespace

std::string text_of(const lab::CorunResult& r, Verification verification) {
  Table table({"kernel", "cycles", "IPC", "isolated IPC", "normalized", "goal IPC", "reached", "blocks done",
               "blocks preempted", "L1 miss", "verified"});
  for (const lab::KernelResult& k : r.kernels) {
    const sim::SmCounters& c = k.totals.sm;
    const double miss = c.l1_sectors == 0 ? 0 : static_cast<double>(c.l1_misses) / static_cast<double>(c.l1_sectors);
    table.add({Cell(k.name, Style::bold), grouped(k.totals.cycles), fmt::format("{:.1f}", k.ipc),
               k.isolated_ipc > 0 ? fmt::format("{:.1f}", k.isolated_ipc) : "",
               k.isolated_ipc > 0 ? fmt::format("{:.3f}", k.normalized()) : "",
               k.goal ? fmt::format("{:.1f}", *k.goal) : "", yes_or_no(k.reached()), grouped(k.totals.blocks),
               grouped(k.totals.preemptions), fmt::format("{:.0f}%", miss * 100), yes_or_no(k.verified)});
  }
  std::string text = fmt::format("{} under {}, {} cycles\n\n{}", r.gpu, r.policy, grouped(r.cycles), table.to_string());
  const lab::Metrics m = lab::metrics_of(r);
  if (m.known)
    text += fmt::format("\nSTP {:.3f}   ANTT {}   fairness {:.3f}   IPC {:.1f}", m.stp,
                        std::isinf(m.antt) ? "∞" : fmt::format("{:.3f}", m.antt), m.fairness, m.ipc);
  text += fmt::format("\n{:.1f} W, {:.3g} J; {} warp instructions in {} ({}/s)\n", r.watts, r.joules,
                      scaled(static_cast<double>(lab::warp_instructions(r))), duration(r.seconds),
                      scaled(static_cast<double>(lab::warp_instructions(r)) / std::max(1e-9, r.seconds)));
  for (const lab::KernelResult& k : r.kernels)
    if (k.totals.sm.thread_instructions == 0)
      text +=
          styled(Style::dim, fmt::format("{} executed nothing: the policy gave it no SM in this time.", k.name)) + "\n";
  for (const lab::KernelResult& k : r.kernels)
    if (k.starved > 0 && k.totals.sm.thread_instructions != 0)
      text += styled(Style::dim, fmt::format("{} had less than 5% of its isolated rate in {:.0f}% of the run.", k.name,
                                             100 * k.starved)) +
              "\n";
  return text + (verification == Verification::by_reference ? verification_note(r) : "") + note_of_spans(r);
}

std::string note_of_spans(const lab::CorunResult& r) {
  const bool ended = std::any_of(r.kernels.begin(), r.kernels.end(), [&](const lab::KernelResult& k) {
    return k.totals.finished && k.totals.cycles < r.cycles;
  });
  if (!ended || r.kernels.size() < 2) return {};
  return styled(Style::dim,
                "Kernels ended at different times: each rate is over the kernel's own time. Without --once and "
                "launches=N all repeat to the end of the run.") +
         "\n";
}

std::string note_of_length(std::size_t kernels) {
  return styled(Style::dim, fmt::format("Kernels repeat to the end of the run, which is {} times the longest isolated "
                                        "run; --cycles N sets its length, --once runs each kernel once.",
                                        kernels)) +
         "\n";
}

std::string printed_by(const lab::CorunResult& r) {
  std::string text;
  for (const lab::KernelResult& k : r.kernels) {
    if (k.printed.empty()) continue;
    if (r.kernels.size() > 1) text += k.name + " printed:\n";
    text += k.printed;
    if (text.back() != '\n') text += '\n';
  }
  return text;
}

Json json_of(const lab::CorunResult& r) {
  Json kernels = Json::array();
  for (std::size_t i = 0; i < r.kernels.size(); ++i) kernels.push_back(json_of(r.kernels[i], i));
  const lab::Metrics m = lab::metrics_of(r);
  const Json metrics = {{"stp", m.stp},
                        {"antt", m.antt},
                        {"fairness", m.fairness},
                        {"unfairness", m.unfairness},
                        {"worst_ntt", m.worst_ntt},
                        {"ipc", m.ipc}};
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double seconds = std::max(1e-9, r.seconds);
  return {{"schema", 1},
          {"gpu", r.gpu},
          {"machine", "cycle"},
          {"sms", r.sms},
          {"schedulers", r.schedulers},
          {"code_version", lab::code_version(r.policy.substr(0, r.policy.find(':')))},
          {"policy", r.policy.substr(0, r.policy.find(':'))},
          {"parameters", r.policy},
          {"cycles", r.cycles},
          {"measured_from", r.measured_from},
          {"seed", r.seed},
          {"run_hash", fmt::format("{:016x}", r.run_hash)},
          {"kernels", kernels},
          {"metrics", metrics},
          {"held", held_of(r)},
          {"power",
           {{"watts", r.watts},
            {"joules", r.joules},
            {"static_joules", r.static_joules},
            {"dynamic_watts", r.joules > 0 ? r.watts * (r.joules - r.static_joules) / r.joules : 0},
            {"instructions_per_joule", r.instructions_per_joule}}},
          {"host",
           {{"seconds", r.seconds},
            {"warp_instructions_per_second", static_cast<double>(lab::warp_instructions(r)) / seconds},
            {"gpu_cycles_per_second", static_cast<double>(r.cycles) / seconds},
            {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024},
            {"threads", r.threads},
            {"alone_runs", r.isolated_runs}}}};
}

}  // namespace wm::cli
