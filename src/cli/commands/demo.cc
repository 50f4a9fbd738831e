// wm demo: the two-minute tour. Two real kernels, isolated and together on a simulated GPU, under several policies.
#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <memory>

#include "base/json.h"
#include "cli/commands/check.h"
#include "cli/commands/command.h"
#include "cli/input/data_folder.h"
#include "cli/input/large_pages.h"
#include "cli/input/participant.h"
#include "cli/output/compare_report.h"
#include "cli/output/output.h"
#include "cli/output/page_document.h"
#include "cli/output/run_progress.h"
#include "cli/output/verification.h"
#include "gpu/load_gpu.h"
#include "lab/report/page.h"

namespace wm::cli {
namespace {

// A memory-bound kernel that arrives first, and a compute-bound kernel with a goal.
constexpr const char* kGpu = "qos16";
const std::vector<std::string> kKernels{"lbm", "dxt"};
constexpr double kGoal = 0.8;
// Policies that serve the first kernel first, then those that divide evenly, then those that know goals.
const std::vector<std::string> kPolicies{"left_over", "spatial", "smk",   "warped_slicer",
                                         "dss",       "spart",   "smqos", "quota"};

struct DemoOptions {
  std::string json;
  std::string html = "wm-demo.html";
  std::uint64_t cycles = 150'000;
  std::string cache = lab::IsolatedCache::default_folder();
};

std::string heading(int number, const std::string& text) {
  return styled(Style::bold, fmt::format("{}  {}", number, text)) + "\n";
}

// Checks the results of the kernels before anything is timed.
Result<bool> show_kernels(const Output& output) {
  const auto subjects = find_subjects(kKernels, PtxOrigin());
  if (!subjects) return subjects.error();
  const std::vector<Checked> checked = check(*subjects, {});
  output.say(heading(1, "Two real kernels, compiled from OpenCL C to PTX"));
  for (std::size_t i = 0; i < checked.size(); ++i) {
    const Checked& c = checked[i];
    output.say(fmt::format("   {}  {}\n            {} warp instructions, {}\n",
                           styled(style_of_kernel(i), fmt::format("{:<7}", c.name)), c.about,
                           grouped(c.warp_instructions),
                           c.passed ? styled(Style::good, "output equal to the CPU's") : styled(Style::bad, c.detail)));
  }
  return all_passed(checked);
}

Result<std::vector<lab::Participant>> participants() {
  std::vector<lab::Participant> all;
  for (const std::string& name : kKernels) {
    auto p = parse_participant(name + ":launches=0", zoo::Size::medium, PtxOrigin());
    if (!p) return p.error();
    all.push_back(*std::move(p));
  }
  all[1].goal = kGoal;
  return all;
}

// Summarises the table in one sentence.
std::string moral(const lab::Comparison& all) {
  const auto met = std::count_if(all.runs.begin(), all.runs.end(),
                                 [](const lab::ComparedRun& r) { return lab::metrics_of(r.result).reached != 0; });
  std::string text = fmt::format("   {} of {} policies keep {} at its goal", met, all.runs.size(), kKernels[1]);
  const lab::CorunResult& first = all.runs.front().result;
  if (met != 0)
    text +=
        fmt::format("; the first of them, {}, leaves {} {:.0f}% of its own speed",
                    first.policy.substr(0, first.policy.find(':')), kKernels[0], first.kernels[0].normalized() * 100);
  return text + ".\n";
}

void show_next(const Output& output, const std::string& page) {
  output.say(heading(4, "Next"));
  if (!page.empty()) output.say(fmt::format("   open {:<52} every run over time: SMs, rates, quotas, power\n", page));
  output.say(
      "   wm compare --kernel sgemm:goal=0.8 --kernel stencil --cycles 100000 --html my.html\n"
      "                                                             your own pair, under every policy that fits\n"
      "   wm sim --kernel sgemm --kernel lbm --policy even --cycles 50000 --trace run.pftrace\n"
      "                                                             one run, block by block, for ui.perfetto.dev\n"
      "   wm policies quota                                         what a policy does, and its parameters\n"
      "   wm kernels, wm gpus                                       what else there is; each takes a file of your "
      "own\n");
}

Result<int> run_demo(const DemoOptions& o) {
  use_large_pages();
  const auto start = std::chrono::steady_clock::now();
  const Output output(o.json);
  const auto gpu = gpu::load_gpu(kGpu, gpu_folder());
  if (!gpu) return gpu.error();
  const auto kernels = participants();
  if (!kernels) return kernels.error();
  output.say("\n" + styled(Style::bold, "warpmux") + ": one GPU, many kernels, and how much of it each one gets\n\n");
  const auto right = show_kernels(output);
  if (!right) return right.error();
  output.say("\n" + heading(2, fmt::format("Together on {}: {} SMs at {} MHz, every warp instruction in time",
                                           gpu->name, gpu->sm.count, gpu->sm.clock_mhz)));
  output.say(fmt::format(
      "   {} must keep {:.0f}% of its isolated rate; {}, which arrived first, gets the rest. {} cycles each.\n\n",
      kKernels[1], kGoal * 100, kKernels[0], grouped(o.cycles)));
  lab::CorunOptions options;
  options.cycles = o.cycles;
  options.cache = lab::IsolatedCache(o.cache);
  const auto policies = lab::policies_for(kPolicies, *kernels);
  if (!policies) return policies.error();
  const auto compared = with_progress(kKernels.size() + kPolicies.size(), options,
                                      [&] { return lab::compare(*gpu, *kernels, *policies, options, kPageInterval); });
  if (!compared) return compared.error();
  output.say(cli::text_of(*compared) + "\n");
  if (!compared->runs.empty()) output.say(moral(*compared));

  output.say("\n" + heading(3, fmt::format("Looked into, in {}", duration(seconds_since(start)))));
  const Page page{
      .title = "Two kernels on one GPU",
      .about = fmt::format("{} must keep {:.0f}% of its isolated rate; {} takes the rest. The same {} cycles "
                           "under {} policies, each warp instruction simulated.",
                           kKernels[1], kGoal * 100, kKernels[0], grouped(o.cycles), compared->runs.size()),
      .command = o.cycles == DemoOptions{}.cycles ? "wm demo" : fmt::format("wm demo --cycles {}", o.cycles)};
  const auto written = lab::write_page(o.html, document_of(page, *gpu, *compared));
  output.say(written ? fmt::format("   {} is written; it needs no network.\n\n", o.html)
                     : fmt::format("   no page: {}\n\n", written.error().to_string()));
  show_next(output, written ? o.html : "");
  if (!o.json.empty())
    if (auto done = output.document(cli::json_of(*compared)); !done) return done.error();
  return report_wrong_outputs(*compared) || !*right || compared->runs.empty() ? 1 : 0;
}

}  // namespace

void add_demo(const Command& wm) {
  auto o = std::make_shared<DemoOptions>();
  const Command demo =
      wm.add("demo", "The two-minute tour: two real kernels share a GPU under several policies", "wm demo");
  demo.option("--html", o->html, "Where the page goes", {.show_default = true, .type = "FILE", .output = true});
  demo.option("--cycles", o->cycles, "Length of each run", {.show_default = true, .low = 1000, .high = 1e9});
  demo.option("--cache", o->cache, "Where isolated rates are kept; \"\": nowhere",
              {.show_default = true, .type = "FOLDER"});
  demo.json(o->json);
  demo.run([o] { return run_demo(*o); });
}

}  // namespace wm::cli
