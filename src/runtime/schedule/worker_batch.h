// Launches that run as workers: batches of them, shrunk by their control words and submitted again when there is room.
// Guarded by the scheduler's lock.
#pragma once

#include <memory>
#include <vector>

#include "runtime/schedule/active_kernels.h"
#include "runtime/schedule/device_machine.h"
#include "runtime/schedule/workers.h"

namespace wm::runtime {

class WorkerBatches final : public Workers {
 public:
  WorkerBatches(Backend& backend, DeviceMachine& machine, const ActiveKernels& kernels)
      : backend_(backend),
        machine_(machine),
        kernels_(kernels),
        words_(backend.make_control_words()),
        single_(backend.capabilities().single_worker_batches),
        extra_queues_(backend) {}

  [[nodiscard]] std::unique_ptr<WorkerRun> prepare(const LaunchPlan& plan, Queue& queue) override;
  [[nodiscard]] Submitted submit(Command& command, std::uint32_t workers) override;
  [[nodiscard]] std::uint32_t workers_per_batch(std::uint32_t workers) const override { return single_ ? 1 : workers; }
  void shrink_to_caps() override;
  void tell_limits(Command&) override {}
  void keep(Command& command, std::uint32_t allowed) override;
  void cancel(Command& command) override;
  bool completed(Command& command, const std::shared_ptr<WorkerBatch>& batch, Status status) override;
  [[nodiscard]] std::optional<std::uint64_t> next_observation() const override { return std::nullopt; }
  void observe() override {}

 private:
  void shrink(Command& command, std::uint32_t by);

  Backend& backend_;
  DeviceMachine& machine_;
  const ActiveKernels& kernels_;
  const std::unique_ptr<ControlWordPool> words_;
  const bool single_;
  ExtraQueues extra_queues_;
  std::vector<KernelArgument> arguments_;  // arguments of the batch being submitted
};

}  // namespace wm::runtime
