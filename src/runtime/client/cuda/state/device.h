// The simulated device of this process: its memory, its work, the output of its kernels, and its clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "gpu/gpu_config.h"
#include "runtime/client/cuda/state/handle_set.h"
#include "runtime/client/cuda/state/stream.h"
#include "runtime/simulated/device_memory.h"
#include "runtime/simulated/kernel_runner.h"
#include "runtime/simulated/work_queue.h"

namespace wm::cuda {

class Device {
 public:
  Device(gpu::GpuConfig config, std::uint64_t memory_bytes, std::uint32_t threads);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const gpu::GpuConfig& config() const { return config_; }
  [[nodiscard]] runtime::DeviceMemory& memory() { return memory_; }
  [[nodiscard]] runtime::WorkQueue& queue() { return queue_; }
  [[nodiscard]] runtime::KernelRunner& runner() { return *runner_; }
  // Numbers that no other object of the process has.
  std::uint64_t next_id() { return ++ids_; }

  // The time in nanoseconds: the host's, and the time that simulated kernels took beyond it.
  [[nodiscard]] std::int64_t now() const;
  void add_kernel_time(std::uint64_t nanoseconds) { simulated_ += static_cast<std::int64_t>(nanoseconds); }

  // The output of kernels appears when the application waits for them.
  void print(std::string_view text);
  void flush_output();

  HandleSet<Stream> streams;

 protected:
  ~Device() = default;

 private:
  gpu::GpuConfig config_;
  runtime::DeviceMemory memory_;
  runtime::WorkQueue queue_;
  std::unique_ptr<runtime::KernelRunner> runner_;
  std::atomic<std::uint64_t> ids_{0};
  std::atomic<std::int64_t> simulated_{0};
  std::mutex output_mutex_;
  std::string output_;
};

}  // namespace wm::cuda
