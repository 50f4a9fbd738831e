#include "runtime/simulated/block_launch_machine.h"

#include <algorithm>
#include <fmt/format.h>

#include "exec/run.h"
#include "policy/registry.h"
#include "runtime/simulated/cycle_launch_machine.h"
#include "runtime/simulated/module_code.h"

namespace wm::runtime {

namespace {

sim::BlockClientSpec client_spec(const LaunchTerms& terms) {
  return {.name = terms.client,
          .process = terms.process,
          .priority = terms.priority,
          .share = terms.share,
          .goal = terms.goal_ipc,
          .isolated_ipc = terms.isolated_ipc};
}

}  // namespace

Result<std::unique_ptr<BlockLaunchMachine>> BlockLaunchMachine::make(const gpu::GpuConfig& config,
                                                                     const std::string& policy, std::uint32_t threads) {
  const auto choice = policy::choose(policy);
  if (!choice) return choice.error();
  auto chosen = policy::make(*choice, sim::BlockMachine::kCans, "block");
  if (!chosen) return chosen.error();
  std::unique_ptr<BlockLaunchMachine> made(new BlockLaunchMachine(config, threads));
  made->policy_ = *std::move(chosen);
  made->machine_.start(*made->policy_, choice->needs() | choice->entry->info.uses);
  return made;
}

void BlockLaunchMachine::observe(sim::SystemObserver& observer) {
  observer_ = &observer;
  machine_.observe(observer);
}

std::vector<std::string> BlockLaunchMachine::place_names() const {
  std::vector<std::string> names;
  for (const Client& client : clients_) names.push_back(client.name);
  return names;
}

LaunchTicket BlockLaunchMachine::start(MachineLaunch launch) {
  waiting_.push_back({++tickets_, std::move(launch)});
  return tickets_;
}

bool BlockLaunchMachine::abandon(LaunchTicket ticket) {
  if (std::erase_if(waiting_, [&](const Waiting& w) { return w.ticket == ticket; }) != 0) return false;
  for (Running& r : running_) {  // its blocks end as they would have
    if (r.ticket != ticket || r.result.result.fault) continue;
    r.result.result.fault.emplace();
    r.result.result.fault->what = "the program has gone";
  }
  return true;
}

Result<sim::KernelModel> BlockLaunchMachine::model_of(const MachineLaunch& launch,
                                                      const FinishedLaunch& isolated) const {
  const sim::BlockMachineSpec spec = sim::block_machine_spec(config_);
  const gpu::BlockDemand demand{
      .threads = launch.grid.threads_per_block(),
      .registers_per_thread = fitting_registers(launch.registers_per_thread, launch.grid.threads_per_block(), config_),
      .shared_bytes = launch.grid.shared_bytes};
  const auto resident = gpu::max_blocks(demand, spec.limits);
  if (!resident) return resident.error();
  const gpu::Resources footprint = gpu::footprint(demand, spec.limits);
  sim::KernelDescription k;
  k.name = launch.terms.client;
  k.blocks = static_cast<std::uint32_t>(launch.grid.blocks.count());
  k.threads = demand.threads;
  k.registers = footprint.registers;
  k.shared_bytes = footprint.shared_bytes;
  const std::uint64_t slots = std::uint64_t{*resident} * config_.sm.count;
  const std::uint64_t waves = (k.blocks + slots - 1) / slots;
  // The isolated time begins with the launch latency, which the block machine adds itself.
  const std::uint64_t working =
      isolated.result.cycles - std::min<std::uint64_t>(isolated.result.cycles, config_.launch_latency);
  k.block_time = {std::max<std::uint64_t>(1, working * 1'000'000 / waves / config_.sm.clock_mhz)};
  k.block_instructions = isolated.thread_instructions / k.blocks;
  return sim::place_kernel(k, spec.limits, spec.clock, {});
}

Result<const sim::KernelModel*> BlockLaunchMachine::execute(const MachineLaunch& launch, FinishedLaunch& done) {
  const exec::Grid& grid = launch.grid;
  const std::string key =
      fmt::format("{} {} {} {} {} {} {} {}", static_cast<const void*>(grid.program.get()), grid.blocks.x, grid.blocks.y,
                  grid.blocks.z, grid.threads.x, grid.threads.y, grid.threads.z, grid.shared_bytes);
  if (const auto known = models_.find(key); known != models_.end()) {
    exec::RunOptions options;
    options.threads = threads_;
    options.is_stopped = launch.is_unwanted;
    exec::LaunchResult ran = exec::run_launch(grid, options);
    done.result.statistics = ran.statistics;
    done.result.fault = std::move(ran.fault);
    done.thread_instructions = known->second->block_instructions * known->second->blocks;
    return done.result.fault ? nullptr : known->second.get();
  }
  // Threads of the host that wait for each other in every cycle delay a small launch.
  constexpr std::uint64_t kThreadsForOneHostThread = 4096;
  const bool is_small = grid.blocks.count() * grid.threads_per_block() <= kThreadsForOneHostThread;
  auto machine = CycleLaunchMachine::make(config_, "left_over", is_small ? 1 : threads_);
  if (!machine) return machine.error();
  MachineLaunch isolated = launch;
  isolated.arrive = {};
  (*machine)->start(std::move(isolated));
  if (auto ran = (*machine)->run_to_end(launch.is_unwanted); !ran) return ran.error();
  for (FinishedLaunch& f : (*machine)->take_finished()) done = std::move(f);
  if ((*machine)->unfinished() != 0) {
    done.result.fault.emplace();
    done.result.fault->what = "the launch was stopped";
  }
  if (done.result.fault) return nullptr;
  auto model = model_of(launch, done);
  if (!model) return model.error();
  model->function = static_cast<std::uint32_t>(models_.size());
  programs_.push_back(grid.program);
  return models_.emplace(key, std::make_unique<sim::KernelModel>(*std::move(model))).first->second.get();
}

std::uint32_t BlockLaunchMachine::client_for(const LaunchTerms& terms) {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    const Client& c = clients_[i];
    if (!c.is_busy && c.process == terms.process && c.stream == terms.stream) return i;
  }
  const policy::KernelId id = machine_.add_client({});
  const auto streams =
      std::count_if(clients_.begin(), clients_.end(), [&](const Client& c) { return c.process == terms.process; });
  const std::string name = streams == 0 ? terms.client : fmt::format("{} ({})", terms.client, streams + 1);
  clients_.push_back({name, terms.process, terms.stream, id, false});
  return static_cast<std::uint32_t>(clients_.size() - 1);
}

