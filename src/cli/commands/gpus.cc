// wm gpus: the GPUs that can be simulated, and one in full.
#include <fmt/format.h>
#include <memory>

#include "base/file.h"
#include "base/json.h"
#include "cli/commands/command.h"
#include "cli/input/data_folder.h"
#include "cli/output/output.h"
#include "cli/output/table.h"
#include "gpu/load_gpu.h"

namespace wm::cli {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const gpu::GpuConfig& g) {
  return {{"name", g.name},
          {"about", g.about},
          {"sms", g.sm.count},
          {"clock_mhz", g.sm.clock_mhz},
          {"schedulers", g.sm.schedulers},
          {"threads_per_sm", g.sm.threads},
          {"blocks_per_sm", g.sm.blocks},
          {"registers_per_sm", g.sm.registers},
          {"shared_memory_per_sm", g.sm.shared_memory},
          {"l1_bytes", g.l1.bytes},
          {"l2_bytes", g.l2.bytes},
          {"memory_bytes_per_second", g.dram.peak_bytes_per_second()}};
}

Result<int> list(const std::string& json) {
  Table table({"name", "SMs", "MHz", "threads/SM", "registers", "shared", "L2", "memory", "about"});
  Json items = Json::array();
  for (const std::string& name : gpu::gpu_names(gpu_folder())) {
    const auto g = gpu::load_gpu(name, gpu_folder());
    if (!g) return g.error();
    table.add({Cell(g->name, Style::bold), std::to_string(g->sm.count), std::to_string(g->sm.clock_mhz),
               std::to_string(g->sm.threads), fmt::format("{} KB", g->sm.registers / 256),
               fmt::format("{} KB", g->sm.shared_memory / 1024), fmt::format("{:.3g} MB", g->l2.bytes / 1048576.0),
               fmt::format("{:.0f} GB/s", g->dram.peak_bytes_per_second() / 1e9), g->about});
    items.push_back(json_of(*g));
  }
  const Output output(json);
  output.say(table.to_string());
  output.say("\n'wm gpus NAME' prints one whole; copy it, edit it, and give its path wherever a GPU is named.\n");
  if (auto done = output.items(items); !done) return done.error();
  return 0;
}

Result<int> show(const std::string& name, const std::string& json) {
  const auto g = gpu::load_gpu(name, gpu_folder());
  if (!g) return g.error();
  const std::string path = name.ends_with(".yaml") ? name : gpu_folder() + "/" + name + ".yaml";
  const auto text = read_file(path);
  if (!text) return text.error();
  const Output output(json);
  output.say(*text);
  if (auto done = output.items(Json::array({json_of(*g)})); !done) return done.error();
  return 0;
}

}  // namespace

void add_gpus(const Command& wm) {
  auto name = std::make_shared<std::string>();
  auto json = std::make_shared<std::string>();
  const Command gpus = wm.add("gpus", "The GPUs that can be simulated", "wm gpus\nwm gpus qos16 > mine.yaml");
  gpus.option("name", *name, "One GPU: its whole configuration");
  gpus.json(*json);
  gpus.run([=] { return name->empty() ? list(*json) : show(*name, *json); });
}

}  // namespace wm::cli
