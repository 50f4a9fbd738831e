// wm ptx: the content of PTX files. `run` is in ptx_run.cc.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <memory>

#include "base/counted.h"
#include "base/file.h"
#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/output/facts.h"
#include "cli/output/output.h"
#include "exec/program.h"
#include "ptx/dependencies.h"
#include "ptx/parse.h"
#include "ptx/print.h"
#include "ptx/schedule.h"
#include "rewrite/ptx/refused_functions.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct PtxOptions {
  std::vector<std::string> files;
  std::string json;
  std::string out;
};

struct UsableModule {
  ptx::Module module;
  std::vector<rewrite::RefusedFunction> refused;  // not in `module`
};

// One unsupported instruction refuses the functions that need it, not the whole file.
Result<UsableModule> load(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return text.error();
  auto module = ptx::parse(*text, path, ptx::OnUnsupported::refuse_function);
  if (!module) return module.error();
  auto refused = rewrite::remove_refused_functions(*module, path);
  if (!refused) return refused.error();
  if (!refused->empty() && module->functions.empty()) return refused->front().reason;
  return UsableModule{*std::move(module), *std::move(refused)};
}

void name_refused(const std::vector<rewrite::RefusedFunction>& refused) {
  for (const auto& f : refused) {
    fmt::print(stderr, "wm: {} '{}' is left out: {}\n", f.entry ? "kernel" : "function", f.name, f.reason.to_string());
  }
}

struct CheckedFile {
  std::size_t kernels = 0;
  std::size_t instructions = 0;
  std::vector<std::string> refused;  // kernels that cannot be executed, with the reason
};

// Every file is parsed, printed and parsed again; the two must be equal. An order in which an assembler would issue its
// instructions must keep their dependencies. Kernels are decoded one by one, so that each refusal is named.
Result<CheckedFile> check_file(const std::string& path, const std::string& text) {
  auto module = ptx::parse(text, path, ptx::OnUnsupported::refuse_function);
  if (!module) return module.error();
  CheckedFile checked;
  for (ptx::Function& f : module->functions) {
    checked.kernels += f.entry ? 1 : 0;
    checked.instructions += f.body.size();
    if (!f.entry) continue;
    if (const auto program = exec::decode(*module, f.name, path); !program)
      checked.refused.push_back(fmt::format("{}: {}", f.name, program.error().to_string()));
  }
  for (ptx::Function& f : module->functions) {
    f.refusal.reset();
    if (const auto violation = ptx::violated_dependency(f, ptx::in_latency_order(f)))
      return Error{fmt::format("an assembler's order changes '{}': {}", f.name, *violation), {path, 0, 0}};
  }
  const auto again = ptx::parse(ptx::print(*module), path + " (printed)");
  if (!again) return again.error();
  if (!(*again == *module)) return Error{"printing changes it", {path, 0, 0}};
  return checked;
}

Result<int> check_files(const PtxOptions& options) {
  Table table({"file", "result"});
  Json items = Json::array();
  bool all = true;
  for (const std::string& path : options.files) {
    const auto text = read_file(path);
    if (!text) return text.error();
    const auto checked = check_file(path, *text);
    const bool passed = checked && checked->refused.empty();
    all = all && passed;
    std::string detail = checked ? fmt::format("{}, {}", counted(checked->kernels, "kernel"),
                                               counted(checked->instructions, "instruction"))
                                 : checked.error().to_string();
    if (checked && !passed) detail += fmt::format("; refused {}", fmt::join(checked->refused, "; "));
    table.add({path, passed ? Cell(detail) : Cell("FAILED: " + detail, Style::bad)});
    items.push_back({{"name", path}, {"passed", passed}, {"detail", detail}});
    if (!checked) continue;
    items.back()["kernels"] = checked->kernels;
    items.back()["refused"] = checked->refused;
  }
  const Output output(options.json);
  output.say(table.to_string());
  if (auto done = output.items(items); !done) return done.error();
  return all ? 0 : 1;
}

Result<int> print_file(const PtxOptions& options) {
  const auto loaded = load(options.files.front());
  if (!loaded) return loaded.error();
  const std::string text = ptx::print(loaded->module);
  if (options.out.empty() || options.out == "-") {
    Output("").say(text);
  } else if (auto done = write_file(options.out, text); !done) {
    return done.error();
  }
  name_refused(loaded->refused);
  return loaded->refused.empty() ? 0 : 1;
}

Result<int> show_stats(const PtxOptions& options) {
  std::vector<KernelFacts> all;
  std::vector<rewrite::RefusedFunction> refused;
  Json items = Json::array();
  for (const std::string& path : options.files) {
    auto loaded = load(path);
    if (!loaded) return loaded.error();
    for (KernelFacts& facts : facts_of(loaded->module)) {
      items.push_back(json_of(facts));
      items.back()["file"] = path;
      all.push_back(std::move(facts));
    }
    std::move(loaded->refused.begin(), loaded->refused.end(), std::back_inserter(refused));
  }
  const Output output(options.json);
  output.say(table_of(all).to_string());
  if (auto done = output.items(items); !done) return done.error();
  name_refused(refused);
  return refused.empty() ? 0 : 1;
}

void add_tool(const Command& ptx, const char* name, const char* about, const char* example,
              Result<int> (*run)(const PtxOptions&)) {
  auto options = std::make_shared<PtxOptions>();
  const Command tool = ptx.add(name, about, example);
  tool.option("files", options->files, "PTX files", {.required = true, .type = "FILE"});
  tool.json(options->json);
  tool.run([options, run] { return run(*options); });
}

void add_print(const Command& ptx) {
  auto options = std::make_shared<PtxOptions>();
  options->files.resize(1);
  const Command print = ptx.add("print", "Print a file in canonical form", "wm ptx print kernel.ptx -o canonical.ptx");
  print.option("file", options->files.front(), "A PTX file", {.required = true, .type = "FILE"});
  print.option("-o,--out", options->out, "Write to FILE instead of stdout", {.type = "FILE"});
  print.run([options] { return print_file(*options); });
}

}  // namespace

void add_ptx(const Command& wm) {
  const Command ptx =
      wm.add("ptx", "The PTX tools: check, print, stats, run, rewrite",
             "wm ptx stats kernel.ptx\nwm ptx run kernel.ptx --kernel add --grid 4 --block 256 --arg u32:7");
  ptx.needs_command();
  add_tool(ptx, "check", "Parse files, print them, parse the print: are they understood?", "wm ptx check a.ptx b.ptx",
           check_files);
  add_print(ptx);
  add_tool(ptx, "stats", "Static instruction counts, registers and memory of every kernel",
           "wm ptx stats kernel.ptx --json -", show_stats);
  add_ptx_run(ptx);
  add_ptx_rewrite(ptx);
}

}  // namespace wm::cli
