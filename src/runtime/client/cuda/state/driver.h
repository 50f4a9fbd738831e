// The simulated driver of this process: one device, its memory and its work, and the objects of the application.
//
// The driver is made by cuInit and lives until the process ends. WARPMUX_SIMULATE names the GPU; other variables of
// `wm run --simulate` choose how kernels are timed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gpu/gpu_config.h"
#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/cuda/state/context.h"
#include "runtime/client/cuda/state/handle_set.h"
#include "runtime/client/cuda/state/memory_pool.h"
#include "runtime/client/cuda/state/module.h"
#include "runtime/client/cuda/state/stream.h"
#include "runtime/simulated/device_memory.h"
#include "runtime/simulated/kernel_runner.h"
#include "runtime/simulated/work_queue.h"

namespace wm::cuda {

inline constexpr int kDriverVersion = 13000;
inline constexpr CUdevice kDevice = 0;

class Driver {
 public:
  // Makes the driver where there is none yet. An error is printed once: the application shows only a number.
  static CUresult initialize();
  // nullptr before cuInit.
  static Driver* get();

  [[nodiscard]] const gpu::GpuConfig& config() const { return config_; }
  [[nodiscard]] runtime::DeviceMemory& memory() { return memory_; }
  [[nodiscard]] runtime::WorkQueue& queue() { return queue_; }
  [[nodiscard]] runtime::KernelRunner& runner() { return *runner_; }
  std::uint64_t next_id() { return ++ids_; }
  // Nanoseconds: the host's, and what timed kernels took beyond.
  [[nodiscard]] std::int64_t now() const;
  void add_kernel_time(std::uint64_t nanoseconds) { simulated_ += static_cast<std::int64_t>(nanoseconds); }

  // What kernels print appears when the application waits for them.
  void print(std::string_view text);
  void flush_output();

  // The primary context, made when it is first retained.
  std::shared_ptr<Context> retain_primary();
  CUresult release_primary();
  CUresult reset_primary();
  [[nodiscard]] std::shared_ptr<Context> primary();
  unsigned primary_flags = 0;

  HandleSet<Context> contexts;
  HandleSet<Stream> streams;
  HandleSet<Event> events;
  HandleSet<Module> modules;
  HandleSet<Function> functions;
  HandleSet<Library> libraries;
  HandleSet<MemoryPool> pools;

  // Ends a context: its work is awaited, its objects and its memory are gone.
  void destroy(const std::shared_ptr<Context>& context);

 private:
  Driver(gpu::GpuConfig config, std::uint64_t memory_bytes);

  gpu::GpuConfig config_;
  runtime::DeviceMemory memory_;
  runtime::WorkQueue queue_;
  std::unique_ptr<runtime::KernelRunner> runner_;
  std::atomic<std::uint64_t> ids_{0};
  std::atomic<std::int64_t> simulated_{0};
  std::mutex mutex_;  // guards the primary context and the output
  std::shared_ptr<Context> primary_;
  std::uint32_t primary_users_ = 0;
  std::string output_;
};

}  // namespace wm::cuda