Result<void> BlockLaunchMachine::begin(const Waiting& waiting) {
  FinishedLaunch done;
  const auto model = execute(waiting.launch, done);
  if (!model) return model.error();
  done.ticket = waiting.ticket;
  if (*model == nullptr) {
    done.ended = machine_.now();
    finished_.push_back(std::move(done));
    return {};
  }
  const std::uint32_t client = client_for(waiting.launch.terms);
  clients_[client].is_busy = true;
  machine_.set_spec(clients_[client].id, client_spec(waiting.launch.terms));
  if (observer_ != nullptr) observer_->launch_began(client, client, **model, machine_.now().count);
  machine_.launch(clients_[client].id, **model);
  running_.push_back({waiting.ticket, client, machine_.now(), std::move(done)});
  return {};
}

void BlockLaunchMachine::end(policy::KernelId id) {
  const auto at =
      std::find_if(running_.begin(), running_.end(), [&](const Running& r) { return clients_[r.client].id == id; });
  if (at == running_.end()) return;
  FinishedLaunch done = std::move(at->result);
  done.ended = machine_.now();
  done.place = at->client;
  done.result.cycles = done.ended.count - at->began.count;
  done.result.nanoseconds = done.result.cycles * 1000 / config_.sm.clock_mhz;
  if (observer_ != nullptr) observer_->launch_ended(at->client, at->client, machine_.now().count);
  clients_[at->client].is_busy = false;
  running_.erase(at);
  finished_.push_back(std::move(done));
}

Result<void> BlockLaunchMachine::begin_arrived() {
  for (std::size_t i = 0; i < waiting_.size();) {
    if (waiting_[i].launch.arrive > machine_.now()) {
      ++i;
      continue;
    }
    const Waiting arrived = std::move(waiting_[i]);
    waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
    if (auto begun = begin(arrived); !begun) return begun.error();
  }
  return {};
}

Result<void> BlockLaunchMachine::step() {
  // Launches that follow others which ended in this instant have arrived by now, so that the policy sees one change.
  if (auto begun = begin_arrived(); !begun) return begun.error();
  machine_.settle();
  Cycles next = machine_.next_event();
  for (const Waiting& w : waiting_) next = std::min(next, w.launch.arrive);
  if (next == kNever) {
    if (unfinished() == 0) return {};
    return Error{"nothing can go on: the policy starts no block of the kernels that wait"};
  }
  machine_.advance(next);
  const std::vector<policy::KernelId> completed(machine_.completed().begin(), machine_.completed().end());
  for (const policy::KernelId id : completed) end(id);
  return {};
}

}  // namespace wm::runtime
