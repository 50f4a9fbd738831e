#include "gpu/load_gpu.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <span>

#include "base/file.h"
#include "base/nearest.h"
#include "base/yaml_map.h"
#include "components/names.h"

namespace wm::gpu {
namespace {

using yaml::Map;
using yaml::Value;

constexpr std::array<const char*, kUnits> kUnitNames{"fp32",   "integer",    "fp64",   "sfu",
                                                     "tensor", "load_store", "branch", "multiply"};
constexpr auto kMultiply = static_cast<std::size_t>(Unit::multiply);

// Quantities with a unit, into plain counts.
void bytes(Map& map, std::string_view key, std::uint32_t& out, bool required = true) {
  Bytes b{out};
  required ? map.required(key, b) : map.optional(key, b);
  out = static_cast<std::uint32_t>(std::min<std::uint64_t>(b.count, 0xffffffffU));
}

void megahertz(Map& map, std::string_view key, std::uint32_t& out) {
  Hertz h{std::uint64_t{out} * 1'000'000};
  map.required(key, h);
  out = static_cast<std::uint32_t>(h.count / 1'000'000);
}

template <typename Enum>
void choice(Map& map, std::string_view key, Enum& out, const std::vector<std::pair<std::string, Enum>>& names) {
  const Value* value = map.take(key);
  if (value == nullptr) return;
  std::vector<std::string> known;
  for (const auto& [name, e] : names) {
    if (value->text == name) {
      out = e;
      return;
    }
    known.push_back(name);
  }
  map.keep(Error{fmt::format("unknown {} '{}'{}", key, value->text, did_you_mean(value->text, known)), value->place});
}

// The name of a component that the build found; `kind` names the component in the message.
void component(Map& map, std::string_view key, std::string_view kind, std::string& out,
               std::span<const std::string_view> known) {
  const Value* value = map.take(key);
  if (value == nullptr) return;
  out = value->text;
  if (std::find(known.begin(), known.end(), out) != known.end()) return;
  const std::vector<std::string> names(known.begin(), known.end());
  map.keep(Error{fmt::format("unknown {} '{}'{}", kind, out, did_you_mean(out, names)), value->place});
}

void replacement(Map& map, std::string& out) {
  component(map, "replacement", "cache replacement", out, components::kReplacementRules);
}

// A nested map, read by `fill`; its mistakes become the outer map's.
template <typename Fill>
void part(Map& outer, std::string_view key, bool required, Fill&& fill) {
  const Value* value = outer.take(key);
  if (value == nullptr) {
    if (required) outer.miss(key);
    return;
  }
  Map inner(*value, std::string(key));
  fill(inner);
  outer.keep(inner.finish());
}

void read_units(Map& sm, SmConfig& c) {
  part(sm, "units", true, [&](Map& units) {
    for (std::size_t u = 0; u < kUnits; ++u)
      part(units, kUnitNames[u], u != kMultiply, [&](Map& m) {
        c.has_multiply_unit |= u == kMultiply;
        m.required("latency", c.units[u].latency)
            .required("lanes", c.units[u].lanes)
            .optional("per_sm", c.units[u].per_sm);
      });
  });
}

void read_sm(Map& m, SmConfig& c) {
  m.required("count", c.count).required("schedulers", c.schedulers).optional("issue_width", c.issue_width);
  megahertz(m, "clock", c.clock_mhz);
  component(m, "policy", "warp scheduler", c.warp_scheduler, components::kWarpSchedulers);
  std::uint32_t register_bytes = 0;
  bytes(m, "registers", register_bytes);
  c.registers = register_bytes / 4;
  m.optional("register_unit", c.register_unit).optional("register_banks", c.register_banks);
  bytes(m, "shared_memory", c.shared_memory);
  bytes(m, "shared_memory_unit", c.shared_memory_unit, false);
  m.required("threads", c.threads).required("blocks", c.blocks);
  m.optional("fp32_adds", c.fp32_adds);
  m.optional("barrier_latency", c.barrier_latency).optional("barrier_per_warp", c.barrier_per_warp);
  m.optional("branch_guard_latency", c.branch_guard_latency).optional("taken_branch_latency", c.taken_branch_latency);
  m.optional("reconvergence_latency", c.reconvergence_latency).optional("saves_context", c.saves_context);
  read_units(m, c);
}

void read_caches(Map& m, GpuConfig& c) {
  part(m, "shared_memory_access", false, [&](Map& s) {
    s.optional("banks", c.shared.banks).required("latency", c.shared.latency);
    s.optional("joins_pairs", c.shared.joins_pairs).optional("atomic_turns", c.shared.atomic_turns);
  });
  part(m, "instruction_cache", false, [&](Map& i) {
    bytes(i, "size", c.icache.bytes);
    bytes(i, "line", c.icache.line, false);
    bytes(i, "instruction", c.icache.instruction_bytes, false);
    replacement(i, c.icache.replacement);
    i.optional("ways", c.icache.ways).required("miss_latency", c.icache.miss_latency);
  });
  part(m, "constant_cache", false, [&](Map& k) {
    bytes(k, "size", c.constant.bytes);
    bytes(k, "line", c.constant.line, false);
    replacement(k, c.constant.replacement);
    k.optional("ways", c.constant.ways)
        .required("latency", c.constant.latency)
        .required("miss_latency", c.constant.miss_latency);
  });
  part(m, "texture_cache", false, [&](Map& t) {
    bytes(t, "size", c.texture.bytes);
    replacement(t, c.texture.replacement);
    t.required("ways", c.texture.ways).required("latency", c.texture.latency);
    t.optional("mshrs", c.texture.mshrs).optional("mshr_waiters", c.texture.mshr_waiters);
    t.optional("read_only_loads", c.texture.read_only_loads);
  });
  part(m, "l1", true, [&](Map& l) {
    bytes(l, "size", c.l1.bytes);
    replacement(l, c.l1.replacement);
    bytes(l, "bytes_per_cycle", c.l1.bytes_per_cycle, false);
    l.required("ways", c.l1.ways).required("latency", c.l1.latency).required("mshrs", c.l1.mshrs);
    l.optional("mshr_waiters", c.l1.mshr_waiters).optional("caches_global", c.l1.caches_global);
    l.optional("stores_in_flight", c.l1.stores_in_flight).optional("lookups_per_cycle", c.l1.lookups_per_cycle);
    choice(l, "store", c.l1.store,
           {{"write_through", StorePolicy::write_through}, {"write_evict", StorePolicy::write_evict}});
  });
  part(m, "l2", true, [&](Map& l) {
    bytes(l, "size", c.l2.bytes);
    replacement(l, c.l2.replacement);
    bytes(l, "bytes_per_cycle", c.l2.bytes_per_cycle, false);
    l.required("slices", c.l2.slices).required("ways", c.l2.ways).required("latency", c.l2.latency);
    l.optional("mshrs", c.l2.mshrs).optional("mshr_waiters", c.l2.mshr_waiters);
    bytes(l, "fetch", c.l2.fetch_bytes, false);
    bytes(l, "partial_write", c.l2.partial_write_bytes, false);
    l.optional("dirty_ways", c.l2.dirty_ways);
    l.optional("atomics_per_cycle", c.l2.atomics_per_cycle).optional("chunks", c.l2.chunks);
    bytes(l, "atomic_turn", c.l2.atomic_turn_bytes, false);
    bytes(l, "shared_write", c.l2.shared_write_bytes, false);
  });
}

void read_paths(Map& m, GpuConfig& c) {
  part(m, "tlb", false, [&](Map& t) {
    bytes(t, "page", c.tlb.page_bytes, false);
    t.required("entries", c.tlb.entries).required("latency", c.tlb.latency).required("interval", c.tlb.interval);
  });
  part(m, "interconnect", true, [&](Map& n) {
    choice(n, "topology", c.noc.topology, {{"crossbar", Topology::crossbar}, {"mesh", Topology::mesh}});
    bytes(n, "bytes_per_cycle", c.noc.bytes_per_cycle);
    bytes(n, "sm_bytes_per_cycle", c.noc.sm_bytes_per_cycle, false);
    n.required("latency", c.noc.latency).optional("hop_latency", c.noc.hop_latency);
    n.optional("far_latency", c.noc.far_latency);
  });
  part(m, "dram", true, [&](Map& d) {
    megahertz(d, "clock", c.dram.clock_mhz);
    bytes(d, "bytes_per_clock", c.dram.bytes_per_clock);
    bytes(d, "row", c.dram.row_bytes, false);
    d.required("channels", c.dram.channels).optional("banks", c.dram.banks).required("latency", c.dram.latency);
    component(d, "scheduler", "DRAM scheduler", c.dram.scheduler, components::kDramSchedulers);
    d.optional("commands_per_clock", c.dram.commands_per_clock);
    d.optional("read_queue", c.dram.read_queue).optional("write_queue", c.dram.write_queue);
    d.required("tCL", c.dram.tCL).required("tRP", c.dram.tRP).required("tRC", c.dram.tRC).required("tRAS", c.dram.tRAS);
    d.required("tRCD", c.dram.tRCD)
        .required("tRRD", c.dram.tRRD)
        .optional("tWR", c.dram.tWR)
        .optional("tWTR", c.dram.tWTR);
    d.optional("tREFI", c.dram.tREFI).optional("tRFC", c.dram.tRFC);
  });
}

void read_host_link(Map& m, HostLinkConfig& h) {
  part(m, "host_link", false, [&](Map& l) {
    Picoseconds latency{h.latency_ps};
    Bytes a_second{h.bytes_per_microsecond * 1'000'000};
    l.optional("latency", latency).optional("bytes_per_second", a_second);
    h = {latency.count, std::max<std::uint64_t>(1, a_second.count / 1'000'000)};
  });
}

void read_power(Map& m, PowerConfig& p) {
  part(m, "power", true, [&](Map& w) {
    part(w, "lane_operation_pj", true, [&](Map& l) {
      for (std::size_t u = 0; u < kMultiply; ++u) l.required(kUnitNames[u], p.lane_operation_pj[u]);
      p.lane_operation_pj[kMultiply] = p.lane_operation_pj[static_cast<std::size_t>(Unit::integer)];
      l.optional(kUnitNames[kMultiply], p.lane_operation_pj[kMultiply]);
    });
    w.required("instruction_pj", p.instruction_pj).required("register_access_pj", p.register_access_pj);
    w.required("shared_access_pj", p.shared_access_pj).required("l1_sector_pj", p.l1_sector_pj);
    w.required("l2_sector_pj", p.l2_sector_pj).required("noc_flit_pj", p.noc_flit_pj);
    w.required("dram_sector_pj", p.dram_sector_pj).required("sm_static_mw", p.sm_static_mw);
    w.required("sm_gated_mw", p.sm_gated_mw).required("rest_static_mw", p.rest_static_mw);
    w.required("wake_cycles", p.wake_cycles);
  });
}

// The checks of `validate`, as a table of conditions and messages.
struct Check {
  bool holds;
  std::string what;
};

}  // namespace

Result<void> validate(const GpuConfig& c) {
  const auto power_of_two = [](std::uint32_t n) { return n != 0 && (n & (n - 1)) == 0; };
  std::vector<Check> checks{
      {c.sm.count >= 1 && c.sm.count <= 1024, "sm: count must be from 1 to 1024"},
      {c.sm.clock_mhz >= 1 && c.sm.clock_mhz <= 10'000, "sm: clock must be from 1 MHz to 10 GHz"},
      {c.sm.schedulers >= 1 && c.sm.schedulers <= 4, "sm: schedulers must be from 1 to 4"},
      {c.sm.issue_width >= 1 && c.sm.issue_width <= 2, "sm: issue_width must be 1 or 2"},
      {c.sm.threads % 32 == 0 && c.sm.threads >= 32 && c.sm.threads <= 2048,
       "sm: threads must be a multiple of 32 up to 2048"},
      {c.sm.blocks >= 1 && c.sm.blocks <= 64, "sm: blocks must be from 1 to 64"},
      {c.sm.registers >= 1024, "sm: registers must be at least 4 KB"},
      {c.shared.banks == 32 || c.shared.banks == 16, "shared_memory_access: banks must be 16 or 32"},
      {c.l1.bytes >= 128 * c.l1.ways && c.l1.ways >= 1, "l1: size must hold at least one set of lines (ways x 128 B)"},
      {c.l1.mshrs >= 1 && c.l1.mshr_waiters >= 1, "l1: mshrs must be at least 1"},
      {c.l1.lookups_per_cycle >= 1 && c.l1.lookups_per_cycle <= 32, "l1: lookups_per_cycle must be from 1 to 32"},
      {c.texture.ways >= 1 && (c.texture.bytes == 0 || c.texture.bytes >= 128 * c.texture.ways),
       "texture_cache: size must hold at least one set of lines (ways x 128 B)"},
      {c.texture.latency >= 1 && c.texture.mshrs >= 1 && c.texture.mshr_waiters >= 1,
       "texture_cache: latency, mshrs and mshr_waiters must be at least 1"},
      {c.dram.channels >= 1, "dram: channels must be at least 1"},
      {c.l2.slices % std::max(1U, c.dram.channels) == 0 && c.l2.slices >= 1,
       "l2: slices must be a multiple of dram channels"},
      {c.l2.slices <= 1024, "l2: slices must be at most 1024"},
      {c.l2.bytes / std::max(1U, c.l2.slices) >= 128 * c.l2.ways,
       "l2: size must hold at least one set of lines a slice"},
      {power_of_two(c.tlb.page_bytes) && c.tlb.page_bytes >= 4096, "tlb: page must be a power of two of at least 4 KB"},
      {c.tlb.entries == 0 || power_of_two(c.tlb.entries), "tlb: entries must be a power of two"},
      {c.l2.fetch_bytes == 32 || c.l2.fetch_bytes == 64, "l2: fetch must be 32 or 64 B"},
      {c.l2.dirty_ways <= c.l2.ways, "l2: dirty_ways must not be more than ways"},
      {c.dram.banks >= 1 && c.dram.banks <= 64, "dram: banks must be from 1 to 64"},
      {c.dram.row_bytes >= 128 && power_of_two(c.dram.row_bytes), "dram: row must be a power of two of at least 128 B"},
      {c.dram.bytes_per_clock >= 1 && c.dram.clock_mhz >= 1, "dram: clock and bytes_per_clock must be at least 1"},
      {c.dram.commands_per_clock >= 1, "dram: commands_per_clock must be at least 1"},
      {c.dram.tREFI == 0 || c.dram.tRFC < c.dram.tREFI, "dram: tRFC must be less than tREFI"},
      {c.dram.tRC >= c.dram.tRAS, "dram: tRC must be at least tRAS"},
      {c.noc.latency >= 1 && c.noc.bytes_per_cycle >= 1,
       "interconnect: latency and bytes_per_cycle must be at least 1"},
  };
  for (std::size_t u = 0; u < kUnits; ++u) {
    const std::uint32_t lanes = c.sm.units[u].lanes;
    checks.push_back({lanes >= 1 && lanes <= 128 && c.sm.units[u].latency >= 1 && c.sm.units[u].latency <= 200,
                      fmt::format("sm: units: {} needs 1 to 128 lanes and a latency from 1 to 200", kUnitNames[u])});
  }
  for (const Check& check : checks)
    if (!check.holds) return Error{check.what};
  return {};
}

Result<GpuConfig> parse_gpu(std::string_view text, const std::string& file) {
  const auto value = yaml::load(text, file);
  if (!value) return value.error();
  GpuConfig c;
  Map map(*value, "");
  const yaml::Value* name = map.take("name");
  map.required("name", c.name).optional("about", c.about).optional("launch_latency", c.launch_latency);
  map.optional("block_interval", c.block_interval);
  map.optional("assembled", c.assembled);
  part(map, "sm", true, [&](Map& m) { read_sm(m, c.sm); });
  read_caches(map, c);
  read_paths(map, c);
  read_host_link(map, c.host);
  read_power(map, c.power);
  if (auto read = map.finish(); !read) return read.error();
  if (c.name.empty()) return Error{"'name' must not be empty", name->place};
  if (auto possible = validate(c); !possible) {
    Error e = possible.error();
    // The line of the part the message starts with: "dram: …".
    const std::string part_name = e.what.substr(0, e.what.find(':'));
    e.where.file = file;
    for (const yaml::Member& m : value->members)
      if (m.key == part_name) e.where = m.place;
    return e;
  }
  c.source = text;
  return c;
}

std::vector<std::string> gpu_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Result<GpuConfig> load_gpu(const std::string& name_or_path, const std::string& folder) {
  std::string path = name_or_path;
  if (!name_or_path.ends_with(".yaml")) {
    const std::vector<std::string> names = gpu_names(folder);
    if (std::find(names.begin(), names.end(), name_or_path) == names.end())
      return Error{fmt::format("unknown GPU '{}'{}; `wm gpus` lists them, a path ends in .yaml", name_or_path,
                               did_you_mean(name_or_path, names))};
    path = folder + "/" + name_or_path + ".yaml";
  }
  const auto text = read_file(path);
  if (!text) return text.error();
  return parse_gpu(*text, path);
}

}  // namespace wm::gpu
