// wm bench policies: the host time of each policy's decisions, compared with the time of the simulation.
#include <fmt/format.h>
#include <memory>

#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/input/data_folder.h"
#include "cli/input/participant.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "gpu/load_gpu.h"
#include "lab/run/decisions.h"

namespace wm::cli {
namespace {

struct BenchPoliciesOptions {
  std::vector<std::string> policies;
  std::vector<std::string> gpus;
  std::uint64_t cycles = 60'000;
  std::string json;
};

// Two kernels with goals and two without, that repeat to the end.
Result<std::vector<lab::Participant>> processes() {
  std::vector<lab::Participant> all;
  for (const char* word : {"sgemm:ipc=100:launches=0", "hotspot:ipc=100:launches=0", "lbm:launches=0:priority=1",
                           "blackscholes:launches=0"}) {
    auto p = parse_participant(word, zoo::Size::medium, PtxOrigin{});
    if (!p) return p.error();
    all.push_back(*std::move(p));
  }
  return all;
}

Result<int> bench_policies(const BenchPoliciesOptions& o) {
  std::vector<policy::Choice> choices;
  std::vector<std::string> words = o.policies;
  if (words.empty())
    for (const policy::Entry& e : policy::entries()) words.emplace_back(e.info.name);
  for (const std::string& word : words) {
    auto choice = policy::choose(word);
    if (!choice) return choice.error();
    choices.push_back(*std::move(choice));
  }
  const auto gpus = o.gpus.empty() ? std::vector<std::string>{"qos16", "qos56", "h200"} : o.gpus;
  const auto kernels = processes();
  if (!kernels) return kernels.error();
  Table table({"policy", "GPU", "SMs", "epochs", "an epoch", "events", "all decisions", "run", "share"});
  auto items = nlohmann::ordered_json::array();
  Progress progress(gpus.size() * choices.size());
  for (const std::string& name : gpus) {
    const auto gpu = gpu::load_gpu(name, gpu_folder());
    if (!gpu) return gpu.error();
    for (const policy::Choice& choice : choices) {
      const auto cost = lab::measure_decisions(*gpu, *kernels, choice, o.cycles);
      if (!cost) return cost.error();
      const std::string policy(choice.entry->info.name);
      progress.advance(1, policy);
      const double epoch = cost->epochs == 0 ? 0 : cost->epoch_seconds / static_cast<double>(cost->epochs);
      table.add({policy, gpu->name, grouped(gpu->sm.count), grouped(cost->epochs),
                 cost->epochs == 0 ? "" : duration(epoch), grouped(cost->events), duration(cost->policy_seconds),
                 duration(cost->run_seconds), fmt::format("{:.3f}%", 100 * cost->share())});
      items.push_back({{"name", policy},
                       {"gpu", gpu->name},
                       {"sms", gpu->sm.count},
                       {"gpu_cycles", o.cycles},
                       {"epochs", cost->epochs},
                       {"seconds_per_epoch", epoch},
                       {"events", cost->events},
                       {"policy_seconds", cost->policy_seconds},
                       {"seconds", cost->run_seconds},
                       {"share", cost->share()}});
    }
  }
  const Output output(o.json);
  output.say(table.to_string());
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

}  // namespace

void add_bench_policies(const Command& bench) {
  auto o = std::make_shared<BenchPoliciesOptions>();
  const Command policies = bench.add("policies", "Time of policies' decisions, relative to the simulation",
                                     "wm bench policies\nwm bench policies quota smqos --gpu h200 --cycles 100000");
  policies.option("names", o->policies, "Policies, NAME[:parameter=value]… (all)");
  policies.option("--gpu", o->gpus, "A GPU by name, or a YAML file; repeat it (qos16, qos56 and h200)");
  policies.option("--cycles", o->cycles, "Length of each run", {.show_default = true, .low = 1, .high = 1e15});
  policies.json(o->json);
  policies.run([o] { return bench_policies(*o); });
}

}  // namespace wm::cli
