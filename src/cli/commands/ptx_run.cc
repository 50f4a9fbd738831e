// wm ptx run: one kernel of a file, with arguments from the command line or from a description, and its buffers dumped.
#include <fmt/format.h>
#include <memory>
#include <thread>

#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "cli/commands/buffer_dump.h"
#include "cli/commands/check.h"
#include "cli/commands/command.h"
#include "cli/input/arguments.h"
#include "cli/input/ptx_module.h"
#include "cli/output/output.h"
#include "cli/output/terminal.h"
#include "exec/run.h"
#include "gpu/description.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PtxRunOptions {
  std::string file;
  std::string kernel;
  std::string grid;
  std::string block;
  std::vector<std::string> arguments;
  std::uint64_t shared = 0;
  std::uint64_t max_instructions = 0;
  std::uint32_t threads = std::max(1U, std::thread::hardware_concurrency());
  std::string fmad = "on";
  std::vector<std::string> dumps;
  std::string json;
};

// The kernel to run, from the command line or from a description.
struct Plan {
  std::string ptx_path;
  std::string entry;  // empty: the file's only one
  gpu::Application application;
  std::vector<gpu::Element> elements;  // element type of each buffer
};

Result<Plan> plan_from_description(const PtxRunOptions& o) {
  if (!o.kernel.empty() || !o.grid.empty() || !o.block.empty() || !o.arguments.empty() || o.shared != 0) {
    return Error{"'" + o.file + "' says kernel, grid, block, shared memory and arguments itself"};
  }
  auto d = gpu::read_description(o.file);
  if (!d) return d.error();
  return Plan{d->ptx_path, d->entry, std::move(d->application), std::move(d->elements)};
}

Result<Plan> plan_from_words(const PtxRunOptions& o) {
  if (o.grid.empty() || o.block.empty()) return Error{"--grid and --block are needed, such as --grid 4 --block 256"};
  const auto grid = parse_extent(o.grid);
  if (!grid) return Error{"--grid: " + grid.error().what};
  const auto block = parse_extent(o.block);
  if (!block) return Error{"--block: " + block.error().what};
  ArgumentList arguments;
  for (const std::string& word : o.arguments) {
    if (auto done = arguments.add(word); !done) return Error{"--arg " + done.error().what};
  }
  gpu::Launch launch{o.kernel, *grid, *block, {}, o.shared};
  return Plan{o.file, o.kernel, arguments.application(std::move(launch)), arguments.elements()};
}

// The requested entry, or the only entry of the file.
Result<std::string> entry_of(const ptx::Module& module, const std::string& wanted, const std::string& path) {
  std::vector<std::string> names;
  for (const ptx::Function& f : module.functions) {
    if (f.entry) names.push_back(f.name);
  }
  if (names.empty()) return Error{"'" + path + "' has no kernel"};
  if (wanted.empty() && names.size() == 1) return names.front();
  if (wanted.empty()) return Error{fmt::format("--kernel is needed, one of: {}", fmt::join(names, ", "))};
  if (module.entry(wanted) != nullptr) return wanted;
  return Error{"'" + path + "' has no kernel '" + wanted + "'" + did_you_mean(wanted, names)};
}

// A fault of the kernel is not bad input: the whole message is shown, and the exit code is 1.
Result<int> report_fault(const std::string& entry, const std::string& fault, const Output& output) {
  std::fprintf(stderr, "wm: %s\n", fault.c_str());
  Json item{{"name", entry}, {"passed", false}, {"detail", fault}};
  if (auto done = output.items(Json::array({item})); !done) return done.error();
  return 1;
}

