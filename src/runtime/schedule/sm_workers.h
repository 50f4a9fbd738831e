// Launches that run as workers with a limit for every SM, which a table in device memory tells them.
#pragma once

#include "runtime/device/worker_tables.h"
#include "runtime/schedule/active_kernels.h"
#include "runtime/schedule/clock.h"
#include "runtime/schedule/sm_machine.h"
#include "runtime/schedule/workers.h"

namespace wm::runtime {

class SmWorkers final : public Workers {
 public:
  SmWorkers(Backend& backend, SmMachine& machine, const ActiveKernels& kernels, const Clock& clock)
      : backend_(backend),
        machine_(machine),
        kernels_(kernels),
        clock_(clock),
        tables_(backend.make_worker_tables()),
        extra_queues_(backend) {}

  [[nodiscard]] std::unique_ptr<WorkerRun> prepare(const LaunchPlan& plan, Queue& queue) override;
  [[nodiscard]] Submitted submit(Command& command, std::uint32_t workers) override;
  [[nodiscard]] std::uint32_t workers_per_batch(std::uint32_t workers) const override { return workers; }
  void shrink_to_caps() override {}
  void tell_limits(Command& command) override;
  void keep(Command&, std::uint32_t) override {}
  void cancel(Command& command) override;
  bool completed(Command& command, const std::shared_ptr<WorkerBatch>& batch, Status status) override;
  [[nodiscard]] std::optional<std::uint64_t> next_observation() const override;
  void observe() override;

 private:
  void observe(Command& command);

  Backend& backend_;
  SmMachine& machine_;
  const ActiveKernels& kernels_;
  const Clock& clock_;
  const std::unique_ptr<WorkerTables> tables_;
  ExtraQueues extra_queues_;
  std::uint64_t observed_ = 0;  // on the daemon's clock
  std::vector<KernelArgument> arguments_;
  WorkerTable::Counts counts_;
};

}  // namespace wm::runtime
