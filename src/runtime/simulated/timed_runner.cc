// Runs launches of one program on a machine with time. Launches of several streams run side by side; simulated time
// stands still while no kernel runs.
#include <atomic>
#include <map>
#include <mutex>

#include "runtime/simulated/block_launch_machine.h"
#include "runtime/simulated/cycle_launch_machine.h"
#include "runtime/simulated/kernel_runner.h"

namespace wm::runtime {

namespace {

class TimedRunner final : public KernelRunner {
 public:
  TimedRunner(DeviceMemory& memory, TimedOptions options, std::unique_ptr<LaunchMachine> machine,
              std::uint64_t clock_mhz)
      : memory_(memory),
        options_(std::move(options)),
        clock_mhz_(clock_mhz),
        functional_(make_functional_runner(memory, options_.threads)),
        machine_(std::move(machine)) {}

  KernelResult run(const exec::Grid& grid, const LoadedKernel& kernel, const StreamTerms& terms) override {
    const std::uint64_t number = ++launches_;
    if (number < options_.first_launch || number > options_.last_launch) return functional_->run(grid, kernel, terms);
    std::unique_lock lock(mutex_);
    const auto goal = goals_.find(kernel.name);
    MachineLaunch launch{.grid = grid,
                         .registers_per_thread = kernel.registers_per_thread,
                         .arrive = {},
                         .terms = {.client = "program",
                                   .stream = terms.stream,
                                   .priority = terms.priority,
                                   .goal_ipc = goal == goals_.end() ? 0 : goal->second}};
    return step_until_done(machine_->start(std::move(launch)), lock);
  }

  void set_goal(const std::string& kernel, double ipc) override {
    const std::lock_guard lock(mutex_);
    goals_[kernel] = ipc;
  }
  [[nodiscard]] std::optional<std::int64_t> now() override { return now_.load(); }

 private:
  // The threads that wait for launches take turns in stepping the machine.
  KernelResult step_until_done(LaunchTicket ticket, std::unique_lock<std::mutex>& lock) {
    while (true) {
      if (auto done = finished_.extract(ticket)) return std::move(done.mapped());
      {
        const DeviceMemory::Reader reader(memory_);
        if (const auto stepped = machine_->step(); !stepped) {
          KernelResult failed;
          failed.fault.emplace();
          failed.fault->kind = exec::Fault::Kind::deadlock;
          failed.fault->what = stepped.error().what;
          return failed;
        }
      }
      now_ = static_cast<std::int64_t>(machine_->now().count * 1000 / clock_mhz_);
      for (FinishedLaunch& done : machine_->take_finished()) finished_.emplace(done.ticket, std::move(done.result));
      lock.unlock();  // another launch may come, memory may be allocated
      lock.lock();
    }
  }

  DeviceMemory& memory_;
  const TimedOptions options_;
  const std::uint64_t clock_mhz_;
  std::unique_ptr<KernelRunner> functional_;
  std::mutex mutex_;  // guards all below
  std::unique_ptr<LaunchMachine> machine_;
  std::map<LaunchTicket, KernelResult> finished_;
  std::map<std::string, double> goals_;  // by kernel, in thread instructions per cycle
  std::atomic<std::uint64_t> launches_{0};
  std::atomic<std::int64_t> now_{0};  // nanoseconds
};

}  // namespace

Result<std::unique_ptr<KernelRunner>> make_timed_runner(DeviceMemory& memory, const gpu::GpuConfig& config,
                                                        const TimedOptions& options) {
  std::unique_ptr<LaunchMachine> machine;
  if (options.machine == TimedOptions::Machine::block) {
    auto made = BlockLaunchMachine::make(config, options.policy, options.threads);
    if (!made) return made.error();
    machine = *std::move(made);
  } else {
    auto made = CycleLaunchMachine::make(config, options.policy, options.threads);
    if (!made) return made.error();
    machine = *std::move(made);
  }
  return std::unique_ptr<KernelRunner>(
      std::make_unique<TimedRunner>(memory, options, std::move(machine), config.sm.clock_mhz));
}

}  // namespace wm::runtime
