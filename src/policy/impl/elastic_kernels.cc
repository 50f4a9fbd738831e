// Elastic kernels: launches are merged ahead of time into one that runs them side by side. The first takes all it can
// use while each of the others still gets a block; the merged launch ends when all of them have, and only then the next
// one starts. Pai et al., ASPLOS 2013, as accelOS (CGO 2016, sections 2.1, 7.3 and 8) describes and compares with it.
#include <algorithm>
#include <vector>

#include "policy/policy.h"

namespace wm::policy {
namespace {

class ElasticKernels final : public Policy {
 public:
  explicit ElasticKernels(const Values& v) : together_(static_cast<std::size_t>(v.integer("together"))) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, e.kernel, 0);
  }
  void on(const KernelDone& e, Machine&) override {
    running_.erase(std::remove(running_.begin(), running_.end(), e.kernel), running_.end());
  }
  void on(const KernelSetChanged&, Machine& gpu) override {
    if (running_.empty()) merge(gpu);
  }

 private:
  void merge(Machine& gpu) {
    // The oldest launches of which a block each fits beside the others.
    std::vector<Kernel> batch;
    gpu::Resources left = gpu.limits().total;
    for (const Kernel& k : gpu.kernels()) {
      if (batch.size() == together_ || gpu::fit(k.footprint, left) == 0) break;
      left = gpu::less(left, k.footprint);
      batch.push_back(k);
    }
    for (const Kernel& k : batch) {
      const std::uint32_t more = gpu::fit(k.footprint, left);
      left = gpu::less(left, k.footprint, more);
      running_.push_back(k.id);
      for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, k.id, 1 + more);
    }
  }

  std::size_t together_;
  std::vector<KernelId> running_;
};

}  // namespace

WM_POLICY(ElasticKernels, {.name = "elastic_kernels",
                           .about = "launches merged ahead of time, the first with most of the GPU",
                           .paper = "Pai et al., ASPLOS 2013",
                           .waits = Waits::for_earlier,
                           .needs = {Can::cap_blocks},
                           .parameters = {integer("together", 2, {1, 64}, "launches merged into one at most", "")}})

}  // namespace wm::policy
