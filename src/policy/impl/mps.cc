// MPS: the behaviour of NVIDIA GPUs with the clients of a Multi-Process Service. Kernels of all clients share the SMs;
// blocks start in order of arrival wherever there is room. A client can be limited to a percentage of the SMs
// (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE); limited clients are placed beside each other, around the GPU. A client of MPS is
// a process: its kernels use the same SMs.
#include <algorithm>
#include <vector>

#include "policy/policy.h"

namespace wm::policy {
namespace {

class Mps final : public Policy {
 public:
  explicit Mps(const Values& v) : percentage_(static_cast<std::uint32_t>(v.integer("percentage"))) {}

  void on(const KernelArrived& e, Machine& gpu) override {
    if (percentage_ == 100) return;
    const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
    const std::uint32_t width = std::max(1U, (sms * percentage_ + 99) / 100);
    const std::uint32_t first = number_of(gpu.find(e.kernel)->process) * width % sms;
    for (const Sm& sm : gpu.sms()) gpu.cap(sm.id, e.kernel, (sm.index + sms - first) % sms < width ? kNoCap : 0);
  }

 private:
  // Processes count from 0 in the order of their first kernels.
  std::uint32_t number_of(std::uint32_t process) {
    const auto known = std::find(processes_.begin(), processes_.end(), process);
    const auto number = static_cast<std::uint32_t>(known - processes_.begin());
    if (known == processes_.end()) processes_.push_back(process);
    return number;
  }

  std::uint32_t percentage_;
  std::vector<std::uint32_t> processes_;
};

}  // namespace

WM_POLICY(Mps, {.name = "mps",
                .about = "blocks of all clients wherever there is room, oldest kernel first",
                .paper = "NVIDIA Multi-Process Service",
                .waits = Waits::for_earlier,
                .needs = {Can::cap_blocks},
                .parameters = {integer("percentage", 100, {1, 100}, "part of the SMs that a client may use", "")}})

}  // namespace wm::policy
