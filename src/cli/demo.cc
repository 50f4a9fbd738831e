// wm demo: a short tour with real kernels, each run to its end and compared with its CPU reference.
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <memory>

#include <nlohmann/json.hpp>

#include "cli/check.h"
#include "cli/command.h"
#include "cli/output.h"

namespace wm::cli {
namespace {

// One of each temper: streaming, dense, irregular, atomic, transcendental, stencil, sorting.
constexpr std::array kTour{"vecadd", "sgemm", "bfs", "histo", "mri-q", "stencil", "blackscholes", "mergesort"};

Result<int> run_demo(const std::string& json) {
  const std::vector<std::string> names(kTour.begin(), kTour.end());
  const auto subjects = find_subjects(names, PtxOrigin());
  if (!subjects) return subjects.error();
  const Output output(json);
  output.say(
      "Real GPU kernels, compiled from OpenCL C to PTX, executed here instruction by instruction,\n"
      "32 lanes at a time, and compared with plain CPU code:\n\n");
  const auto start = std::chrono::steady_clock::now();
  const std::vector<Checked> checked = check(*subjects, {});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  Table table({"kernel", "launches", "warp instr.", "result", "what it computes"});
  for (const Checked& c : checked) {
    table.add({Cell(c.name, Style::bold), grouped(c.launches), grouped(c.warp_instructions),
               c.passed ? Cell("correct", Style::good) : Cell("WRONG", Style::bad), c.passed ? c.about : c.detail});
  }
  output.say(table.fitted(terminal_width()) + "\n" + summary_of(checked, seconds) + "\n\n");
  output.say(
      "Next:\n"
      "  wm kernels                                       all benchmarks\n"
      "  wm kernels sgemm                                 one of them: launches, registers, instructions\n"
      "  wm kernels check --size medium                   all of them, checked at a larger size\n"
      "  wm kernels check examples/saxpy/saxpy.yaml       a CUDA kernel of your own\n");
  if (auto done = output.items(json_of(checked)); !done) return done.error();
  return all_passed(checked) ? 0 : 1;
}

}  // namespace

void add_demo(const Command& wm) {
  auto json = std::make_shared<std::string>();
  const Command demo = wm.add("demo", "A short tour with real kernels", "wm demo");
  demo.json(*json);
  demo.run([json] { return run_demo(*json); });
}

}  // namespace wm::cli
