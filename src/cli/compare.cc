// wm compare: the same co-run under several policies.
#include <fmt/format.h>
#include <memory>

#include "base/json.h"
#include "cli/command.h"
#include "cli/compare_report.h"
#include "cli/data_folder.h"
#include "cli/output.h"
#include "cli/page_document.h"
#include "cli/participant.h"
#include "cli/run_progress.h"
#include "cli/subject.h"
#include "gpu/load_gpu.h"
#include "lab/page.h"

namespace wm::cli {
namespace {

struct CompareOptions {
  std::string gpu = "qos16";
  std::vector<std::string> kernels;
  std::vector<std::string> policies;
  std::string size = "medium";
  std::string json;
  std::string html;
  std::string cache = lab::AloneCache::default_folder();
  lab::CorunOptions run;
};

// What makes the same page again.
std::string command_of(const CompareOptions& o) {
  std::string text = "wm compare --gpu " + o.gpu;
  for (const std::string& k : o.kernels) text += " --kernel " + k;
  for (const std::string& p : o.policies) text += " --policy " + p;
  if (o.run.cycles != 0) text += fmt::format(" --cycles {}", o.run.cycles);
  if (o.run.match_instructions) text += " --match-instructions";
  return text + " --size " + o.size + " --html " + o.html;
}

Result<int> run(CompareOptions o) {
  o.run.cache = lab::AloneCache(o.cache);
  if (o.policies.empty()) o.policies = {"all"};
  const auto gpu = gpu::load_gpu(o.gpu, gpu_folder());
  if (!gpu) return gpu.error();
  const auto size = parse_size(o.size);
  if (!size) return size.error();
  std::vector<lab::Participant> participants;
  std::string title;
  for (const std::string& word : o.kernels) {
    auto p = parse_participant(word, *size, PtxOrigin{});
    if (!p) return p.error();
    title += (title.empty() ? "" : " + ") + p->name;
    participants.push_back(*std::move(p));
  }
  const auto policies = lab::policies_for(o.policies, participants);
  if (!policies) return policies.error();
  const auto compared = with_progress(participants.size() + policies->fit.size(), o.run, [&] {
    return lab::compare(*gpu, participants, *policies, o.run, o.html.empty() ? 0 : kPageInterval);
  });
  if (!compared) return compared.error();
  const Output output(o.json);
  output.say(fmt::format("{} on {}\n\n{}", title, gpu->name, cli::text_of(*compared)));
  if (!o.json.empty())
    if (auto done = output.document(cli::json_of(*compared)); !done) return done.error();
  if (!o.html.empty()) {
    const Page page{.title = title + ", shared",
                    .about = "The same kernels together on one simulated GPU, under several policies.",
                    .command = command_of(o)};
    if (auto done = lab::write_page(o.html, document_of(page, *gpu, *compared)); !done) return done.error();
    output.say(fmt::format("\n{} shows it.\n", o.html));
  }
  return compared->runs.empty() ? 1 : 0;
}

}  // namespace

void add_compare(const Command& wm) {
  auto o = std::make_shared<CompareOptions>();
  const Command compare =
      wm.add("compare", "The same co-run under several policies",
             "wm compare --kernel sgemm --kernel lbm --cycles 100000\n"
             "wm compare --kernel sgemm:goal=0.8 --kernel lbm --cycles 100000 --policy quota --policy "
             "smqos --policy left_over");
  compare.option("--gpu", o->gpu, "A GPU by name, or a YAML file", {.show_default = true});
  compare.option("--kernel", o->kernels, "As of 'wm sim'; repeat it", {.required = true});
  compare.option("--policy", o->policies, "NAME[:parameter=value]…, repeated, or 'all' that fit (when none is given)");
  compare.option("--size", o->size, "Of kernels that name none: small, medium, large", {.show_default = true});
  compare.option("--cycles", o->run.cycles, "Every run stops there (0: when all kernels are done)");
  compare.flag("--match-instructions", o->run.match_instructions,
               "Each kernel stops at the instructions it executed alone in --cycles");
  compare.option("--threads", o->run.threads, "Of the host; the result is the same for any number",
                 {.show_default = true, .low = 1, .high = 64});
  compare.option("--seed", o->run.seed, "Of the policies' random numbers", {.show_default = true});
  compare.option("--cache", o->cache, "Where rates alone are kept; \"\": nowhere",
                 {.show_default = true, .type = "FOLDER"});
  compare.option("--html", o->html, "Write a page with timelines, which needs no network", {.type = "FILE"});
  compare.json(o->json);
  compare.run([=] { return run(*o); });
}

}  // namespace wm::cli
