// wm sim: kernels together on a simulated GPU under one policy.
#include <fmt/format.h>
#include <memory>
#include <sys/resource.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/data_folder.h"
#include "cli/interval_report.h"
#include "cli/large_pages.h"
#include "cli/output.h"
#include "cli/page_document.h"
#include "cli/participant.h"
#include "cli/run_progress.h"
#include "cli/sim_report.h"
#include "cli/subject.h"
#include "gpu/load_gpu.h"
#include "lab/timeline_document.h"
#include "lab/trace.h"

namespace wm::cli {
namespace {

struct SimOptions {
  std::string gpu = "qos16";
  std::vector<std::string> kernels;
  std::string policy = "left_over";
  std::string machine = "cycle";
  std::string size = "medium";
  std::string json;
  std::string trace;
  bool stats = false;
  bool alone = false;
  bool timeline = false;
  std::uint64_t interval = 10'000;
  std::string cache = lab::AloneCache::default_folder();
  lab::CorunOptions run;
};

// Rates alone, into the cache: what co-runs will ask for.
Result<int> run_alone(const SimOptions& o, const gpu::GpuConfig& gpu,
                      const std::vector<lab::Participant>& participants) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  const Output output(o.json);
  const auto rates = lab::measure_alone(gpu, participants, o.run);
  if (!rates) return rates.error();
  for (std::size_t i = 0; i < participants.size(); ++i) {
    const lab::Alone& a = (*rates)[i];
    output.say(fmt::format("{} alone on {}: {:.1f} IPC\n", participants[i].name, gpu.name, a.ipc()));
    items.push_back(
        {{"name", participants[i].name}, {"ipc", a.ipc()}, {"instructions", a.instructions}, {"cycles", a.cycles}});
  }
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

Result<int> run(SimOptions o) {
  use_large_pages();
  o.run.cache = lab::AloneCache(o.cache);
  if (o.machine != "cycle") return Error{fmt::format("no machine '{}'; there is 'cycle'", o.machine)};
  const auto gpu = gpu::load_gpu(o.gpu, gpu_folder());
  if (!gpu) return gpu.error();
  const auto policy = policy::choose(o.policy);
  if (!policy) return policy.error();
  const auto size = parse_size(o.size);
  if (!size) return size.error();
  std::vector<lab::Participant> participants;
  for (const std::string& word : o.kernels) {
    auto p = parse_participant(word, *size, PtxOrigin{});
    if (!p) return p.error();
    participants.push_back(*std::move(p));
  }
  if (o.alone) return run_alone(o, *gpu, participants);
  sim::Timeline timeline(o.timeline ? kPageInterval : o.interval);
  if (o.stats || o.timeline || !o.trace.empty()) o.run.timeline = &timeline;
  const auto result =
      with_progress(participants.size() + 1, o.run, [&] { return lab::corun(*gpu, participants, *policy, o.run); });
  if (!result) return result.error();
  if (!o.trace.empty()) {
    const auto trace = lab::perfetto_trace(*gpu, *result, timeline);
    if (!trace) return trace.error();
    if (auto written = write_file(o.trace, *trace); !written) return written.error();
  }
  const Output output(o.json);
  const auto intervals = o.stats ? lab::rates_of(*gpu, timeline) : std::vector<lab::IntervalRates>{};
  if (o.stats) output.say(cli::text_of(*result, intervals) + "\n");
  output.say(cli::text_of(*result));
  if (!o.json.empty()) {
    auto document = cli::json_of(*result);
    if (o.stats) document["intervals"] = cli::json_of(*result, intervals);
    if (o.timeline) document["timeline"] = lab::timeline_document(*gpu, *result, timeline);
    if (auto done = output.document(document); !done) return done.error();
  }
  const bool wrong = std::any_of(result->kernels.begin(), result->kernels.end(),
                                 [](const lab::KernelResult& k) { return k.verified == false; });
  return wrong ? 1 : 0;
}

}  // namespace

void add_sim(const Command& wm) {
  auto o = std::make_shared<SimOptions>();
  const Command sim = wm.add(
      "sim", "Kernels together on a simulated GPU, under a policy",
      "wm sim --gpu qos16 --kernel sgemm --kernel lbm --policy spatial\n"
      "wm sim --gpu qos16 --kernel sgemm:goal=0.8:launches=0 --kernel lbm:launches=0 --policy quota --cycles 200000");
  sim.option("--gpu", o->gpu, "A GPU by name, or a YAML file", {.show_default = true});
  sim.option("--kernel", o->kernels,
             "NAME[:goal=0.9 | :ipc=N | :time=2ms | :rate=N a "
             "second][:priority=1][:share=1][:size=medium][:arrive=CYCLE][:launches=N][:blocks=N an SM]; repeat it",
             {.required = true});
  sim.option("--policy", o->policy, "NAME[:parameter=value]…", {.show_default = true});
  sim.option("--machine", o->machine, "cycle", {.show_default = true});
  sim.option("--size", o->size, "Of kernels that name none: small, medium, large", {.show_default = true});
  sim.option("--cycles", o->run.cycles, "Stop there; kernels start again when they end before (0: run to the end)");
  sim.flag("--match-instructions", o->run.match_instructions,
           "Each kernel stops at the instructions it executed alone in --cycles");
  sim.option("--threads", o->run.threads, "Of the host; the result is the same for any number",
             {.show_default = true, .low = 1, .high = 64});
  sim.option("--seed", o->run.seed, "Of the policy's random numbers", {.show_default = true});
  sim.flag("--timeline", o->timeline, "Put a timeline into the JSON, as pages show it");
  sim.flag("--alone", o->alone, "Only measure what each kernel does by itself, into the cache");
  sim.option("--cache", o->cache, "Where rates alone are kept; \"\": nowhere",
             {.show_default = true, .type = "FOLDER"});
  sim.option("--trace", o->trace, "Write a timeline that ui.perfetto.dev opens", {.type = "FILE"});
  sim.flag("--stats", o->stats, "What each kernel did in every interval; in JSON as 'intervals'");
  sim.option("--interval", o->interval, "Of --stats and of the curves of --trace, in cycles",
             {.show_default = true, .low = 1, .high = 1e12});
  sim.json(o->json);
  sim.run([=] { return run(*o); });
}

}  // namespace wm::cli
