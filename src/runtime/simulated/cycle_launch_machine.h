// Launches of programs on one cycle machine, under a policy.
//
// A launch runs as one of the machine's clients, a *place*. A stream keeps its place where it can, so that the
// timeline shows its launches as one kernel; places of programs that have gone are used again.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "policy/policy.h"
#include "runtime/simulated/launch_machine.h"
#include "sim/cycle/machine.h"

namespace wm::runtime {

class CycleLaunchMachine final : public LaunchMachine {
 public:
  // `config` outlives the machine.
  static Result<std::unique_ptr<CycleLaunchMachine>> make(const gpu::GpuConfig& config, const std::string& policy,
                                                          std::uint32_t threads);

  LaunchTicket start(MachineLaunch launch) override;
  bool abandon(LaunchTicket ticket) override;
  Result<void> step() override;
  // Steps until no launch is unfinished, or `is_unwanted`, which may be empty, says that nobody waits for them.
  Result<void> run_to_end(const std::function<bool()>& is_unwanted);
  std::vector<FinishedLaunch> take_finished() override { return std::exchange(finished_, {}); }
  [[nodiscard]] std::size_t unfinished() const override { return waiting_.size() + running_; }
  [[nodiscard]] Cycles now() const override { return machine_->now(); }

  [[nodiscard]] std::vector<std::string> place_names() const override;

  [[nodiscard]] sim::CycleMachine& machine() { return *machine_; }

 private:
  // Hands one launch to a client of the machine.
  class Source final : public sim::LaunchSource {
   public:
    Result<std::optional<sim::TimedLaunch>> next() override;
    void give(sim::TimedLaunch launch);
    void drop() { pending_.reset(); }
    [[nodiscard]] bool is_running() const { return is_running_; }

   private:
    std::optional<sim::TimedLaunch> pending_;
    bool is_running_ = false;
  };
  struct Place {
    std::shared_ptr<Source> source;
    std::uint32_t process = 0;
    std::uint64_t stream = 0;
    std::string names;
    std::optional<LaunchTicket> ticket{};  // empty: it runs no launch
    bool abandoned = false;
    std::string why{};           // it was abandoned
    Cycles began{};              // arrival of the launch
    sim::SmCounters counters{};  // before the launch
  };
  struct Waiting {
    LaunchTicket ticket;
    MachineLaunch launch;
  };

  CycleLaunchMachine(const gpu::GpuConfig& config, std::unique_ptr<sim::CycleMachine> machine,
                     std::unique_ptr<policy::Policy> policy)
      : config_(config), machine_(std::move(machine)), policy_(std::move(policy)) {}
  // The place for a launch; empty: all are taken.
  Result<std::optional<std::uint32_t>> find_place(const LaunchTerms& terms);
  Result<void> place_waiting();
  void begin(std::uint32_t place, Waiting waiting);
  void collect(std::uint32_t place);
  sim::TimedLaunch timed(const MachineLaunch& launch);

  const gpu::GpuConfig& config_;
  std::unique_ptr<sim::CycleMachine> machine_;
  std::unique_ptr<policy::Policy> policy_;
  std::vector<Place> places_;
  std::deque<Waiting> waiting_;
  std::vector<FinishedLaunch> finished_;
  std::size_t running_ = 0;
  LaunchTicket tickets_ = 0;
  std::map<const exec::Program*, std::unique_ptr<sim::TimedProgram>> programs_;
  std::map<std::string, std::size_t> functions_;  // numbers of kernels with their grids and blocks
};

}  // namespace wm::runtime
