// The contract of a placement rule, which assigns each request of a cluster to a GPU. Every file in placement/ is a
// rule, named after the file; the build finds it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sim/block/cluster/gpu_pool.h"
#include "sim/block/cluster/service.h"

namespace wm::sim {

class Placement {
 public:
  virtual ~Placement() = default;
  // Called once, before the first request.
  virtual void begin(const GpuPool& gpus, std::span<const Service> services) {
    (void)gpus;
    (void)services;
  }
  // A GPU with room for a request of the service; kNoGpu: the request waits.
  virtual std::uint32_t choose(const GpuPool& gpus, std::span<const Service> services, std::uint32_t service) = 0;
};

struct PlacementEntry {
  std::string_view name;
  std::string_view about;
  std::unique_ptr<Placement> (*make)();
};

// All rules, by name.
const std::vector<PlacementEntry>& placements();
Result<std::unique_ptr<Placement>> make_placement(const std::string& name);

// Ends a rule's file: WM_PLACEMENT(Class, "name", "what it does").
#define WM_PLACEMENT(Class, name, about)                                                        \
  PlacementEntry WM_PLACEMENT_ENTRY();                                                          \
  PlacementEntry WM_PLACEMENT_ENTRY() {                                                         \
    return {name, about, [] { return std::unique_ptr<Placement>(std::make_unique<Class>()); }}; \
  }

}  // namespace wm::sim
