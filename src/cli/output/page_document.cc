#include "cli/output/page_document.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

#include "base/json.h"
#include "cli/output/block_report.h"
#include "cli/output/sim_report.h"
#include "lab/report/timeline_document.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

// The policy's name, with its parameters where several runs have the same policy.
std::string label_of(const lab::Comparison& all, const lab::CorunResult& run) {
  const auto name = [](const lab::CorunResult& r) { return r.policy.substr(0, r.policy.find(':')); };
  const auto same = std::count_if(all.runs.begin(), all.runs.end(),
                                  [&](const lab::ComparedRun& r) { return name(r.result) == name(run); });
  return same > 1 ? run.policy : name(run);
}

Json document_of(const Page& page, Json runs) {
  Json document = {{"schema", 1}, {"title", page.title}, {"about", page.about}, {"runs", std::move(runs)}};
  if (!page.command.empty()) document["command"] = page.command;
  return document;
}

}  // namespace

Json document_of(const Page& page, const gpu::GpuConfig& gpu, const lab::Comparison& all) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < all.runs.size(); ++i) {
    const lab::CorunResult& result = all.runs[i].result;
    std::string workload;
    for (const lab::KernelResult& k : result.kernels) workload += (workload.empty() ? "" : " + ") + k.name;
    Json run = {
        {"id", fmt::format("{}-{}", i, result.policy)}, {"workload", workload}, {"label", label_of(all, result)}};
    run.update(json_of(result));
    run.erase("host");  // differs in every run and does not interest a reader
    if (all.runs[i].timeline) run["timeline"] = lab::timeline_document(gpu, result, *all.runs[i].timeline);
    runs.push_back(std::move(run));
  }
  return document_of(page, std::move(runs));
}

Json document_of(const Page& page, const lab::BlockRunResult& run, const Json& timeline) {
  std::string workload;
  for (const lab::BlockProcessResult& p : run.processes) workload += (workload.empty() ? "" : " + ") + p.name;
  Json shown = {{"id", "0-" + run.policy}, {"workload", workload}, {"label", run.policy}};
  shown.update(json_of(run));
  shown.erase("host");
  shown["timeline"] = timeline;
  return document_of(page, Json::array({std::move(shown)}));
}

}  // namespace wm::cli
