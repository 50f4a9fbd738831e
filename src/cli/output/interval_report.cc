#include "cli/output/interval_report.h"

#include <fmt/format.h>

#include "base/json.h"
#include "cli/output/table.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string percent(const std::optional<double>& part) { return part ? fmt::format("{:.0f}%", *part * 100) : ""; }

Json json_of(const std::string& name, const lab::KernelRates& k) {
  Json stalls = Json::object();
  for (std::size_t i = 0; i < sim::kStalls; ++i) stalls[std::string(lab::stall_name(i))] = k.stalls[i];
  return {{"name", name},
          {"instructions", k.instructions},
          {"ipc", k.ipc},
          {"gigabytes_per_second", k.gigabytes},
          {"l1_hit", k.l1_hit ? Json(*k.l1_hit) : Json(nullptr)},
          {"l2_hit", k.l2_hit ? Json(*k.l2_hit) : Json(nullptr)},
          {"blocks", k.resident},
          {"quota", k.quota ? Json(*k.quota) : Json(nullptr)},
          {"watts", k.watts},
          {"stalls", stalls}};
}

}  // namespace

std::string text_of(const lab::CorunResult& run, const std::vector<lab::IntervalRates>& intervals) {
  std::vector<std::string> header{"from cycle", "kernel", "IPC", "GB/s", "L1 hit", "L2 hit", "blocks", "quota", "W"};
  for (std::size_t i = 0; i < sim::kStalls; ++i) header.emplace_back(lab::stall_name(i));
  Table table(header);
  for (const lab::IntervalRates& i : intervals) {
    for (std::size_t k = 0; k < i.kernels.size(); ++k) {
      const lab::KernelRates& r = i.kernels[k];
      std::vector<Cell> row{k == 0 ? grouped(i.begin) : "",
                            Cell(run.kernels[k].name, Style::bold),
                            fmt::format("{:.1f}", r.ipc),
                            fmt::format("{:.1f}", r.gigabytes),
                            percent(r.l1_hit),
                            percent(r.l2_hit),
                            grouped(r.resident),
                            r.quota ? grouped(static_cast<std::uint64_t>(*r.quota)) : "",
                            fmt::format("{:.1f}", r.watts)};
      for (const double stall : r.stalls) row.emplace_back(percent(stall));
      table.add(std::move(row));
    }
  }
  return table.to_string() + "Columns after W: scheduler cycles without an issue, by reason, of all the chip has.\n";
}

Json json_of(const lab::CorunResult& run, const std::vector<lab::IntervalRates>& intervals) {
  Json all = Json::array();
  for (const lab::IntervalRates& i : intervals) {
    Json kernels = Json::array();
    for (std::size_t k = 0; k < i.kernels.size(); ++k) kernels.push_back(json_of(run.kernels[k].name, i.kernels[k]));
    all.push_back({{"begin", i.begin},
                   {"cycles", i.cycles},
                   {"watts", i.watts},
                   {"gigabytes_per_second", i.gigabytes},
                   {"sms_off", i.gated},
                   {"kernels", kernels}});
  }
  return all;
}

}  // namespace wm::cli
