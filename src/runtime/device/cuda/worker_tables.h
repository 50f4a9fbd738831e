// The control words of PTX workers (rewrite/ptx/persistent.h), written and read on a stream of their own.
#pragma once

#include <mutex>
#include <vector>

#include "runtime/device/cuda/objects.h"
#include "runtime/device/worker_tables.h"

namespace wm::runtime::cuda {

class CudaWorkerTables final : public WorkerTables {
 public:
  explicit CudaWorkerTables(Device& device);
  ~CudaWorkerTables() override;

  std::shared_ptr<WorkerTable> take() override;

 private:
  class Table;

  Device& device_;
  Stream stream_ = nullptr;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Table>> tables_;
  std::vector<Table*> free_;
};

}  // namespace wm::runtime::cuda
