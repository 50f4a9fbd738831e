#include "cli/commands/serve_simulated.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/number.h"
#include "base/units.h"
#include "cli/input/data_folder.h"
#include "cli/input/stop_signals.h"
#include "cli/output/output.h"
#include "cli/output/page_document.h"
#include "cli/output/sim_report.h"
#include "gpu/load_gpu.h"
#include "lab/report/block_trace_file.h"
#include "lab/report/page.h"
#include "lab/report/timeline_document.h"
#include "lab/report/trace.h"
#include "lab/run/block_timeline.h"
#include "lab/run/corun.h"
#include "lab/run/watch.h"
#include "runtime/simulated_server/simulated_server.h"

namespace wm::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kDefaultMemory = std::uint64_t{8} << 30;

// "none", "measured", or a factor.
Result<double> host_time_factor(const std::string& text) {
  if (text == "none") return 0.0;
  if (text == "measured") return 1.0;
  const auto factor = parse_double(text);
  if (factor && *factor >= 0 && *factor <= 1e6) return *factor;
  return Error{"--host-time '" + text + "' is neither none nor measured nor a factor as 0.5"};
}

Result<runtime::SimulatedServeOptions> server_options(const ServeSimulatedOptions& o) {
  runtime::SimulatedServeOptions options;
  std::error_code ignored;
  options.gpu = o.gpu.ends_with(".yaml") ? fs::absolute(o.gpu, ignored).string() : o.gpu;
  options.policy = o.policy;
  options.socket = o.socket;
  options.mode = o.mode;
  options.threads = o.threads != 0 ? o.threads : std::max(1U, std::thread::hardware_concurrency());
  if (o.timing != "cycle" && o.timing != "block")
    return Error{"--timing '" + o.timing + "' is neither cycle nor block"};
  options.on_block_machine = o.timing == "block";
  const auto factor = host_time_factor(o.host_time);
  if (!factor) return factor.error();
  options.host_time = *factor;
  options.memory_bytes = kDefaultMemory;
  if (!o.memory.empty()) {
    const auto bytes = parse_bytes(o.memory);
    if (!bytes) return Error{"--memory: " + bytes.error().what};
    options.memory_bytes = bytes->count;
  }
  options.programs = o.programs;
  options.patience = o.patience;
  options.measure_isolated = o.isolated;
  return options;
}

// The programs' launches as the kernels of a run. Rates count the cycles in which a program had a launch.
lab::CorunResult result_of(const gpu::GpuConfig& gpu, const std::string& policy, runtime::SimulatedServer& server) {
  lab::CorunResult result;
  sim::CycleMachine* machine = server.cycle_machine();
  const auto names = server.machine().place_names();
  result.gpu = gpu.name;
  result.policy = policy;
  result.cycles = server.machine().now().count;
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    lab::KernelResult k;
    k.name = names[i];
    const auto counts = i < server.places().size() ? server.places()[i] : runtime::PlaceCounts{};
    if (machine != nullptr) k.totals = machine->totals(i);
    k.totals.launches = counts.launches;
    k.totals.cycles = counts.cycles;
    k.totals.sm.thread_instructions = counts.thread_instructions;
    const auto instructions = static_cast<double>(k.totals.sm.thread_instructions);
    k.ipc = counts.cycles == 0 ? 0 : instructions / static_cast<double>(counts.cycles);
    if (counts.isolated_cycles > 0) k.isolated_ipc = instructions / counts.isolated_cycles;
    if (counts.goal_cycles > 0) k.goal = instructions / counts.goal_cycles;
    result.kernels.push_back(std::move(k));
  }
  if (machine != nullptr) lab::add_energy(gpu, machine->gated_cycles(), result);
  result.run_hash = lab::run_hash(result);
  return result;
}

// The records of the machines' observers; blocks: on the block machine only.
struct Observed {
  lab::ComparedRun run;
  lab::BlockTraceFile blocks;
};

Result<void> write_trace(const std::string& file, const gpu::GpuConfig& gpu, Observed& observed, bool on_blocks) {
  if (on_blocks) return write_file(file, observed.blocks.text(observed.run.result.cycles));
  const auto trace = lab::perfetto_trace(gpu, observed.run.result, *observed.run.timeline);
  if (!trace) return trace.error();
  return write_file(file, *trace);
}

