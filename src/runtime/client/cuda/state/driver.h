// The simulated driver of this process: one device, its contexts, and the objects of the application.
//
// The driver is made by cuInit and lives until the process ends. WARPMUX_SIMULATE names the GPU; other variables of
// `wm run --simulate` choose how kernels are timed.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/result.h"
#include "runtime/client/cuda/interface/types.h"
#include "runtime/client/cuda/state/context.h"
#include "runtime/client/cuda/state/device.h"
#include "runtime/client/cuda/state/graph_executable.h"
#include "runtime/client/cuda/state/green_context.h"
#include "runtime/client/cuda/state/handle_set.h"
#include "runtime/client/cuda/state/memory_pool.h"
#include "runtime/client/cuda/state/module.h"
#include "runtime/client/cuda/state/stream.h"
#include "runtime/client/cuda/state/texture_table.h"

namespace wm::cuda {

inline constexpr int kDriverVersion = 13000;
inline constexpr CUdevice kDevice = 0;

class Driver final : public Device {
 public:
  // Makes the driver where there is none yet. An error is printed once: the application shows only a number.
  static CUresult initialize();
  // nullptr before cuInit.
  static Driver* get();

  // The primary context, made when it is first retained.
  std::shared_ptr<Context> retain_primary();
  CUresult release_primary();
  CUresult reset_primary();
  [[nodiscard]] std::shared_ptr<Context> primary();
  unsigned primary_flags = 0;

  HandleSet<Context> contexts;
  HandleSet<Event> events;
  HandleSet<Module> modules;
  HandleSet<Function> functions;
  HandleSet<Library> libraries;
  HandleSet<MemoryPool> pools;
  HandleSet<Graph> graphs;
  HandleSet<GraphExecutable> graph_executables;
  HandleSet<SmSet> sm_sets;
  HandleSet<GreenContext> green_contexts;
  TextureTable textures;

  // Ends a context: its work is awaited, its objects and its memory are gone.
  void destroy(const std::shared_ptr<Context>& context);

 private:
  Driver(gpu::GpuConfig config, std::uint64_t memory_bytes, runtime::ServedConnection* served)
      : Device(std::move(config), memory_bytes, served) {}

  std::mutex mutex_;  // guards the primary context
  std::shared_ptr<Context> primary_;
  std::uint32_t primary_users_ = 0;
};

// The driver that a context belongs to: there is one.
inline Driver& driver_of(const Context&) { return *Driver::get(); }

}  // namespace wm::cuda
