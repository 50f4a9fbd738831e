// Launches that run as workers: batches of them, shrunk by their control words and submitted again when there is room.
// Guarded by the scheduler's lock.
#pragma once

#include <memory>
#include <vector>

#include "runtime/schedule/active_kernels.h"
#include "runtime/schedule/device_machine.h"

namespace wm::runtime {

class WorkerBatches {
 public:
  WorkerBatches(Backend& backend, DeviceMachine& machine, const ActiveKernels& kernels)
      : backend_(backend),
        machine_(machine),
        kernels_(kernels),
        words_(backend.make_control_words()),
        single_(backend.capabilities().single_worker_batches) {}

  // The launch as workers, before any is submitted; null where it cannot run so, or the device has no memory for it.
  [[nodiscard]] std::unique_ptr<WorkerRun> prepare(const LaunchPlan& plan);

  struct Submitted {
    Status status = status::kSuccess;
    EventHandle event = nullptr;
    std::shared_ptr<WorkerBatch> batch;
  };
  // Submits a batch of workers. A failure is ignored while other batches of the launch run: they execute all its
  // groups.
  [[nodiscard]] Submitted submit(Command& command, std::uint32_t workers);
  // The number of workers in one batch.
  [[nodiscard]] std::uint32_t workers_per_batch(std::uint32_t workers) const { return single_ ? 1 : workers; }

  // Workers above their kernels' caps are told to leave at the end of their group.
  void shrink_to_caps();
  // All workers but that many are told to leave; workers told to leave before may be told to continue.
  void keep(Command& command, std::uint32_t allowed);
  // For a launch whose client has gone: no further workers are submitted.
  void cancel(Command& command);
  // The workers of a batch have left. True: the launch is complete.
  bool completed(Command& command, const std::shared_ptr<WorkerBatch>& batch, Status status);

 private:
  [[nodiscard]] QueueHandle take_extra_queue();
  void shrink(Command& command, std::uint32_t by);

  Backend& backend_;
  DeviceMachine& machine_;
  const ActiveKernels& kernels_;
  const std::unique_ptr<ControlWordPool> words_;
  const bool single_;
  // Device queues for batches after the first, which need not wait for it or for each other.
  std::vector<QueueHandle> extra_queues_;
  std::vector<KernelArgument> arguments_;  // arguments of the batch being submitted
};

}  // namespace wm::runtime
