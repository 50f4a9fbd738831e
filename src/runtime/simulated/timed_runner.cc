// Runs launches on one cycle machine, under a policy. Launches of several streams are clients of one process and run
// side by side; simulated time stands still while no kernel runs.
#include <algorithm>
#include <array>
#include <atomic>
#include <fmt/format.h>
#include <map>
#include <mutex>

#include "policy/registry.h"
#include "runtime/simulated/kernel_runner.h"
#include "sim/cycle/machine.h"

namespace wm::runtime {

namespace {

constexpr std::uint32_t kSlots = 8;  // launches at the same time
constexpr std::uint64_t kSeed = 1;

// One place for a launch on the machine: a client that gets its launches from here.
class LaunchSlot final : public sim::LaunchSource {
 public:
  Result<std::optional<sim::TimedLaunch>> next() override {
    is_running_ = pending_.has_value();
    return std::exchange(pending_, std::nullopt);
  }
  void give(sim::TimedLaunch launch) {
    pending_ = std::move(launch);
    is_running_ = true;
  }
  [[nodiscard]] bool is_running() const { return is_running_; }

  bool taken = false;   // by a thread that runs a launch
  bool failed = false;  // its client ended with a fault and takes no more launches

 private:
  std::optional<sim::TimedLaunch> pending_;
  bool is_running_ = false;
};

class TimedRunner final : public KernelRunner {
 public:
  TimedRunner(DeviceMemory& memory, const gpu::GpuConfig& config, TimedOptions options)
      : memory_(memory),
        config_(config),
        options_(options),
        functional_(make_functional_runner(memory, options.threads)) {}

  Result<void> begin(const std::string& policy_text) {
    const auto choice = policy::choose(policy_text);
    if (!choice) return choice.error();
    auto machine = sim::CycleMachine::make(config_, options_.threads, kSeed);
    if (!machine) return machine.error();
    machine_ = *std::move(machine);
    auto policy = policy::make(*choice, machine_->cans(), "the cycle machine");
    if (!policy) return policy.error();
    policy_ = *std::move(policy);
    for (auto& slot : slots_) {
      slot = std::make_shared<LaunchSlot>();
      sim::ClientSpec spec;
      spec.name = "program";
      spec.process = 0;
      spec.arrive = kNever;
      spec.source = slot;
      if (auto added = machine_->add(std::move(spec)); !added) return added.error();
    }
    machine_->begin(*policy_, {});
    return {};
  }

  KernelResult run(const exec::Grid& grid, const LoadedKernel& kernel, int priority) override {
    const std::uint64_t number = ++launches_;
    if (number < options_.first_launch || number > options_.last_launch)
      return functional_->run(grid, kernel, priority);
    std::unique_lock lock(mutex_);
    const auto slot = free_slot(lock);
    if (!slot) return failed("the simulated GPU has failed", exec::Fault::Kind::trap);
    const std::uint64_t begin = machine_->now().count;
    const std::uint64_t instructions = machine_->totals(*slot).sm.warp_instructions;
    slots_[*slot]->give(timed_launch(grid, kernel));
    const auto goal = goals_.find(kernel.name);
    machine_->client(*slot).set_terms(priority, goal == goals_.end() ? 0 : goal->second);
    machine_->resume(*slot);
    KernelResult result = step_until_done(*slot, lock);
    result.nanoseconds = (machine_->now().count - begin) * 1000 / config_.sm.clock_mhz;
    result.cycles = machine_->now().count - begin;
    result.statistics.warp_instructions = machine_->totals(*slot).sm.warp_instructions - instructions;
    slots_[*slot]->taken = false;
    return result;
  }

  void set_goal(const std::string& kernel, double ipc) override {
    const std::lock_guard lock(mutex_);
    goals_[kernel] = ipc;
  }

 private:
  static KernelResult failed(std::string what, exec::Fault::Kind kind) {
    KernelResult result;
    result.fault.emplace();
    result.fault->kind = kind;
    result.fault->what = std::move(what);
    return result;
  }

  // Waits while all slots are taken. Empty: every slot has failed.
  std::optional<std::uint32_t> free_slot(std::unique_lock<std::mutex>& lock) {
    while (true) {
      bool any_usable = false;
      for (std::uint32_t i = 0; i < kSlots; ++i) {
        if (slots_[i]->failed) continue;
        any_usable = true;
        if (std::exchange(slots_[i]->taken, true)) continue;
        return i;
      }
      if (!any_usable) return std::nullopt;
      lock.unlock();
      lock.lock();
    }
  }

  sim::TimedLaunch timed_launch(const exec::Grid& grid, const LoadedKernel& kernel) {
    auto& timed = programs_[grid.program.get()];
    if (timed == nullptr) {
      timed = std::make_unique<sim::TimedProgram>(sim::time_program(grid.program, config_));
    }
    const std::string key =
        fmt::format("{} {} {} {} {} {} {}", static_cast<const void*>(grid.program.get()), grid.blocks.x, grid.blocks.y,
                    grid.blocks.z, grid.threads.x, grid.threads.y, grid.threads.z);
    const auto number = static_cast<std::uint32_t>(functions_.try_emplace(key, functions_.size()).first->second);
    return {.grid = grid,
            .program = timed.get(),
            .demand = {.threads = grid.threads_per_block(),
                       .registers_per_thread = kernel.registers_per_thread,
                       .shared_bytes = grid.shared_bytes},
            .function = number};
  }

  // The threads that wait for launches take turns in stepping the machine.
  KernelResult step_until_done(std::uint32_t slot, std::unique_lock<std::mutex>& lock) {
    while (slots_[slot]->is_running()) {
      {
        const DeviceMemory::Reader reader(memory_);
        const auto stepped = machine_->step(*policy_, {});
        if (!stepped) {
          for (const auto& stuck : slots_) stuck->failed = true;
          return failed(stepped.error().what, exec::Fault::Kind::deadlock);
        }
      }
      if (machine_->has_failed(slot)) {
        const auto totals = machine_->totals(slot);
        slots_[slot]->failed = true;
        return failed(*totals.fault, totals.fault_kind);
      }
      lock.unlock();  // another launch may come, memory may be allocated
      lock.lock();
    }
    return {};
  }

  DeviceMemory& memory_;
  const gpu::GpuConfig& config_;
  const TimedOptions options_;
  std::unique_ptr<KernelRunner> functional_;
  std::mutex mutex_;  // guards all below
  std::unique_ptr<sim::CycleMachine> machine_;
  std::unique_ptr<policy::Policy> policy_;
  std::array<std::shared_ptr<LaunchSlot>, kSlots> slots_;
  std::map<const exec::Program*, std::unique_ptr<sim::TimedProgram>> programs_;
  std::map<std::string, std::size_t> functions_;  // numbers of kernels with their grids and blocks
  std::map<std::string, double> goals_;           // by kernel, in thread instructions per cycle
  std::atomic<std::uint64_t> launches_{0};
};

}  // namespace

Result<std::unique_ptr<KernelRunner>> make_timed_runner(DeviceMemory& memory, const gpu::GpuConfig& config,
                                                        const TimedOptions& options) {
  auto runner = std::make_unique<TimedRunner>(memory, config, options);
  if (auto begun = runner->begin(options.policy); !begun) return begun.error();
  return std::unique_ptr<KernelRunner>(std::move(runner));
}

}  // namespace wm::runtime
