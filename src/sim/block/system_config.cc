#include "sim/block/system_config.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

#include "base/file.h"
#include "base/yaml_map.h"
#include "gpu/load_gpu.h"

namespace wm::sim {
namespace {

using yaml::Map;
using yaml::Value;

// A nested map that may be absent, read by `fill`; its mistakes become the outer map's.
template <typename Fill>
void part(Map& outer, std::string_view key, Fill&& fill) {
  const Value* value = outer.take(key);
  if (value == nullptr) return;
  Map inner(*value, std::string(key));
  fill(inner);
  outer.keep(inner.finish());
}

void read_link(Map& m, LinkConfig& link) {
  Hertz clock{0};
  std::uint32_t lanes = 0;
  Bytes burst{link.burst_bytes};
  std::string order = "fcfs";
  m.required("clock", clock).required("lanes", lanes).optional("burst", burst);
  m.optional("latency", link.latency).optional("duplex", link.duplex).optional("order", order);
  Bytes to_device{0}, to_host{0};
  m.optional("pageable_to_device", to_device).optional("pageable_to_host", to_host);
  link.pageable_to_device = to_device.count;
  link.pageable_to_host = to_host.count;
  // A byte for each lane and clock; half of the lanes lead in each direction.
  link.bytes_per_second = std::max<std::uint64_t>(1, clock.count * lanes / 2);
  link.burst_bytes = std::max<std::uint64_t>(1, burst.count);
  if (order != "fcfs" && order != "priority") m.keep(Error{"'order' in pcie is fcfs or priority"});
  link.order = order == "priority" ? LinkConfig::Order::priority : LinkConfig::Order::fcfs;
}

void read_execution(Map& m, SystemConfig& c) {
  m.optional("decision_cycles", c.machine.decision.count).optional("setup_cycles", c.machine.setup.count);
  m.optional("fill_sms", c.machine.fill_sms).optional("active_kernels", c.active_kernels);
  m.optional("hardware_queues", c.hardware_queues).optional("dispatch_latency", c.dispatch_latency);
  std::vector<Bytes> configurations;
  m.optional("shared_memory", configurations);
  for (const Bytes b : configurations) c.shared_configurations.push_back(static_cast<std::uint32_t>(b.count));
  if (!std::is_sorted(c.shared_configurations.begin(), c.shared_configurations.end()))
    m.keep(Error{"'shared_memory' in execution must rise"});
}

}  // namespace

SystemConfig system_around(const gpu::GpuConfig& gpu) {
  SystemConfig c;
  c.name = gpu.name;
  c.about = gpu.about;
  c.gpu = gpu;
  c.machine = block_machine_spec(gpu);
  c.machine.fill_sms = false;
  c.link.bytes_per_second = gpu.host.bytes_per_microsecond * 1'000'000;
  c.link.latency = {gpu.host.latency_ps};
  return c;
}

Result<SystemConfig> parse_system(std::string_view text, const std::string& file, const std::string& gpu_folder) {
  const auto value = yaml::load(text, file);
  if (!value) return value.error();
  std::string name;
  std::string about;
  std::string gpu_name;
  Map map(*value, "");
  map.required("name", name).optional("about", about).required("gpu", gpu_name);
  SystemConfig c;
  if (!gpu_name.empty()) {
    const auto gpu = gpu::load_gpu(gpu_name, gpu_folder);
    if (!gpu) return gpu.error();
    c = system_around(*gpu);
  }
  c.name = name;
  c.about = about;
  part(map, "cpu", [&](Map& m) {
    m.required("cores", c.cpu.cores).optional("threads_per_core", c.cpu.threads_per_core);
    m.optional("api_call", c.cpu.api_call);
  });
  part(map, "pcie", [&](Map& m) { read_link(m, c.link); });
  part(map, "execution", [&](Map& m) { read_execution(m, c); });
  if (auto read = map.finish(); !read) return read.error();
  if (c.cpu.hardware_threads() == 0 || c.hardware_queues == 0)
    return Error{"a system needs at least one CPU thread and one hardware queue", value->place};
  return c;
}

Result<SystemConfig> load_system(const std::string& name_or_path, const std::string& folder,
                                 const std::string& gpu_folder) {
  std::string path = name_or_path;
  if (!path.ends_with(".yaml")) {
    path = folder + "/" + name_or_path + ".yaml";
    if (!std::filesystem::exists(path)) {
      const auto gpu = gpu::load_gpu(name_or_path, gpu_folder);
      if (!gpu) return gpu.error();
      return system_around(*gpu);
    }
  }
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_system(*text, path, gpu_folder);
}

}  // namespace wm::sim
