// The simulated device of this process: its memory, its work, the output of its kernels, and its clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "runtime/client/cuda/state/handle_set.h"
#include "runtime/client/cuda/state/stream.h"
#include "runtime/simulated/device_memory.h"
#include "runtime/simulated/kernel_runner.h"
#include "runtime/simulated/served_connection.h"
#include "runtime/simulated/work_queue.h"

namespace wm::cuda {

class Device {
 public:
  // `served`: the daemon that runs its kernels; nullptr: they run in this process.
  Device(gpu::GpuConfig config, std::uint64_t memory_bytes, runtime::ServedConnection* served = nullptr)
      : config_(std::move(config)), memory_(memory_bytes, served), served_(served) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const gpu::GpuConfig& config() const { return config_; }
  [[nodiscard]] runtime::DeviceMemory& memory() { return memory_; }
  [[nodiscard]] runtime::WorkQueue& queue() { return queue_; }
  // Runs kernels in the daemon's time.
  Result<void> join_daemon();
  // The daemon keeps the connection of the process that forks, not of its child.
  void close_connection_in_child() {
    if (served_ != nullptr) served_->close_in_child();
  }
  // Runs kernels without time, or on the cycle or block machine.
  Result<void> choose_timing(const std::string& timing, const runtime::TimedOptions& options);
  [[nodiscard]] runtime::KernelRunner& runner() { return *runner_; }
  // Numbers that no other object of the process has.
  std::uint64_t next_id() { return ++ids_; }

  // The time in nanoseconds: that of the simulated machine where kernels are timed, else the host's.
  [[nodiscard]] std::int64_t now() const;
  // Counts a launch that is over.
  void record(const std::string& kernel, const runtime::KernelResult& result);
  // One line per kernel: launches, cycles, time. Empty where kernels are not timed.
  [[nodiscard]] std::string summary();

  // The application has asked whether work is done, and it is not.
  void asked_in_vain();

  // The output of kernels appears when the application waits for them.
  void print(std::string_view text);
  void flush_output();

  HandleSet<Stream> streams;
  // The priority of the process, which the priorities of streams add to.
  std::atomic<int> priority{0};

 protected:
  ~Device() = default;

 private:
  gpu::GpuConfig config_;
  runtime::DeviceMemory memory_;
  runtime::ServedConnection* const served_;
  runtime::WorkQueue queue_;
  std::unique_ptr<runtime::KernelRunner> runner_;
  std::atomic<std::uint64_t> ids_{0};
  std::mutex output_mutex_;  // guards the output and the counts
  std::string output_;
  struct KernelCounts {
    std::uint64_t launches = 0;
    std::uint64_t cycles = 0;
    std::uint64_t warp_instructions = 0;
  };
  std::map<std::string, KernelCounts> counts_;
};

}  // namespace wm::cuda
