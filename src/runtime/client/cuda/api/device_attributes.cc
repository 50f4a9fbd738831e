#include "runtime/client/cuda/api/device_attributes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>

namespace wm::cuda {

namespace {

struct Capability {
  std::string_view gpu;
  int value;
};
constexpr Capability kCapabilities[] = {{"k20c", 35}, {"v100", 70}, {"a100", 80}, {"h200", 90}};
constexpr int kNewest = 90;
constexpr int kLastAttribute = 145;

// Attributes that are the same on every simulated GPU: {number, value}. Those of neither list are 0.
struct FixedAttribute {
  int number;
  int value;
};
constexpr FixedAttribute kFixed[] = {
    {1, kMaxThreadsPerBlock},  // threads of a block
    {2, 1024},                 // block x, y, z
    {3, 1024},
    {4, 64},
    {5, std::numeric_limits<int>::max()},  // grid x, y, z
    {6, 65535},
    {7, 65535},
    {8, kSharedWithoutOptIn},               // shared memory of a block
    {9, 65536},                             // constant memory
    {10, 32},                               // warp
    {11, std::numeric_limits<int>::max()},  // pitch
    {14, 512},                              // texture alignment
    {15, 1},                                // copies beside kernels
    {19, 1},                                // can map host memory
    {30, 512},                              // surface alignment
    {31, 1},                                // concurrent kernels
    {33, 1},                                // PCI bus
    {40, 2},                                // copy engines
    {41, 1},                                // unified addressing
    {51, 32},                               // texture pitch alignment
    {78, 1},                                // stream priorities
    {79, 1},                                // global memory in L1
    {80, 1},                                // local memory in L1
    {83, 1},                                // managed memory
    {87, 2},                                // single to double precision
    {89, 1},                                // concurrent access to managed memory
    {91, 1},                                // registered memory at the host's address
    {92, 1},                                // stream memory operations, first version: all three
    {93, 1},
    {94, 1},
    {95, 1},  // cooperative launches
    {99, 1},  // host memory can be registered
    {111, kReservedShared},
    {115, 1},  // memory pools
    {122, 1},  // 64-bit stream memory operations
    {123, 1},  // waits for NOR
};

}  // namespace

int compute_capability(const gpu::GpuConfig& config) {
  const auto* at = std::find_if(std::begin(kCapabilities), std::end(kCapabilities),
                                [&](const Capability& c) { return c.gpu == config.name; });
  return at == std::end(kCapabilities) ? kNewest : at->value;
}

std::optional<int> device_attribute(const gpu::GpuConfig& config, int attribute) {
  const auto number = [](std::uint64_t n) { return static_cast<int>(n); };
  switch (attribute) {
    case 12:  // registers of a block
    case 82:  // registers of an SM
      return number(config.sm.registers);
    case 13:  // kHz
      return number(config.sm.clock_mhz * 1000ULL);
    case 16:
      return number(config.sm.count);
    case 36:  // memory clock in kHz
      return number(config.dram.clock_mhz * 1000ULL);
    case 37:  // bus width in bits: two transfers a clock
      return number(std::uint64_t{config.dram.channels} * config.dram.bytes_per_clock * 8 / 2);
    case 38:
      return number(config.l2.bytes);
    case 39:
      return number(config.sm.threads);
    case 75:
      return compute_capability(config) / 10;
    case 76:
      return compute_capability(config) % 10;
    case 81:  // shared memory of an SM
      return number(config.sm.shared_memory + kReservedShared);
    case 97:  // shared memory of a block, with opt-in
      return number(config.sm.shared_memory);
    case 106:
      return number(config.sm.blocks);
    default:
      break;
  }
  const auto* fixed =
      std::find_if(std::begin(kFixed), std::end(kFixed), [&](const auto& a) { return a.number == attribute; });
  if (fixed != std::end(kFixed)) return fixed->value;
  if (attribute < 1 || attribute > kLastAttribute) return std::nullopt;
  return 0;
}

}  // namespace wm::cuda
