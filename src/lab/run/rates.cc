#include "lab/run/rates.h"

#include "sim/cycle/power/power.h"

namespace wm::lab {
namespace {

std::optional<double> hit_rate(std::uint64_t accesses, std::uint64_t misses) {
  if (accesses == 0) return std::nullopt;
  return 1 - static_cast<double>(misses) / static_cast<double>(accesses);
}

KernelRates rates_of(const sim::KernelInterval& k, double cycles, double seconds, double scheduler_cycles) {
  KernelRates r;
  r.instructions = k.sm.thread_instructions;
  r.ipc = static_cast<double>(k.sm.thread_instructions) / cycles;
  const std::uint64_t sectors = k.memory.dram_read_sectors + k.memory.dram_write_sectors;
  r.gigabytes = static_cast<double>(sectors * sim::kSectorBytes) * 1e-9 / seconds;
  r.l1_hit = hit_rate(k.sm.l1_sectors, k.sm.l1_misses);
  r.l2_hit = hit_rate(k.memory.l2_sectors, k.memory.l2_misses);
  for (std::size_t i = 0; i < sim::kStalls; ++i) r.stalls[i] = static_cast<double>(k.sm.stalls[i]) / scheduler_cycles;
  r.resident = k.resident;
  r.quota = k.quota;
  return r;
}

}  // namespace

std::vector<IntervalRates> rates_of(const gpu::GpuConfig& gpu, const sim::Timeline& timeline) {
  std::vector<IntervalRates> all;
  for (const sim::Interval& i : timeline.intervals()) {
    IntervalRates row{.begin = i.begin, .cycles = i.cycles, .watts = 0, .gigabytes = 0, .gated = 0, .kernels = {}};
    std::vector<std::uint64_t> dynamic;
    for (const sim::KernelInterval& k : i.kernels)
      dynamic.push_back(sim::dynamic_picojoules(gpu.power, k.sm, k.memory));
    const sim::EnergyReport energy = sim::energy_of(gpu, i.cycles, i.gated, dynamic);
    const auto cycles = static_cast<double>(i.cycles);
    for (std::size_t k = 0; k < i.kernels.size(); ++k) {
      row.kernels.push_back(rates_of(i.kernels[k], cycles, energy.seconds, cycles * gpu.sm.count * gpu.sm.schedulers));
      row.kernels.back().watts = energy.kernel_joules[k] / energy.seconds;
      row.gigabytes += row.kernels.back().gigabytes;
    }
    row.watts = energy.watts();
    row.gated = static_cast<double>(i.gated) / cycles;
    all.push_back(std::move(row));
  }
  return all;
}

std::string_view stall_name(std::size_t stall) {
  static constexpr std::array<std::string_view, sim::kStalls> kNames{"memory",  "unit",  "dependency", "fetch",
                                                                     "barrier", "quota", "idle"};
  return kNames[stall];
}

}  // namespace wm::lab
