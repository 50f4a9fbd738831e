// wm ptx rewrite: a file's kernels as the runtime would load them.
#include <algorithm>
#include <fmt/format.h>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "ptx/parse.h"
#include "ptx/print.h"
#include "rewrite/ptx/gates.h"
#include "rewrite/ptx/opencl_adapter.h"
#include "rewrite/ptx/persistent.h"
#include "rewrite/ptx/refused_functions.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct RewriteOptions {
  std::string file, out, json;
  bool opencl = false, gates = false, workers = false;
};

Json& item_of(Json& items, const std::string& kernel) {
  for (Json& item : items) {
    if (item["name"] == kernel) return item;
  }
  items.push_back({{"name", kernel}, {"passed", true}, {"detail", ""}});
  return items.back();
}

void add_detail(Json& item, const std::string& text) {
  const std::string before = item["detail"];
  item["detail"] = before.empty() ? text : before + "; " + text;
}

Result<ptx::Module> adapt(ptx::Module module, Json& items) {
  auto adapted = rewrite::adapt_opencl(std::move(module));
  if (!adapted) return adapted.error();
  for (const rewrite::AdaptedKernel& k : adapted->kernels) {
    const auto local = std::count_if(k.parameters.begin(), k.parameters.end(),
                                     [](const rewrite::AdaptedParameter& p) { return p.local_memory; });
    add_detail(item_of(items, k.name), fmt::format("{} __local parameter{}{}", local, local == 1 ? "" : "s",
                                                   k.reads_environment ? ", a parameter for the environment" : ""));
  }
  for (const rewrite::RefusedKernel& k : adapted->refused) {
    Json& item = item_of(items, k.name);
    item["passed"] = false;
    add_detail(item, k.reason);
  }
  return std::move(adapted->module);
}

Result<void> leave_out_refused(ptx::Module& module, const std::string& file, Json& items) {
  const auto refused = rewrite::remove_refused_functions(module, file);
  if (!refused) return refused.error();
  if (!refused->empty() && module.functions.empty()) return refused->front().reason;
  for (const rewrite::RefusedFunction& f : *refused) {
    if (!f.entry) continue;
    Json& item = item_of(items, f.name);
    item["passed"] = false;
    add_detail(item, "left out: " + f.reason.to_string());
  }
  return {};
}

void gate(ptx::Module& module, Json& items) {
  std::vector<std::string> names;
  for (const ptx::Function& f : module.functions) {
    if (f.entry) names.push_back(f.name);
  }
  for (const std::string& name : names) {
    const auto gated = rewrite::add_gates(module, name);
    Json& item = item_of(items, name);
    if (!gated) item["passed"] = false;
    add_detail(item, gated ? fmt::format("gates in {} loop{}, {} strip-mined, {} unrolled", gated->gates,
                                         gated->gates == 1 ? "" : "s", gated->strips, gated->unrolled)
                           : gated.error().what);
  }
}

void divide(ptx::Module& module, Json& items) {
  std::vector<std::string> names;
  for (const ptx::Function& f : module.functions) {
    if (f.entry) names.push_back(f.name);
  }
  for (const std::string& name : names) {
    const auto made = rewrite::make_persistent(module, name);
    Json& item = item_of(items, name);
    if (!made) item["passed"] = false;
    add_detail(item, made ? "persistent workers" : made.error().what);
  }
}

Result<int> rewrite_file(const RewriteOptions& options) {
  if (!options.opencl && !options.gates && !options.workers) {
    return Error{"rewrite how? --opencl, --workers, --gates, or several of them"};
  }
  const auto text = read_file(options.file);
  if (!text) return text.error();
  auto module = ptx::parse(*text, options.file, ptx::OnUnsupported::refuse_function);
  if (!module) return module.error();
  Json items = Json::array();
  if (auto left = leave_out_refused(*module, options.file, items); !left) return left.error();
  if (options.opencl) {
    module = adapt(*std::move(module), items);
    if (!module) return module.error();
  }
  if (options.workers) divide(*module, items);
  if (options.gates) gate(*module, items);
  const std::string rewritten = ptx::print(*module);
  const Output output(options.json);
  if (options.out.empty() || options.out == "-") {
    output.say(rewritten);
    for (const Json& item : items) {
      if (item["passed"].get<bool>()) continue;
      fmt::print(stderr, "wm: kernel '{}': {}\n", item["name"].get<std::string>(), item["detail"].get<std::string>());
    }
  } else {
    if (auto done = write_file(options.out, rewritten); !done) return done.error();
    Table table({"kernel", "result"});
    for (const Json& item : items) {
      const std::string detail = item["detail"];
      table.add(
          {item["name"].get<std::string>(), item["passed"].get<bool>() ? Cell(detail) : Cell(detail, Style::bad)});
    }
    output.say(table.to_string());
  }
  if (auto done = output.items(items); !done) return done.error();
  return std::all_of(items.begin(), items.end(), [](const Json& i) { return i["passed"].get<bool>(); }) ? 0 : 1;
}

}  // namespace

void add_ptx_rewrite(const Command& ptx) {
  auto options = std::make_shared<RewriteOptions>();
  const Command rewrite = ptx.add("rewrite", "Rewrite kernels as the CUDA backend loads them",
                                  "wm ptx rewrite program.ptx --opencl --gates -o loaded.ptx");
  rewrite.option("file", options->file, "A PTX file", {.required = true, .type = "FILE"});
  rewrite.flag("--opencl", options->opencl, "Adapt PTX of an OpenCL compiler to the CUDA driver");
  rewrite.flag("--workers", options->workers, "Blocks become workers that take the original's blocks from a queue");
  rewrite.flag("--gates", options->gates, "Loops pause while a word in device memory is not zero");
  rewrite.option("-o,--out", options->out, "Write to FILE instead of stdout", {.type = "FILE"});
  rewrite.json(options->json);
  rewrite.run([options] { return rewrite_file(*options); });
}

}  // namespace wm::cli
