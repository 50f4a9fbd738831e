// wm kernels check: executes kernels functionally and compares with their CPU references.
#include <chrono>
#include <memory>

#include "base/json.h"
#include "cli/commands/check.h"
#include "cli/commands/command.h"
#include "cli/output/output.h"

namespace wm::cli {
namespace {

struct KernelsCheckOptions {
  std::vector<std::string> names;
  std::string size = "small";
  std::string json;
  std::string ptx_from = "clang";
  CheckOptions check;
};

// The details that do not fit into one line of the table.
std::string details_of(const std::vector<Checked>& checked) {
  std::string text;
  for (const Checked& c : checked) {
    if (!c.passed && c.detail.find('\n') != std::string::npos) text += "\n" + c.name + ": " + c.detail + "\n";
  }
  return text;
}

Result<int> run_check(const KernelsCheckOptions& options) {
  const auto size = parse_size(options.size);
  if (!size) return size.error();
  if (const std::string& fmad = options.check.fmad; fmad != "on" && fmad != "off")
    return Error{"--fmad takes on or off, not '" + fmad + "'"};
  const auto origin = PtxOrigin::parse(options.ptx_from);
  if (!origin) return origin.error();
  const auto subjects = find_subjects(options.names, *origin);
  if (!subjects) return subjects.error();

  CheckOptions chosen = options.check;
  chosen.size = *size;
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Checked> checked = check(*subjects, chosen);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const Output output(options.json);
  output.say(table_of(checked).to_string() + details_of(checked) + "\n" + summary_of(checked, seconds) + "\n");
  if (auto done = output.items(cli::json_of(checked)); !done) return done.error();
  return all_passed(checked) ? 0 : 1;
}

}  // namespace

void add_kernels_check(const Command& kernels) {
  auto options = std::make_shared<KernelsCheckOptions>();
  const Command check = kernels.add("check", "Execute kernels and compare with their CPU references",
                                    "wm kernels check sgemm histo --size medium --json results.json");
  check.option("names", options->names, "Benchmarks (default: all), or paths of your own kernels' YAML");
  check.option("--size", options->size, "small, medium, large or short_blocks", {.show_default = true});
  check.option("--jobs", options->check.jobs, "Kernels run at a time (default: one a core, at most 8)",
               {.low = 1, .high = 1024});
  check.option("--max-instructions", options->check.max_instructions, "Warp instructions a launch may execute");
  check.option("--fmad", options->check.fmad, "on: fuse multiplications and additions as ptxas does; off: do not",
               {.show_default = true});
  check.option("--ptx-from", options->ptx_from, "clang (the build's), nvcc, opencl, or a folder of NAME.ptx",
               {.show_default = true});
  check.json(options->json);
  check.run([options] { return run_check(*options); });
}

}  // namespace wm::cli
