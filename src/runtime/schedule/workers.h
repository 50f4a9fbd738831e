// Launches that run as workers, for a device's way to control them. Guarded by the scheduler's lock.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/schedule/command.h"

namespace wm::runtime {

class Workers {
 public:
  virtual ~Workers() = default;

  // The launch as workers, before any is submitted; null where it cannot run so, or the device has no memory for it.
  [[nodiscard]] virtual std::unique_ptr<WorkerRun> prepare(const LaunchPlan& plan, Queue& queue) = 0;

  struct Submitted {
    Status status = status::kSuccess;
    EventHandle event = nullptr;
    std::shared_ptr<WorkerBatch> batch;
  };
  // Submits a batch of workers. A failure is ignored while other batches of the launch run: they execute all its
  // groups.
  [[nodiscard]] virtual Submitted submit(Command& command, std::uint32_t workers) = 0;
  // The number of workers in one batch.
  [[nodiscard]] virtual std::uint32_t workers_per_batch(std::uint32_t workers) const = 0;

  // Workers above their kernels' caps are told to leave at the end of their group.
  virtual void shrink_to_caps() = 0;
  // The launch's limits are as the machine's last `dispatch` decided.
  virtual void tell_limits(Command& command) = 0;
  // All workers but that many are told to leave; workers told to leave before may be told to continue.
  virtual void keep(Command& command, std::uint32_t allowed) = 0;
  // For a launch whose client has gone: no further workers are submitted.
  virtual void cancel(Command& command) = 0;
  // The workers of a batch have left. True: the launch is complete.
  virtual bool completed(Command& command, const std::shared_ptr<WorkerBatch>& batch, Status status) = 0;

  // When the machine next needs to know where workers are, in nanoseconds; `observe` asks the device.
  [[nodiscard]] virtual std::optional<std::uint64_t> next_observation() const = 0;
  virtual void observe() = 0;

 protected:
  // Device queues for batches after the first, which need not wait for it or for each other.
  class ExtraQueues {
   public:
    explicit ExtraQueues(Backend& backend) : backend_(backend) {}
    [[nodiscard]] QueueHandle take() {
      if (free_.empty()) return backend_.allocation().create_queue(true, true).object;
      QueueHandle queue = std::move(free_.back());
      free_.pop_back();
      return queue;
    }
    void give_back(QueueHandle queue) {
      if (queue) free_.push_back(std::move(queue));
    }

   private:
    Backend& backend_;
    std::vector<QueueHandle> free_;
  };
};

}  // namespace wm::runtime
