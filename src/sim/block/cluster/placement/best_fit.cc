// Best fit: the GPU on which least is left free afterwards, so that room for large requests stays together.
#include "sim/block/cluster/placement.h"

namespace wm::sim {
namespace {

class BestFit final : public Placement {
 public:
  std::uint32_t choose(const GpuPool& gpus, std::span<const Service> services, std::uint32_t service) override {
    return gpus.fullest(services[service].demand);
  }
};

}  // namespace

WM_PLACEMENT(BestFit, "best_fit", "the GPU that has least free beside the request")

}  // namespace wm::sim
