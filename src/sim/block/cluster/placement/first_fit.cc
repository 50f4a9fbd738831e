// First fit: the first GPU with room. Later GPUs stay empty while earlier ones suffice.
#include "sim/block/cluster/placement.h"

namespace wm::sim {
namespace {

class FirstFit final : public Placement {
 public:
  std::uint32_t choose(const GpuPool& gpus, std::span<const Service> services, std::uint32_t service) override {
    return gpus.first(services[service].demand, 0, gpus.count());
  }
};

}  // namespace

WM_PLACEMENT(FirstFit, "first_fit", "the first GPU with room")

}  // namespace wm::sim