Result<void> report(const ServeSimulatedOptions& o, const gpu::GpuConfig& gpu, lab::ComparedRun made) {
  const lab::CorunResult& result = made.result;
  const sim::Timeline& timeline = *made.timeline;
  const Output output(o.json);
  output.say(cli::text_of(result, Verification::by_program));
  if (!o.json.empty()) {
    auto document = cli::json_of(result);
    if (o.timeline) document["timeline"] = lab::timeline_document(gpu, result, timeline);
    if (auto done = output.document(document); !done) return done.error();
  }
  if (o.html.empty()) return {};
  const Page page{.title = "CUDA programs on " + gpu.name,
                  .about = "Programs on one simulated GPU.",
                  .command = fmt::format("wm serve --simulate {} --policy {}", o.gpu, o.policy)};
  lab::Comparison single;
  single.runs.push_back(std::move(made));
  if (auto done = lab::write_page(o.html, document_of(page, gpu, single)); !done) return done.error();
  output.say(fmt::format("\n{} shows it.\n", o.html));
  return {};
}

}  // namespace

void add_serve_simulated_options(const Command& command, ServeSimulatedOptions& options) {
  command.option("--simulate", options.gpu, "Serve this GPU of `wm gpus`, simulated, to CUDA programs",
                 {.type = "GPU"});
  command.option("--timing", options.timing,
                 "With --simulate: the machine that gives kernels their times, cycle or block", {.show_default = true});
  command.option("--host-time", options.host_time,
                 "With --simulate: simulated time that programs' hosts take: none, measured, or a factor of it",
                 {.show_default = true});
  command.option("--clients", options.programs,
                 "With --simulate: time begins when so many programs have connected; the daemon ends after them",
                 {.high = 1000});
  command.option("--patience", options.patience,
                 "With --simulate: seconds after which a program that neither calls nor waits stops time no longer",
                 {.show_default = true, .high = 86'400});
  command.option("--threads", options.threads, "With --simulate: threads of the simulator (0: one per processor)",
                 {.high = 1024});
  command.flag("--isolated", options.isolated,
               "With --simulate: measure the isolated rate of every kernel, not only of those with a goal");
  command.flag("--timeline", options.timeline, "With --simulate and --json: put a timeline into the JSON");
  command.option("--trace", options.trace, "With --simulate: write a timeline that ui.perfetto.dev opens",
                 {.type = "FILE", .output = true});
  command.option("--html", options.html, "With --simulate: write a page with the timeline",
                 {.type = "FILE", .output = true});
  command.json(options.json);
}

Result<int> serve_simulated(const ServeSimulatedOptions& o) {
  const auto gpu = gpu::load_gpu(o.gpu, gpu_folder());
  if (!gpu) return gpu.error();
  const auto options = server_options(o);
  if (!options) return options.error();
  const runtime::Descriptor stop = stop_signals();
  auto server = runtime::SimulatedServer::open(*gpu, *options);
  if (!server) return server.error();
  const sim::BlockMachineSpec spec = sim::block_machine_spec(*gpu);
  Observed observed{{}, lab::BlockTraceFile({}, spec.sms, spec.clock)};
  lab::ComparedRun& made = observed.run;
  made.timeline = std::make_unique<sim::Timeline>(kPageInterval);
  const bool is_recorded = o.timeline || !o.trace.empty() || !o.html.empty();
  lab::Watch watch(is_recorded ? made.timeline.get() : nullptr, {}, 0, 0);
  lab::BlockTimeline blocks(*made.timeline, &observed.blocks);
  if (sim::CycleMachine* machine = (*server)->cycle_machine()) machine->observe(watch);
  runtime::BlockLaunchMachine* block_machine = (*server)->block_machine();
  if (block_machine != nullptr && is_recorded) block_machine->observe(blocks);
  std::fprintf(stderr, "%s (simulated), policy %s, listening at %s\n", gpu->name.c_str(), o.policy.c_str(),
               options->socket.c_str());
  const auto start = std::chrono::steady_clock::now();
  if (auto ran = (*server)->run(stop.get()); !ran) return ran.error();
  if (const sim::CycleMachine* machine = (*server)->cycle_machine()) made.timeline->finish(*machine);
  made.result = result_of(*gpu, o.policy, **server);
  if (block_machine != nullptr) blocks.finish(made.result.cycles, made.result.kernels.size());
  made.result.residency = watch.residency();
  made.result.threads = options->threads;
  made.result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!o.trace.empty())
    if (auto written = write_trace(o.trace, *gpu, observed, block_machine != nullptr); !written) return written.error();
  if (auto done = report(o, *gpu, std::move(made)); !done) return done.error();
  return 0;
}

}  // namespace wm::cli
