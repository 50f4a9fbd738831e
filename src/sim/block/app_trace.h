// An application as the block simulator runs it: the steps of its CPU thread from the first to the last GPU call.
//
// It is written in configs/apps/<name>.yaml (load_app.h) with times and sizes in units of their own; `bind` turns it
// into one GPU's cycles and occupancy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/block/kernel_model.h"

namespace wm::sim {

// One step of the thread. Commands go to a stream; a synchronous command blocks the thread until it has completed.
struct TraceStep {
  enum class Kind : std::uint8_t {
    cpu,             // computes for `amount` picoseconds
    copy_to_device,  // `amount` bytes
    copy_to_host,
    launch,  // kernel number `amount`
    sync     // waits until all its commands have completed
  };
  Kind kind = Kind::cpu;
  bool asynchronous = false;
  std::uint32_t stream = 0;
  std::uint64_t amount = 0;
};

struct AppTrace {
  std::string name;
  std::string about;
  std::map<std::string, std::string> classes;  // as a paper groups it: class1: SHORT
  std::uint32_t measured_sms = 0;              // SMs of the GPU on which kernel times were measured
  std::vector<KernelDescription> kernels;
  std::vector<TraceStep> steps;  // repetitions written out
  std::uint32_t streams = 1;
};

// An application on one GPU: steps in cycles and bytes, kernels placed on its SMs.
struct BoundApp {
  std::string name;
  std::vector<KernelModel> kernels;
  std::vector<TraceStep> steps;  // `amount` of CPU steps in cycles
  std::uint32_t streams = 1;
};

Result<BoundApp> bind_app(const AppTrace& app, const gpu::SmLimits& sm, Hertz clock,
                          const std::vector<std::uint32_t>& shared_configurations);

// Picoseconds in cycles of a clock, rounded to the nearest.
std::uint64_t to_cycles(Picoseconds time, Hertz clock);

}  // namespace wm::sim
