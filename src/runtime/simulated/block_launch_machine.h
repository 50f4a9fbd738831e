// Launches of programs on the block machine, under a policy: times at thread-block grain.
//
// The first launch of each kernel with a grid and block runs on a cycle machine of its own, which gives its results and
// its isolated time. Later ones run without time for their results; the block machine tells when they are over, from
// the mean time of a block. A launch's results are there when it arrives, so kernels that wait for each other do not
// end.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "runtime/simulated/launch_machine.h"
#include "sim/block/machine.h"
#include "sim/block/system.h"

namespace wm::runtime {

class BlockLaunchMachine final : public LaunchMachine {
 public:
  // `config` outlives the machine. A policy that needs instruction quotas is an error.
  static Result<std::unique_ptr<BlockLaunchMachine>> make(const gpu::GpuConfig& config, const std::string& policy,
                                                          std::uint32_t threads);

  // The observer sees each place as a process with one stream; it outlives the machine.
  void observe(sim::SystemObserver& observer);

  LaunchTicket start(MachineLaunch launch) override;
  bool abandon(LaunchTicket ticket) override;
  Result<void> step() override;
  std::vector<FinishedLaunch> take_finished() override { return std::exchange(finished_, {}); }
  [[nodiscard]] std::size_t unfinished() const override { return waiting_.size() + running_.size(); }
  [[nodiscard]] Cycles now() const override { return machine_.now(); }
  [[nodiscard]] std::vector<std::string> place_names() const override;

 private:
  struct Waiting {
    LaunchTicket ticket;
    MachineLaunch launch;
  };
  struct Client {
    std::string name;
    std::uint32_t process;
    std::uint64_t stream;
    policy::KernelId id;
    bool is_busy;
  };
  struct Running {
    LaunchTicket ticket;
    std::uint32_t client;  // index
    Cycles began;
    FinishedLaunch result;
  };

  BlockLaunchMachine(const gpu::GpuConfig& config, std::uint32_t threads)
      : config_(config), threads_(threads), machine_(sim::block_machine_spec(config)) {}
  // Executes the launch and returns its counts and its model; no model: it ended with a fault.
  Result<const sim::KernelModel*> execute(const MachineLaunch& launch, FinishedLaunch& done);
  Result<sim::KernelModel> model_of(const MachineLaunch& launch, const FinishedLaunch& isolated) const;
  std::uint32_t client_for(const LaunchTerms& terms);
  Result<void> begin(const Waiting& waiting);
  Result<void> begin_arrived();
  void end(policy::KernelId client);

  const gpu::GpuConfig& config_;
  const std::uint32_t threads_;
  std::unique_ptr<policy::Policy> policy_;
  sim::BlockMachine machine_;
  std::deque<Waiting> waiting_;
  std::vector<Client> clients_;
  std::vector<Running> running_;
  std::vector<FinishedLaunch> finished_;
  std::map<std::string, std::unique_ptr<sim::KernelModel>> models_;  // by kernel, grid and block
  std::vector<std::shared_ptr<const exec::Program>> programs_;       // keeps the addresses in the keys
  LaunchTicket tickets_ = 0;
  sim::SystemObserver* observer_ = nullptr;
};

}  // namespace wm::runtime
