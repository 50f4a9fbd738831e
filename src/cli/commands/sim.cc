// wm sim: kernels together on a simulated GPU under one policy.
#include <fmt/format.h>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands/buffer_dump.h"
#include "cli/commands/command.h"
#include "cli/commands/sim_block.h"
#include "cli/commands/sim_cluster.h"
#include "cli/input/large_pages.h"
#include "cli/input/run_options.h"
#include "cli/output/interval_report.h"
#include "cli/output/output.h"
#include "cli/output/page_document.h"
#include "cli/output/run_progress.h"
#include "cli/output/sim_report.h"
#include "cli/output/verification.h"
#include "gpu/description.h"
#include "lab/report/page.h"
#include "lab/report/timeline_document.h"
#include "lab/report/trace.h"
#include "lab/run/compare.h"

namespace wm::cli {
namespace {

struct SimOptions {
  RunOptions run;
  ClusterOptions cluster;
  std::string policy = "left_over";
  std::string spec;  // the file of a RunSpec, in place of the options that describe a run
  std::string json;
  std::string trace;
  std::string decisions;
  std::string html;
  std::vector<std::string> dumps;
  bool stats = false;
  bool isolated = false;
  bool timeline = false;
  std::uint64_t interval = 10'000;
};

Result<lab::RunSpec> spec_of(const SimOptions& o) {
  if (!o.spec.empty()) return read_spec(o.spec);
  if (o.run.kernels.empty() && o.run.apps.empty()) return Error{"--kernel or --app is required"};
  auto spec = o.run.without_policy();
  if (!spec) return spec.error();
  // The registry reads the policy first: its messages suggest names.
  if (auto known = policy::choose(o.policy); !known) return known.error();
  auto policy = lab::PolicySpec::parse(o.policy);
  if (!policy) return policy.error();
  spec->policy = *std::move(policy);
  return spec;
}

// Measures isolated rates into the cache, where co-runs will find them.
Result<int> run_isolated(const std::string& json, const LoadedRun& run, const lab::CorunOptions& options) {
  nlohmann::ordered_json items = nlohmann::ordered_json::array();
  const Output output(json);
  const auto rates = lab::measure_isolated(run.gpu, run.participants, options);
  if (!rates) return rates.error();
  for (std::size_t i = 0; i < run.participants.size(); ++i) {
    const lab::IsolatedRate& rate = (*rates)[i];
    const std::string& name = run.participants[i].name;
    output.say(fmt::format("{} isolated on {}: {:.1f} IPC\n", name, run.gpu.name, rate.ipc()));
    items.push_back(
        {{"name", name}, {"ipc", rate.ipc()}, {"instructions", rate.instructions}, {"cycles", rate.cycles}});
  }
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

// The buffers that --dump names; these are the buffers of the run's only kernel.
Result<std::vector<ChosenDump>> dumps_of(const SimOptions& o, const LoadedRun& run) {
  if (o.dumps.empty()) return std::vector<ChosenDump>{};
  if (run.participants.size() != 1) return Error{"--dump needs a run of one kernel"};
  const lab::Participant& p = run.participants[0];
  if (p.launches == 0) return Error{"--dump needs a kernel that ends: leave out --cycles, or give --once"};
  std::vector<gpu::Element> elements(p.application->buffers.size(), gpu::Element::u32);
  if (gpu::is_description(p.name)) {
    const auto description = gpu::read_description(p.name);
    if (!description) return description.error();
    elements = description->elements;
  }
  return choose_dumps(o.dumps, p.application->buffers, elements);
}

// Options that the chosen machine would ignore are mistakes.
Result<void> check_machine(const SimOptions& o, const lab::RunSpec& spec) {
  const ClusterOptions none;
  if (spec.machine != "block" && spec.runs != 0) return Error{"--runs needs --machine block"};
  if (o.cluster.gpus == 0 &&
      (o.cluster.seconds != none.seconds || o.cluster.placement != none.placement || o.cluster.limit != none.limit))
    return Error{"--seconds, --placement and --limit need --gpus"};
  if (o.cluster.gpus == 0 && spec.machine == "block" && (o.stats || o.isolated || !o.dumps.empty()))
    return Error{"--stats, --isolated and --dump need the cycle machine, which executes instructions"};
  if (o.cluster.gpus == 0) return {};
  if (spec.runs != 0 || spec.cycles != 0 || o.run.once)
    return Error{"--gpus takes no --runs, --cycles or --once: a cluster runs for --seconds"};
  if (o.stats || o.isolated || o.timeline || !o.trace.empty() || !o.decisions.empty() || !o.html.empty() ||
      !o.dumps.empty())
    return Error{"--gpus shows requests, not kernels: of a run's outputs it has the table and --json"};
  return {};
}

Result<int> run_sim(const SimOptions& o) {
  use_large_pages();
  auto spec = spec_of(o);
  if (!spec) return spec.error();
  if (auto fits = check_machine(o, *spec); !fits) return fits.error();
  if (spec->machine == "block" && (spec->warm != 0 || spec->from != 0))
    return Error{"--warm and --from need the cycle machine"};
  if (o.cluster.gpus != 0 && spec->machine != "block") return Error{"--gpus needs --machine block"};
  if (o.cluster.gpus != 0) {
    ClusterOptions cluster = o.cluster;
    cluster.json = o.json;
    return run_cluster(*spec, cluster);
  }
  if (spec->machine == "block")
    return run_block(*std::move(spec), {.json = o.json,
                                        .trace = o.trace,
                                        .html = o.html,
                                        .timeline = o.timeline,
                                        .decisions = o.decisions,
                                        .run = &o.run,
                                        .is_cell = !o.spec.empty()});
  if (spec->machine != "cycle")
    return Error{fmt::format("no machine '{}'; there are 'cycle' and 'block'", spec->machine)};
  if (std::any_of(spec->kernels.begin(), spec->kernels.end(), [](const auto& k) { return k.application; }))
    return Error{"applications run on the block machine: --machine block"};
  const auto policy = policy::choose(spec->policy.to_string());
  if (!policy) return policy.error();
  const auto run = load_run(*spec);
  if (!run) return run.error();
  lab::CorunOptions options = o.run.corun_options(*spec);
  if (o.isolated) {
    if (auto chosen = choose_length(*spec, *run, options); !chosen) return chosen.error();
    return run_isolated(o.json, *run, options);
  }
  std::string decisions;
  if (!o.decisions.empty()) options.decisions = &decisions;
  const auto dumps = dumps_of(o, *run);
  if (!dumps) return dumps.error();
  options.keep_buffers = !dumps->empty();
  lab::ComparedRun made;
  const bool for_page = o.timeline || !o.html.empty();
  made.timeline = std::make_unique<sim::Timeline>(for_page ? kPageInterval : o.interval);
  const sim::Timeline& timeline = *made.timeline;
  if (o.stats || for_page || !o.trace.empty()) options.timeline = made.timeline.get();
  bool length_chosen = false;
  const auto run_it = [&]() -> Result<lab::CorunResult> {
    if (o.spec.empty()) {  // a cell has the length that its experiment gives
      const auto chosen = choose_length(*spec, *run, options);
      if (!chosen) return chosen.error();
      length_chosen = *chosen;
    }
    return lab::corun(run->gpu, run->participants, *policy, options);
  };
  // A process that runs a cell reports no progress: its messages are stored where the cell fails.
  auto ran = o.spec.empty() ? with_progress(2 * run->participants.size() + 1, options, run_it) : run_it();
  if (!ran) return ran.error();
  made.result = *std::move(ran);
  const lab::CorunResult* result = &made.result;
  if (!o.decisions.empty())
    if (auto written = write_file(o.decisions, decisions); !written) return written.error();
  if (!o.trace.empty()) {
    const auto trace = lab::perfetto_trace(run->gpu, *result, timeline);
    if (!trace) return trace.error();
    if (auto written = write_file(o.trace, *trace); !written) return written.error();
  }
  const Output output(o.json);
  output.say(cli::printed_by(*result));
  const auto intervals = o.stats ? lab::rates_of(run->gpu, timeline) : std::vector<lab::IntervalRates>{};
  if (o.stats) output.say(cli::text_of(*result, intervals) + "\n");
  output.say(cli::text_of(*result));
  if (length_chosen) output.say(note_of_length(run->participants.size()));
  nlohmann::ordered_json dumped;
  if (!dumps->empty() && result->kernels[0].buffers.empty()) return Error{"--dump: the kernel did not end in --cycles"};
  if (auto done = write_dumps(*dumps, result->kernels[0].buffers, output, dumped); !done) return done.error();
  if (!o.json.empty()) {
    auto document = cli::json_of(*result);
    if (!dumped.is_null()) document["kernels"][0].update(dumped);
    if (o.stats) document["intervals"] = cli::json_of(*result, intervals);
    if (o.timeline) document["timeline"] = lab::timeline_document(run->gpu, *result, timeline);
    if (auto done = output.document(document); !done) return done.error();
  }
  const bool wrong = report_wrong_outputs(*result);
  if (!o.html.empty()) {
    std::string title;
    for (const lab::KernelResult& k : result->kernels) title += (title.empty() ? "" : " + ") + k.name;
    const Page page{.title = title, .about = "One run on a simulated GPU.", .command = lab::command_of(*spec)};
    lab::Comparison single;
    single.runs.push_back(std::move(made));
    if (auto done = lab::write_page(o.html, document_of(page, run->gpu, single)); !done) return done.error();
    output.say(fmt::format("\n{} shows it.\n", o.html));
  }
  return wrong ? 1 : 0;
}

}  // namespace

void add_sim(const Command& wm) {
  auto o = std::make_shared<SimOptions>();
  const Command sim = wm.add(
      "sim", "Kernels together on a simulated GPU, under a policy",
      "wm sim --gpu qos16 --kernel sgemm --kernel lbm --policy spatial\n"
      "wm sim --machine block --gpu k20c --app spmv:priority=1 --app lbm --runs 3 --policy ppq:preemption=switch\n"
      "wm sim --machine block --gpu k20c --gpus 8 --seconds 60 --placement best_fit --app "
      "spmv:poisson=900:deadline=5ms "
      "--app lbm:poisson=4\n"
      "wm sim --gpu qos16 --kernel sgemm:goal=0.8 --kernel lbm --policy quota --cycles 200000");
  add_workload_options(sim, o->run,
                       "NAME[:goal=0.9 | :ipc=N | :time=2ms | :rate=N a "
                       "second][:priority=1][:share=1][:size=medium][:arrive=CYCLE][:launches=N][:blocks=N an SM | "
                       ":saturation=0.4 on the block machine]; repeat it",
                       false);
  sim.option("--policy", o->policy, "NAME[:parameter=value]…", {.show_default = true});
  sim.option("--app", o->run.apps,
             "NAME[:priority=1][:share=1][:arrive=CYCLE][:launches=N][:process=N][:poisson=RATE | :bursts=RATExSIZE | "
             ":requests=FILE][:class=NAME][:deadline=5ms], an application of configs/apps or a YAML "
             "file, on the block machine; repeat it");
  sim.option("--machine", o->run.spec.machine, "cycle or block", {.show_default = true});
  sim.option("--runs", o->run.spec.runs, "Replay applications until each has completed so many runs (block machine)");
  sim.option("--gpus", o->cluster.gpus, "A node or cluster of so many GPUs, at launch grain (block machine)",
             {.low = 1, .high = 1e6});
  sim.option("--placement", o->cluster.placement, "Which GPU takes a request: first_fit, best_fit or by_class",
             {.show_default = true});
  sim.option("--seconds", o->cluster.seconds, "Simulated time of a cluster", {.high = 1e7});
  sim.option("--limit", o->cluster.limit, "Sum of the demands that a GPU of a cluster takes",
             {.show_default = true, .low = 1, .high = 1000});
  add_length_options(sim, o->run, kCyclesHelp, "Seed of the policy's random numbers");
  sim.flag("--timeline", o->timeline, "Put a timeline into the JSON, as pages show it");
  sim.flag("--isolated", o->isolated, "Only measure the isolated rate of each kernel, into the cache");
  sim.hidden_flag("--alone", o->isolated, "The former name of --isolated");
  add_cache_option(sim, o->run);
  sim.option("--decisions", o->decisions, "Write the policy's events and actions, a line each",
             {.type = "FILE", .output = true});
  sim.option("--trace", o->trace, "Write a timeline that ui.perfetto.dev opens", {.type = "FILE", .output = true});
  sim.option("--html", o->html, "Write a page with the timeline, which needs no network",
             {.type = "FILE", .output = true});
  sim.option("--dump", o->dumps,
             "A buffer of the run's only kernel afterwards: NAME=FILE, or NAME[:TYPE[:COUNT]] to stdout");
  sim.flag("--stats", o->stats, "What each kernel did in every interval; in JSON as 'intervals'");
  sim.option("--interval", o->interval, "Of --stats and of the curves of --trace, in cycles",
             {.show_default = true, .low = 1, .high = 1e12});
  sim.hidden_option("--spec", o->spec, "A run specification as JSON, in place of the options that describe a run");
  sim.json(o->json);
  sim.run([=] { return run_sim(*o); });
}

}  // namespace wm::cli
