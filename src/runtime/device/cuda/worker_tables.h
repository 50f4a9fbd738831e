// The control words of PTX workers (rewrite/ptx/persistent.h), written and read on a stream of their own.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/device/cuda/launch_counters.h"
#include "runtime/device/cuda/objects.h"

namespace wm::runtime::cuda {

class CudaWorkerTables final : public WorkerTables {
 public:
  CudaWorkerTables(Device& device, HostMemory& host);
  ~CudaWorkerTables() override;

  std::shared_ptr<WorkerTable> take() override;
  std::shared_ptr<LaunchCounters> take_counters() override { return counters_->take(); }

 private:
  class Table;

  Device& device_;
  HostMemory& host_;
  Stream stream_ = nullptr;
  std::unique_ptr<LaunchCounterPool> counters_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<Table*> free_;
};

}  // namespace wm::runtime::cuda