Result<int> run_kernel(const PtxRunOptions& options) {
  auto plan = gpu::is_description(options.file) ? plan_from_description(options) : plan_from_words(options);
  if (!plan) return plan.error();
  const auto dumps = choose_dumps(options.dumps, plan->application.buffers, plan->elements);
  if (!dumps) return dumps.error();
  const auto text = read_file(plan->ptx_path);
  if (!text) return text.error();
  const auto module = load_ptx(*text, plan->ptx_path, options.fmad);
  if (!module) return module.error();
  auto entry = entry_of(*module, plan->entry, plan->ptx_path);
  if (!entry) return entry.error();
  for (gpu::Step& step : plan->application.steps) {
    auto* launch = std::get_if<gpu::Launch>(&step);
    if (launch == nullptr) continue;
    if (launch->kernel.empty()) launch->kernel = *entry;
    if (auto known = entry_of(*module, launch->kernel, plan->ptx_path); !known) return known.error();
  }

  const Output output(options.json);
  std::string printed;
  exec::RunOptions run;
  run.max_instructions = options.max_instructions;
  run.threads = options.threads;
  run.print = [&](std::string_view line) {
    output.say(line);
    printed += line;
  };
  std::string fault;
  run.on_fault = [&](const exec::Fault& f) { fault = f.to_string(); };
  Result<exec::ApplicationResult> result = Error{};
  {
    Progress progress(1);
    const double blocks = blocks_of(plan->application);
    run.on_block = [&] { progress.advance(1.0 / blocks, *entry); };
    result = exec::run_application(*module, plan->application, run, plan->ptx_path);
  }
  if (!fault.empty()) return report_fault(*entry, fault, output);
  if (!result) return result.error();

  exec::LaunchStatistics sum;
  for (const exec::LaunchRecord& launch : result->launches) sum += launch.statistics;
  const std::string detail = fmt::format("{} blocks, {} warp instructions, {} thread instructions", grouped(sum.blocks),
                                         grouped(sum.warp_instructions), grouped(sum.thread_instructions));
  Json item{{"name", *entry},
            {"passed", true},
            {"detail", detail},
            {"blocks", sum.blocks},
            {"warp_instructions", sum.warp_instructions},
            {"thread_instructions", sum.thread_instructions}};
  if (!printed.empty()) item["printed"] = printed;
  if (auto done = write_dumps(*dumps, result->buffers, output, item); !done) return done.error();
  output.say(*entry + ": " + detail + "\n");
  if (auto done = output.items(Json::array({item})); !done) return done.error();
  return 0;
}

}  // namespace

void add_ptx_run(const Command& ptx) {
  auto options = std::make_shared<PtxRunOptions>();
  const Command run =
      ptx.add("run", "Execute a kernel of a file with given arguments",
              "wm ptx run saxpy.ptx --grid 4 --block 256 --arg u32:1000 --arg f32:2.5 \\\n"
              "    --arg buf:x:f32x1000:iota --arg buf:y:f32x1000:=1 --dump y:f32:8\n\n"
              "SIZE is bytes (4096) or elements (f32x1024); CONTENT is zero, iota, random, =VALUE, @FILE or none.");
  run.option("file", options->file, "A PTX file, or a kernel description (.yaml)", {.required = true, .type = "FILE"});
  run.option("--kernel", options->kernel, "The entry, where the file has several");
  run.option("--grid", options->grid, "Blocks: x or x,y or x,y,z");
  run.option("--block", options->block, "Threads of a block, likewise");
  run.option("--arg", options->arguments,
             "An argument, in order: TYPE:VALUE, buf:NAME:SIZE[:CONTENT], ref:NAME, local:BYTES");
  run.option("--shared", options->shared, "Dynamic shared memory of a block, in bytes");
  run.option("--max-instructions", options->max_instructions, "Warp instructions after which to stop");
  run.option("--fmad", options->fmad, "on: fuse multiplications and additions as ptxas does; off: do not",
             {.show_default = true});
  run.option("--threads", options->threads,
             "Of the host, for kernels whose blocks cannot communicate; the result is the same for any number",
             {.low = 1, .high = 1024});
  run.option("--dump", options->dumps, "A buffer afterwards: NAME=FILE, or NAME[:TYPE[:COUNT]] to stdout");
  run.json(options->json);
  run.run([options] { return run_kernel(*options); });
}

}  // namespace wm::cli
