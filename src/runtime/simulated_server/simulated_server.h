// The daemon of a simulated GPU: launches of several programs run on one machine, in one simulated time, under a
// policy.
//
// Simulated time goes on only while every program waits for the device, so a program's host takes as much of it as
// `host_time` says, and none by default: the results then do not depend on the speed of the host. Launches that came
// meanwhile are given to the machine in the order of their times, programs' numbers and grids. A program that is
// silent for longer than `patience` is not waited for. One thread does everything.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu_config.h"
#include "runtime/simulated/block_launch_machine.h"
#include "runtime/simulated/cycle_launch_machine.h"
#include "runtime/simulated_server/isolated_rates.h"
#include "runtime/simulated_server/program.h"
#include "runtime/simulated_server/serve_options.h"

namespace wm::runtime {

// Sums over the launches that ran at one place of the machine.
struct PlaceCounts {
  std::uint64_t launches = 0, cycles = 0, thread_instructions = 0;
  double isolated_cycles = 0, goal_cycles = 0;  // 0: not known, no goal
};

class SimulatedServer {
 public:
  // `config` outlives the server.
  static Result<std::unique_ptr<SimulatedServer>> open(const gpu::GpuConfig& config, SimulatedServeOptions options);
  ~SimulatedServer();
  SimulatedServer(const SimulatedServer&) = delete;
  SimulatedServer& operator=(const SimulatedServer&) = delete;

  // Serves until `stop` is readable, or all programs of `options.programs` have gone. An error: the machine cannot go
  // on.
  Result<void> run(int stop);
  // The document of `wm status`.
  [[nodiscard]] std::string status();
  [[nodiscard]] LaunchMachine& machine() { return *machine_; }
  // The cycle machine, for an observer and for results; nullptr on the block machine.
  [[nodiscard]] sim::CycleMachine* cycle_machine() { return cycle_machine_; }
  // The block machine with the programs' launches; nullptr on the cycle machine.
  [[nodiscard]] BlockLaunchMachine* block_machine() { return block_machine_; }
  [[nodiscard]] const std::vector<PlaceCounts>& places() const { return places_; }

 private:
  SimulatedServer(const gpu::GpuConfig& config, SimulatedServeOptions options, std::unique_ptr<LaunchMachine> machine,
                  Descriptor listener);

  [[nodiscard]] bool is_stopping() const;
  // Waits for messages, up to `milliseconds`, and handles them. False: `stop` is readable.
  bool listen(int stop, int milliseconds);
  void greet(Descriptor socket);
  void admit(Descriptor socket, const Peer& peer, const std::string& name, const ServedProgram::Terms& terms);
  // The answer to a request of `wm set`, `wm policy` or `wm end`.
  [[nodiscard]] std::string control(const std::string& request);
  // The program leaves; its launches are abandoned.
  void dismiss(std::list<std::unique_ptr<ServedProgram>>::iterator program);
  [[nodiscard]] std::uint64_t free_bytes() const;
  [[nodiscard]] bool everybody_waits() const;
  Result<void> start_arrivals();
  Result<void> add_terms(ServedProgram& program, ProgramLaunch& launch);
  void deliver();

  const gpu::GpuConfig& config_;
  const SimulatedServeOptions options_;
  std::unique_ptr<LaunchMachine> machine_;
  sim::CycleMachine* cycle_machine_ = nullptr;
  BlockLaunchMachine* block_machine_ = nullptr;
  IsolatedRates isolated_;
  Descriptor listener_;
  std::list<std::unique_ptr<ServedProgram>> programs_;  // in the order of their numbers
  std::list<std::unique_ptr<ServedProgram>> leaving_;   // have launches on the machine
  std::vector<PlaceCounts> places_;
  int stop_ = -1;  // readable: the daemon shall end
  std::uint64_t seen_ = 0;
  bool has_started_ = false;
};

}  // namespace wm::runtime
