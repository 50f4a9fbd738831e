// An NVIDIA GPU through the CUDA driver, for OpenCL clients.
#pragma once

#include "runtime/device/completion_flags.h"
#include "runtime/device/control_word_pool.h"
#include "runtime/device/cuda/allocation.h"
#include "runtime/device/cuda/compilation.h"
#include "runtime/device/cuda/front_end.h"
#include "runtime/device/cuda/submission.h"

namespace wm::runtime::cuda {

class CudaBackend final : public Backend {
 public:
  CudaBackend(std::unique_ptr<Device> device, std::unique_ptr<FrontEnd> front_end);

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  Allocation& allocation() override { return allocation_; }
  Compilation& compilation() override { return compilation_; }
  Submission& submission() override { return submission_; }
  [[nodiscard]] gpu::SmLimits limits() const override;
  [[nodiscard]] gpu::SmLimits unit_limits() const override;
  [[nodiscard]] std::uint32_t compute_units() const override {
    return static_cast<std::uint32_t>(device_->facts().multiprocessors);
  }
  [[nodiscard]] std::uint32_t reserved_local_bytes() const override {
    return static_cast<std::uint32_t>(device_->facts().reserved_shared_per_block);
  }
  [[nodiscard]] std::uint64_t memory_bytes() const override { return device_->facts().memory_bytes; }
  std::unique_ptr<ControlWordPool> make_control_words() override;
  void make_workers() override { compilation_.make_workers(); }
  std::unique_ptr<WorkerTables> make_worker_tables() override;
  // The driver reports every stream's completions by itself.
  std::unique_ptr<CompletionFlags> make_completion_flags() override { return nullptr; }
  [[nodiscard]] std::string platform_name() const override { return front_end_->platform_name(); }
  [[nodiscard]] std::string device_name() const override { return device_->facts().name; }
  [[nodiscard]] std::string compiler_name() const override { return front_end_->compiler_name(); }
  [[nodiscard]] std::string driver_version() const override;
  Status device_info(std::uint32_t name, std::vector<std::byte>& answer) const override;
  void probe_compiler() override;
  [[nodiscard]] bool is_alive() const override;

 private:
  const std::unique_ptr<Device> device_;
  const std::unique_ptr<FrontEnd> front_end_;
  Capabilities capabilities_;
  HostMemory host_;
  mutable Events events_;
  Launcher launcher_;
  CudaAllocation allocation_;
  CudaCompilation compilation_;
  CudaSubmission submission_;
  mutable std::unique_ptr<CudaQueue> probe_queue_;  // for `is_alive`
  MemoryHandle probe_memory_;
};

}  // namespace wm::runtime::cuda
