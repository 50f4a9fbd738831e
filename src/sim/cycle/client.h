// One client of the simulated GPU: an application with its memory, decoded kernels and progress.
//
// Its timed launches are handed out one after the other. The steps between them (transfers, fills, launches of kernels
// that are not timed) are executed at once, without time. An application that repeats begins again at its end: its
// transfers to the device restore the inputs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "exec/address_space.h"
#include "exec/grid.h"
#include "exec/image.h"
#include "gpu/application.h"
#include "gpu/gpu_config.h"
#include "gpu/occupancy.h"
#include "ptx/ir.h"
#include "sim/cycle/sm/timed_program.h"

namespace wm::sim {

inline constexpr std::uint32_t kOwnProcess = ~std::uint32_t{0};

struct TimedLaunch {
  exec::Grid grid;
  const TimedProgram* program = nullptr;
  gpu::BlockDemand demand;
  std::uint32_t function = 0;  // equal numbers: the same kernel, grid and block
};

// Hands launches to a client while the machine runs. The machine asks when the previous launch is over.
class LaunchSource {
 public:
  virtual ~LaunchSource() = default;
  // Empty: there is none now; CycleMachine::resume tells the client of the next.
  virtual Result<std::optional<TimedLaunch>> next() = 0;
};

class Client;

struct ClientSpec {
  std::string name;  // as the user wrote it: "histo/main"
  std::shared_ptr<const ptx::Module> module;
  std::string file;  // PTX file, for messages
  std::shared_ptr<const gpu::Application> application;
  std::string entry;                // only launches of this kernel take time; empty: all
  std::uint32_t launches = 1;       // runs of the application; 0: again and again to the end
  std::uint32_t blocks_per_sm = 0;  // at most so many of its blocks on an SM, whatever the policy; 0: as many as fit
  // Clients with the same number are streams of one process. kOwnProcess: a process of its own.
  std::uint32_t process = kOwnProcess;
  Cycles arrive;
  int priority = 0;
  double share = 1;
  double goal = 0;          // ipc; 0: none
  double isolated_ipc = 0;  // 0: not known
  // Receives the text that kernels print in the first run of the application. Without it, the text is dropped.
  exec::PrintSink print;
  // Called when the first run of the application is complete, before the next run writes its inputs again.
  std::function<void(const Client&)> first_run_done;
  // Where given, launches come from here, and module, application and entry are not used.
  std::shared_ptr<LaunchSource> source;
};

class Client {
 public:
  static Result<std::unique_ptr<Client>> make(ClientSpec spec, const gpu::GpuConfig& config);

  [[nodiscard]] const ClientSpec& spec() const { return spec_; }
  // Whether the client stays when it has no launch, until its source has one.
  [[nodiscard]] bool waits_for_launches() const { return spec_.source != nullptr; }
  void arrive(Cycles when) { spec_.arrive = when; }
  // The facts that a policy sees of the launches that follow, as in ClientSpec.
  struct Terms {
    std::uint32_t process = kOwnProcess;
    int priority = 0;
    double share = 1;
    double goal = 0;
    double isolated_ipc = 0;
  };
  void set_terms(const Terms& terms) {
    spec_.process = terms.process;
    spec_.priority = terms.priority;
    spec_.share = terms.share;
    spec_.goal = terms.goal;
    spec_.isolated_ipc = terms.isolated_ipc;
  }

  // Executes steps up to the next timed launch and makes it current(); false: the application has completed all its
  // runs.
  Result<bool> next_launch();
  [[nodiscard]] const TimedLaunch& current() const { return current_; }
  // Runs of the application that were completed.
  [[nodiscard]] std::uint32_t runs() const { return runs_; }

  // Executes the rest of the current run without time: afterwards the buffers can be verified.
  Result<void> finish_functionally();
  Result<std::vector<std::vector<std::byte>>> buffers() const;

 private:
  explicit Client(ClientSpec spec) : spec_(std::move(spec)) {}

  struct Kernel {
    std::shared_ptr<const exec::Program> program;
    std::shared_ptr<const exec::Constants> constants;
    TimedProgram timed;
    std::uint32_t registers = 0;  // a thread
  };

  Result<Kernel*> kernel(const std::string& entry);
  Result<exec::Grid> grid(const gpu::Launch& launch);
  Result<void> transfer(const gpu::Transfer& transfer);
  Result<void> run_functionally(const gpu::Launch& launch);

  ClientSpec spec_;
  ptx::Module module_;  // the spec's, in the order the GPU issues its instructions
  const gpu::GpuConfig* config_ = nullptr;
  exec::AddressSpace memory_;
  std::unique_ptr<exec::Image> image_;
  std::vector<std::uint64_t> addresses_;  // by buffer
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
  std::vector<std::string> functions_;  // names, indexed by TimedLaunch::function
  std::size_t step_ = 0;
  bool timed_any_ = false;  // in this run of the application
  std::uint32_t runs_ = 0;
  std::uint64_t grids_ = 0;
  TimedLaunch current_;
};

}  // namespace wm::sim
