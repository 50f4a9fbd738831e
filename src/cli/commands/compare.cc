// wm compare: the same co-run under several policies.
#include <fmt/format.h>
#include <memory>

#include "base/json.h"
#include "base/shell_word.h"
#include "cli/commands/command.h"
#include "cli/input/run_options.h"
#include "cli/output/compare_report.h"
#include "cli/output/output.h"
#include "cli/output/page_document.h"
#include "cli/output/run_progress.h"
#include "cli/output/sim_report.h"
#include "cli/output/verification.h"
#include "lab/report/page.h"

namespace wm::cli {
namespace {

struct CompareOptions {
  RunOptions run;
  std::vector<std::string> policies;
  std::string json;
  std::string html;
};

// The command that produces the same page.
std::string command_of(const CompareOptions& o) {
  std::string text = "wm compare --gpu " + shell_word(o.run.spec.gpu);
  for (const std::string& k : o.run.kernels) text += " --kernel " + shell_word(k);
  for (const std::string& p : o.policies) text += " --policy " + shell_word(p);
  if (o.run.spec.cycles != 0) text += fmt::format(" --cycles {}", o.run.spec.cycles);
  if (o.run.once) text += " --once";
  if (o.run.spec.warm != 0) text += fmt::format(" --warm {}", o.run.spec.warm);
  if (o.run.spec.from != 0) text += fmt::format(" --from {}", o.run.spec.from);
  if (o.run.spec.seed != 1) text += fmt::format(" --seed {}", o.run.spec.seed);
  if (o.run.spec.match_instructions) text += " --match-instructions";
  return text + " --size " + o.run.size + " --html " + shell_word(o.html);
}

Result<int> run_compare(CompareOptions o) {
  if (o.policies.empty()) o.policies = {"all"};
  auto spec = o.run.without_policy();
  if (!spec) return spec.error();
  const auto run = load_run(*spec);
  if (!run) return run.error();
  std::string title;
  for (const lab::Participant& p : run->participants) title += (title.empty() ? "" : " + ") + p.name;
  const auto policies = lab::policies_for(o.policies, run->participants);
  if (!policies) return policies.error();
  lab::CorunOptions options = o.run.corun_options(*spec);
  bool length_chosen = false;
  const auto compare_all = [&]() -> Result<lab::Comparison> {
    const auto chosen = choose_length(*spec, *run, options);
    if (!chosen) return chosen.error();
    length_chosen = *chosen;
    return lab::compare(run->gpu, run->participants, *policies, options, o.html.empty() ? 0 : kPageInterval);
  };
  const auto compared = with_progress(2 * run->participants.size() + policies->fit.size(), options, compare_all);
  if (!compared) return compared.error();
  const Output output(o.json);
  output.say(fmt::format("{} on {}\n\n{}", title, run->gpu.name, cli::text_of(*compared)));
  if (length_chosen) output.say(note_of_length(run->participants.size()));
  if (!o.json.empty())
    if (auto done = output.document(cli::json_of(*compared)); !done) return done.error();
  if (!o.html.empty()) {
    const Page page{.title = title + ", shared",
                    .about = "The same kernels together on one simulated GPU, under several policies.",
                    .command = command_of(o)};
    if (auto done = lab::write_page(o.html, document_of(page, run->gpu, *compared)); !done) return done.error();
    output.say(fmt::format("\n{} shows it.\n", o.html));
  }
  return report_wrong_outputs(*compared) || compared->runs.empty() ? 1 : 0;
}

}  // namespace

void add_compare(const Command& wm) {
  auto o = std::make_shared<CompareOptions>();
  const Command compare =
      wm.add("compare", "The same co-run under several policies",
             "wm compare --kernel sgemm --kernel lbm\n"
             "wm compare --kernel sgemm:goal=0.8 --kernel lbm --cycles 100000 --policy quota --policy "
             "smqos --policy left_over");
  add_workload_options(compare, o->run, "As of 'wm sim'; repeat it", true);
  compare.option("--policy", o->policies, "NAME[:parameter=value]…, repeated, or 'all' that fit (when none is given)");
  add_length_options(compare, o->run, kCyclesHelp, "Seed of the policies' random numbers");
  add_cache_option(compare, o->run);
  compare.option("--html", o->html, "Write a page with timelines, which needs no network",
                 {.type = "FILE", .output = true});
  compare.json(o->json);
  compare.run([=] { return run_compare(*o); });
}

}  // namespace wm::cli
