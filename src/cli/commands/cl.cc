// wm cl: OpenCL C files and their rewritten form.
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands/cl_run.h"
#include "cli/commands/command.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "kernels/benchmark.h"
#include "rewrite/rewriter.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

struct ClOptions {
  std::vector<std::string> files;
  std::vector<std::string> build;
  std::string cache;
  std::string json;
  std::string out;
};

Result<rewrite::Reply> ask(rewrite::Rewriter& rewriter, const ClOptions& options, const std::string& path) {
  auto source = read_file(path);
  if (!source) return source.error();
  rewrite::Request request{.source = *std::move(source)};
  for (const std::string& word : options.build) request.options += (request.options.empty() ? "" : " ") + word;
  std::error_code ignored;
  request.directory = std::filesystem::current_path(ignored).string();
  auto reply = rewriter.rewrite(request);
  if (!reply) return Error{reply.error().what, {path, 0, 0}};
  return reply;
}

// The worker's messages name program.cl, the file that a device's compiler would see.
std::string in_file(const std::string& refusal, const std::string& path) {
  constexpr std::string_view kName = "program.cl";
  return refusal.starts_with(kName) ? path + refusal.substr(kName.size()) : path + ": " + refusal;
}

rewrite::Rewriter rewriter_for(const ClOptions& options) {
  return rewrite::Rewriter({.worker = rewrite::find_worker(), .cache_folder = options.cache});
}

Json json_of(const rewrite::KernelReply& kernel, const std::string& path) {
  Json arguments = Json::array();
  for (const rewrite::ArgumentInfo& a : kernel.arguments) {
    arguments.push_back({{"name", a.name},
                         {"type", a.type},
                         {"address", a.address},
                         {"access", a.access},
                         {"qualifiers", a.qualifiers}});
  }
  return {{"name", kernel.name},
          {"file", path},
          {"passed", kernel.rewritten},
          {"detail", kernel.reason},
          {"instructions", kernel.instructions},
          {"chunk", kernel.chunk},
          {"local_bytes", kernel.local_bytes},
          {"extra_local_bytes", kernel.extra_local_bytes},
          {"attributes", kernel.attributes},
          {"arguments", arguments}};
}

Result<int> check_files(const ClOptions& options) {
  auto rewriter = rewriter_for(options);
  Table table({"kernel", "instructions", "chunk", "local bytes", "result"});
  Json items = Json::array();
  bool all = true;
  for (const std::string& path : options.files) {
    const auto reply = ask(rewriter, options, path);
    if (!reply) return reply.error();
    if (!reply->refusal.empty()) return Error{in_file(reply->refusal, path)};
    for (const rewrite::KernelReply& kernel : reply->kernels) {
      all = all && kernel.rewritten;
      table.add({kernel.name, std::to_string(kernel.instructions), std::to_string(kernel.chunk),
                 std::to_string(kernel.local_bytes),
                 kernel.rewritten ? Cell("rewritten") : Cell("not rewritten: " + kernel.reason, Style::bad)});
      items.push_back(json_of(kernel, path));
    }
  }
  const Output output(options.json);
  output.say(table.to_string());
  if (auto done = output.items(items); !done) return done.error();
  return all ? 0 : 1;
}

Result<int> rewrite_file(const ClOptions& options) {
  auto rewriter = rewriter_for(options);
  const std::string& path = options.files.front();
  const auto reply = ask(rewriter, options, path);
  if (!reply) return reply.error();
  if (!reply->refusal.empty()) return Error{in_file(reply->refusal, path)};
  std::string text;
  bool all = true;
  for (const rewrite::KernelReply& kernel : reply->kernels) {
    all = all && kernel.rewritten;
    text += kernel.rewritten ? fmt::format("// {}: workers take {} groups at a time\n", kernel.name, kernel.chunk)
                             : fmt::format("// {}: not rewritten: {}\n", kernel.name, kernel.reason);
  }
  text += reply->source;
  if (!options.out.empty() && options.out != "-") {
    if (auto done = write_file(options.out, text); !done) return done.error();
  } else {
    Output("").say(text);
  }
  return all ? 0 : 1;
}

// Replies for the zoo, as a daemon would ask for them on behalf of `wm cl run`.
Result<int> fill_cache(const ClOptions& options) {
  auto rewriter = rewriter_for(options);
  std::size_t kernels = 0, rewritten = 0;
  for (const zoo::Entry& entry : zoo::entries()) {
    const auto reply = rewriter.rewrite({.source = std::string(entry.source), .options = kZooBuildOptions});
    if (!reply) return Error{entry.benchmark.name + ": " + reply.error().what};
    kernels += reply->kernels.size();
    for (const rewrite::KernelReply& kernel : reply->kernels) rewritten += kernel.rewritten ? 1 : 0;
  }
  Output("").say(fmt::format("{}: {} programs, {} of {} kernels as workers\n", options.cache, zoo::entries().size(),
                             rewritten, kernels));
  return 0;
}

void add_options(const Command& command, ClOptions& options) {
  command.option("--build", options.build, "An option of clBuildProgram, as in --build=-DN=4; may be repeated",
                 {.type = "OPTION"});
  command.option("--cache", options.cache, "Keep replies in FOLDER, and take them from there", {.type = "FOLDER"});
}

}  // namespace

void add_cl(const Command& wm) {
  const Command cl = wm.add("cl", "OpenCL C as persistent workers: check, rewrite, run",
                            "wm cl check kernels/*/*.cl\nwm cl rewrite kernel.cl --build=-DN=64");
  cl.needs_command();

  auto checked = std::make_shared<ClOptions>();
  const Command check = cl.add("check", "Which kernels can become persistent workers, and why others cannot",
                               "wm cl check kernel.cl --json -");
  check.option("files", checked->files, "OpenCL C files", {.required = true, .type = "FILE"});
  add_options(check, *checked);
  check.json(checked->json);
  check.run([checked] { return check_files(*checked); });

  auto rewritten = std::make_shared<ClOptions>();
  rewritten->files.resize(1);
  const Command rewrite = cl.add("rewrite", "Print the program whose kernels are persistent workers",
                                 "wm cl rewrite kernel.cl --build=-DN=64 -o workers.cl");
  rewrite.option("file", rewritten->files.front(), "An OpenCL C file", {.required = true, .type = "FILE"});
  add_options(rewrite, *rewritten);
  rewrite.option("-o,--out", rewritten->out, "Write to FILE instead of stdout", {.type = "FILE"});
  rewrite.run([rewritten] { return rewrite_file(*rewritten); });

  auto kept = std::make_shared<ClOptions>();
  const Command cache = cl.add("cache", "Rewrite the zoo into a folder that serves a host without clang",
                               "wm cl cache build/cl-cache\nwm serve --cache build/cl-cache");
  cache.option("folder", kept->cache, "The folder", {.required = true, .type = "FOLDER"});
  cache.run([kept] { return fill_cache(*kept); });
#ifdef WM_RUNTIME
  add_cl_run(cl);
#endif
}

}  // namespace wm::cli
