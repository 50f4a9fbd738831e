// Random clients on the fake machine, the same for a seed on every host: arrivals at any time, launches of any size and
// length, goals, priorities, shares, phases, and clients that end or come back.
#pragma once

#include <algorithm>
#include <string>

#include "base/random.h"
#include "policy/fake_machine.h"

namespace wm::policy::test {

class RandomWorkload {
 public:
  explicit RandomWorkload(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] FakeSpec machine() {
    FakeSpec spec;
    spec.sms = 1 + random_.below(8);
    spec.sm_ipc = random_.below(2) == 0 ? 128 : 1e9;
    spec.seed = random_.next();
    return spec;
  }

  // The policy runs on the machine for about 100 000 cycles.
  void drive(FakeMachine& gpu, const std::string& policy) {
    gpu.start(policy);
    for (int change = 0; change < 24; ++change) {
      apply_change(gpu);
      gpu.run({100 * (1 + std::uint64_t{random_.below(80)})});
    }
  }

 private:
  void apply_change(FakeMachine& gpu) {
    const std::uint32_t kind = clients_ < 2 ? 0 : random_.below(6);
    if (kind <= 1 && clients_ < 6) {
      std::vector<FakeKernel> kernels(1 + random_.below(2));
      for (FakeKernel& k : kernels) k = kernel();
      gpu.arrive_together(kernels);
    } else if (clients_ > 0) {
      const KernelId id{random_.below(clients_)};
      const bool active = gpu.find(id) != nullptr;
      if (kind == 2) gpu.become(id, rates());
      if (kind == 3 && active) gpu.finish(id);
      if (kind == 4 && !active) gpu.relaunch(id);
    }
  }

  [[nodiscard]] FakeKernel kernel() {
    FakeKernel k;
    k.name = std::string(1, static_cast<char>('a' + clients_++));
    k.blocks = 1 + random_.below(random_.below(2) == 0 ? 12 : 300);
    k.block = demand();
    k.block_instructions = 1000 * (1 + random_.below(random_.below(2) == 0 ? 20 : 400));
    k.ipc = rates();
    if (random_.below(4) == 0) k.max_ipc = 50 * (1 + random_.below(20));
    k.isolated_ipc = 20 * (1 + random_.below(30));
    if (random_.below(2) == 0) k.goal = k.isolated_ipc * (1 + random_.below(8)) / 8;
    if (random_.below(4) == 0) k.isolated_ipc = 0;
    if (random_.below(4) == 0) k.process = 0;
    k.priority = static_cast<int>(random_.below(3));
    k.share = (1 + random_.below(6)) / 2.0;
    k.launches = random_.below(5);
    if (random_.below(3) == 0) k.next_block = demand();
    k.idle_warps = random_.below(20);
    k.memory_stalls = random_.below(5) / 5.0;
    k.lsu_blocked = random_.below(3) == 0 ? random_.below(5) / 5.0 : 0;
    return k;
  }

  [[nodiscard]] gpu::BlockDemand demand() {
    return {.threads = 32U << random_.below(6),
            .registers_per_thread = 16U << random_.below(2),
            .shared_bytes = random_.below(3) == 0 ? 1024 * random_.below(48) : 0};
  }

  // Rates that rise with the blocks of an SM, and may fall again.
  [[nodiscard]] std::vector<double> rates() {
    std::vector<double> rates(1 + random_.below(8));
    double rate = 0;
    for (double& r : rates) r = rate = std::max(2.0, rate + static_cast<double>(random_.below(40)) - 8);
    return rates;
  }

  Random random_;
  std::uint32_t clients_ = 0;
};

}  // namespace wm::policy::test
