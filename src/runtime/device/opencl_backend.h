// An OpenCL device as a Backend: the common part of CPUs and GPUs.
#pragma once

#include <string>

#include "runtime/device/opencl_allocation.h"
#include "runtime/device/opencl_compilation.h"
#include "runtime/device/opencl_submission.h"

namespace wm::runtime {

class OpenClBackend : public Backend {
 public:
  ~OpenClBackend() override;

  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  Allocation& allocation() override { return allocation_; }
  Compilation& compilation() override { return compilation_; }
  Submission& submission() override { return submission_; }
  [[nodiscard]] gpu::SmLimits limits() const override;
  [[nodiscard]] std::uint32_t reserved_local_bytes() const override;
  [[nodiscard]] std::uint64_t memory_bytes() const override;
  [[nodiscard]] std::string platform_name() const override { return native_->platform_name(); }
  [[nodiscard]] std::string device_name() const override { return native_->text(CL_DEVICE_NAME); }
  [[nodiscard]] std::string driver_version() const override;
  Status device_info(std::uint32_t name, std::vector<std::byte>& answer) const override {
    return native_->device_info(name, answer);
  }
  void probe_compiler() override;
  [[nodiscard]] bool is_alive() const override;

  [[nodiscard]] Native& native() { return *native_; }

 protected:
  OpenClBackend(std::unique_ptr<Native> native, const Capabilities& capabilities, std::size_t zeroed_bytes);
  void report_faults_of(GuardedLaunches& launches) { submission_.report_faults_of(launches); }
  // The kernel that `is_alive` runs, where a kernel can fail without ending the process.
  virtual void keep_probe_kernel(cl_kernel kernel) { native_->cl.ReleaseKernel(kernel); }
  [[nodiscard]] virtual bool probe_kernel_runs(cl_command_queue, cl_mem) const { return true; }

 private:
  const std::unique_ptr<Native> native_;
  Capabilities capabilities_;
  OpenClAllocation allocation_;
  OpenClCompilation compilation_;
  OpenClSubmission submission_;
  // For `is_alive`; made at the start, while the device has room for them.
  cl_command_queue probe_queue_ = nullptr;
  cl_mem probe_memory_ = nullptr;
};

}  // namespace wm::runtime
