// The activity of each kernel in every interval of a run, as rates, fractions and watts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gpu/gpu_config.h"
#include "sim/cycle/timeline.h"

namespace wm::lab {

// Hit rates count sectors and are empty where nothing was accessed.
struct KernelRates {
  std::uint64_t instructions = 0;  // thread instructions
  double ipc = 0;
  double gigabytes = 0;  // per second, to and from DRAM
  std::optional<double> l1_hit;
  std::optional<double> l2_hit;
  double watts = 0;                           // dynamic
  std::array<double, sim::kStalls> stalls{};  // fractions of all scheduler cycles of the chip
  std::uint32_t resident = 0;                 // blocks at the end of the interval
  std::optional<std::int64_t> quota;          // thread instructions left at the end of the interval
};

struct IntervalRates {
  std::uint64_t begin = 0;
  std::uint64_t cycles = 0;
  double watts = 0;  // power of the chip
  double gigabytes = 0;
  double gated = 0;  // SMs switched off, on average
  std::vector<KernelRates> kernels;
};

std::vector<IntervalRates> rates_of(const gpu::GpuConfig& gpu, const sim::Timeline& timeline);

// "memory", "unit", "dependency", "fetch", "barrier", "quota", "idle".
std::string_view stall_name(std::size_t stall);

}  // namespace wm::lab
