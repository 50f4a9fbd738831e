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

constexpr std::uint64_t kThousandSeconds = 1'000'000'000'000'000;  // picoseconds
constexpr std::uint64_t kMaxDelay = 1'000'000'000;                 // cycles

constexpr std::uint64_t count_of(std::uint64_t number) { return number; }
template <typename Quantity>
constexpr std::uint64_t count_of(Quantity q) requires requires {
  q.count;
}
{ return q.count; }

// Reads a number or a quantity that must lie between two values, which `range` says in words. Times and sizes beyond
// them would not fit into the machine's counters.
template <typename T>
void bounded(Map& m, std::string_view key, T& out, std::uint64_t low, std::uint64_t high, std::string_view range) {
  const Value* value = m.take(key);
  if (value == nullptr) return;
  m.keep(yaml::read(*value, m.label(key), out));
  if (count_of(out) < low || count_of(out) > high)
    m.keep(Error{fmt::format("{} must be {}, not '{}'", m.label(key), range, value->text), value->place});
}

void read_cpu(Map& m, CpuConfig& cpu) {
  cpu.cores = 0;
  bounded(m, "cores", cpu.cores, 1, 100'000, "from 1 to 100000");
  bounded(m, "threads_per_core", cpu.threads_per_core, 1, 1024, "from 1 to 1024");
  bounded(m, "api_call", cpu.api_call, 0, kThousandSeconds, "at most 1000 s");
  if (cpu.cores == 0) m.miss("cores");
}

void read_order(Map& m, LinkConfig& link) {
  const Value* order = m.take("order");
  if (order == nullptr) return;
  if (order->text != "fcfs" && order->text != "priority")
    m.keep(Error{fmt::format("'order' in pcie is fcfs or priority, not '{}'", order->text), order->place});
  link.order = order->text == "priority" ? LinkConfig::Order::priority : LinkConfig::Order::fcfs;
}

void read_link(Map& m, LinkConfig& link) {
  Hertz clock{0};
  std::uint32_t lanes = 0;
  Bytes burst{link.burst_bytes};
  bounded(m, "clock", clock, 1'000'000, 1'000'000'000'000, "from 1 MHz to 1000 GHz");
  bounded(m, "lanes", lanes, 1, 65'536, "from 1 to 65536");
  bounded(m, "burst", burst, 1, std::uint64_t{1} << 40, "from 1 B to 1024 GB");
  bounded(m, "latency", link.latency, 0, kThousandSeconds, "at most 1000 s");
  m.optional("duplex", link.duplex);
  read_order(m, link);
  Bytes to_device{0}, to_host{0};
  constexpr std::uint64_t kSlowest = 1 << 20;  // a copy of the largest size takes less cycles than a run may have
  bounded(m, "pageable_to_device", to_device, kSlowest, ~std::uint64_t{0}, "at least 1 MB");
  bounded(m, "pageable_to_host", to_host, kSlowest, ~std::uint64_t{0}, "at least 1 MB");
  link.pageable_to_device = to_device.count;
  link.pageable_to_host = to_host.count;
  if (clock.count == 0) m.miss("clock");
  if (lanes == 0) m.miss("lanes");
  // A byte for each lane and clock; half of the lanes lead in each direction.
  link.bytes_per_second = std::max<std::uint64_t>(1, clock.count * lanes / 2);
  link.burst_bytes = burst.count;
}

void read_shared_memory(const Value& value, SystemConfig& c, Map& m) {
  std::vector<Bytes> configurations;
  m.keep(yaml::read(value, m.label("shared_memory"), configurations));
  const std::uint64_t all = c.machine.limits.total.shared_bytes;
  for (const Bytes b : configurations) {
    if (b.count == 0 || b.count > all)
      m.keep(Error{fmt::format("'shared_memory' in execution: {} bytes are not from 1 to the SM's {}", b.count, all),
                   value.place});
    c.shared_configurations.push_back(static_cast<std::uint32_t>(std::min(b.count, all)));
  }
  if (!std::is_sorted(c.shared_configurations.begin(), c.shared_configurations.end()))
    m.keep(Error{"'shared_memory' in execution must rise", value.place});
}

void read_execution(Map& m, SystemConfig& c) {
  bounded(m, "decision_cycles", c.machine.decision.count, 0, kMaxDelay, "at most 1000000000");
  bounded(m, "setup_cycles", c.machine.setup.count, 0, kMaxDelay, "at most 1000000000");
  m.optional("fill_sms", c.machine.fill_sms).optional("active_kernels", c.active_kernels);
  bounded(m, "hardware_queues", c.hardware_queues, 1, 1'000'000, "from 1 to 1000000");
  bounded(m, "dispatch_latency", c.dispatch_latency, 0, kThousandSeconds, "at most 1000 s");
  if (const Value* value = m.take("shared_memory")) read_shared_memory(*value, c, m);
}

// Files of GPUs have the section `sm`, which files of systems lack.
bool describes_gpu(const Value& file) {
  return std::any_of(file.members.begin(), file.members.end(), [](const yaml::Member& m) { return m.key == "sm"; });
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
  if (describes_gpu(*value)) {
    const auto gpu = gpu::parse_gpu(text, file);
    if (!gpu) return gpu.error();
    return system_around(*gpu);
  }
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
  part(map, "cpu", [&](Map& m) { read_cpu(m, c.cpu); });
  part(map, "pcie", [&](Map& m) { read_link(m, c.link); });
  part(map, "execution", [&](Map& m) { read_execution(m, c); });
  if (auto read = map.finish(); !read) return read.error();
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
