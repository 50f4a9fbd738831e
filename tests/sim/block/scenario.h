// Small schedules that a person can compute: kernels with blocks of fixed duration on few SMs, and what a run shows.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "policy/registry.h"
#include "sim/block/machine.h"

namespace wm::sim::test {

// One launch of one client.
struct SmallKernel {
  std::string name;
  std::uint32_t blocks = 1;
  std::uint64_t cycles = 100;  // duration of a block
  std::uint32_t blocks_per_sm = 1;
  std::uint64_t arrives = 0;
  int priority = 0;
  std::uint64_t context_bytes = 0;
};

struct SmallGpu {
  std::uint32_t sms = 1;
  std::uint64_t decision = 0;
  std::uint64_t setup = 0;
  std::uint64_t bytes_per_cycle = 1;  // bandwidth of one SM
};

// Runs the kernels under a policy until all are done.
class Scenario {
 public:
  Scenario(const SmallGpu& gpu, const std::string& policy, const std::vector<SmallKernel>& kernels) {
    BlockMachineSpec spec;
    spec.sms = gpu.sms;
    spec.limits.total = {2048, 65536, 49152, 16};
    spec.clock = {1'000'000'000};
    spec.bytes_per_second = gpu.bytes_per_cycle * gpu.sms * 1'000'000'000;
    spec.decision = {gpu.decision};
    spec.setup = {gpu.setup};
    machine_ = std::make_unique<BlockMachine>(spec);
    policy_ = *policy::make(*policy::choose(policy), machine_->cans(), "block");
    machine_->start(*policy_, policy::Cans::all());
    for (const SmallKernel& k : kernels) {
      auto model = std::make_unique<KernelModel>();
      model->name = k.name;
      model->blocks = k.blocks;
      model->block_time = {k.cycles};
      model->max_blocks_per_sm = k.blocks_per_sm;
      model->footprint = {2048 / k.blocks_per_sm, 0, 0, 1};
      model->demand = kOne / k.blocks_per_sm;
      model->block_instructions = 32 * k.cycles;
      model->context_bytes = k.context_bytes;
      models_.push_back(std::move(model));
      machine_->add_client({.name = k.name, .priority = k.priority});
    }
    run(kernels);
  }

  // Cycle at which the kernel's launch ended.
  [[nodiscard]] std::uint64_t end(const std::string& name) const { return ends_.at(name); }
  [[nodiscard]] const BlockMachine& machine() const { return *machine_; }

 private:
  void run(const std::vector<SmallKernel>& kernels) {
    std::vector<bool> arrived(kernels.size(), false);
    while (ends_.size() < kernels.size()) {
      Cycles next = machine_->next_event();
      for (std::size_t i = 0; i < kernels.size(); ++i)
        if (!arrived[i]) next = std::min(next, Cycles{kernels[i].arrives});
      if (next == kNever) return;
      machine_->advance(next);
      for (const policy::KernelId done : machine_->completed()) ends_[kernels[done.index].name] = next.count;
      for (std::uint32_t i = 0; i < kernels.size(); ++i) {
        if (arrived[i] || kernels[i].arrives != next.count) continue;
        arrived[i] = true;
        machine_->launch({i}, *models_[i]);
      }
      machine_->settle();
    }
  }

  std::unique_ptr<BlockMachine> machine_;
  std::unique_ptr<policy::Policy> policy_;
  std::vector<std::unique_ptr<KernelModel>> models_;
  std::map<std::string, std::uint64_t> ends_;
};

}  // namespace wm::sim::test
