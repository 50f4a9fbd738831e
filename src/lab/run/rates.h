// What each kernel did in every interval of a run, as people read it: rates, parts of a whole, watts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "gpu/gpu_config.h"
#include "sim/cycle/timeline.h"

namespace wm::lab {

// Hit rates are of sectors and missing where nothing was accessed.
struct KernelRates {
  std::uint64_t instructions = 0;  // of threads
  double ipc = 0;
  double gigabytes = 0;  // a second, to and from DRAM
  std::optional<double> l1_hit;
  std::optional<double> l2_hit;
  double watts = 0;                           // dynamic
  std::array<double, sim::kStalls> stalls{};  // of all scheduler cycles of the chip
  std::uint32_t resident = 0;                 // blocks, at its end
  std::optional<std::int64_t> quota;          // thread instructions left, at its end
};

struct IntervalRates {
  std::uint64_t begin = 0;
  std::uint64_t cycles = 0;
  double watts = 0;  // of the whole chip
  double gigabytes = 0;
  double gated = 0;  // SMs switched off, on average
  std::vector<KernelRates> kernels;
};

std::vector<IntervalRates> rates_of(const gpu::GpuConfig& gpu, const sim::Timeline& timeline);

// "memory", "unit", "dependency", "fetch", "barrier", "quota", "idle".
std::string_view stall_name(std::size_t stall);

}  // namespace wm::lab
