// Arrival and end of launches: a client's next launch arrives when it is due, and the policy is told of both events.
#include <algorithm>
#include <fmt/format.h>

#include "sim/cycle/machine.h"

namespace wm::sim {

Result<void> CycleMachine::arrivals(policy::Policy& policy) {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    if (client_runs_[i].state != ClientRun::State::to_come || clients_[i]->spec().arrive.count > chip_.now()) continue;
    client_runs_[i].state = ClientRun::State::active;
    client_runs_[i].first_arrived = std::min(client_runs_[i].first_arrived, clients_[i]->spec().arrive);
    if (auto r = launch_next(i, policy); !r) return r;
  }
  return {};
}

Result<void> CycleMachine::launch_next(std::uint32_t client, policy::Policy& policy) {
  Client& c = *clients_[client];
  ClientRun& client_run = client_runs_[client];
  const auto more = c.next_launch();
  if (!more) return more.error();
  if (!*more && c.waits_for_launches()) {
    client_run.state = ClientRun::State::to_come;
    c.arrive(kNever);
    return {};
  }
  if (!*more) {
    end_client(client);
    if (client_run.launches != 0) client_run.ended = client_run.over;
    return {};
  }
  const TimedLaunch& launch = c.current();
  const auto max_blocks = gpu::max_blocks(launch.demand, limits_);
  if (!max_blocks)
    return Error{
        fmt::format("kernel '{}' cannot run on '{}': {}", c.spec().name, config_.name, max_blocks.error().what)};
  client_run.running = {.program = launch.program,
                        .grid = &launch.grid,
                        .client = client + 1,
                        .kernel_index = static_cast<std::uint8_t>(client)};
  client_run.next_block = 0;
  // The quantum may have continued after the end of the previous launch.
  const std::uint64_t from = client_run.launches == 0 ? chip_.now() : std::max(client_run.over, c.spec().arrive.count);
  client_run.starts = std::max(chip_.now(), from + config_.launch_latency);
  for (std::uint32_t s = 0; s < chip_.sm_count(); ++s) chip_.sm(s).forget(client_run.running.client);
  client_run.context_bytes = std::uint64_t{launch.demand.threads} * launch.demand.registers_per_thread * 4 +
                             launch.demand.shared_bytes + launch.grid.warps_per_block() * std::uint64_t{128};
  if (!config_.sm.saves_context) client_run.context_bytes = kSectorBytes;
  policy::Kernel k;
  k.id = {client};
  k.process = c.spec().process == kOwnProcess ? kOwnProcess - client : c.spec().process;
  k.function = launch.function;
  k.launch = static_cast<std::uint32_t>(client_run.launches);
  k.priority = c.spec().priority;
  k.share = c.spec().share;
  k.goal = c.spec().goal;
  k.isolated_ipc = c.spec().isolated_ipc;
  k.first_arrived = client_run.first_arrived;
  k.arrived = Cycles{chip_.now()};
  k.instructions = progress(client);
  k.warps_per_block = launch.grid.warps_per_block();
  k.footprint = gpu::footprint(launch.demand, limits_);
  k.max_blocks_per_sm = c.spec().blocks_per_sm == 0 ? *max_blocks : std::min(*max_blocks, c.spec().blocks_per_sm);
  k.blocks = static_cast<std::uint32_t>(launch.grid.blocks.count());
  k.waiting = k.blocks;
  kernels_.push_back(k);
  dirty_ = true;
  kernel_set_changed_ = true;
  policy.on(policy::KernelArrived{{client}}, *this);
  return {};
}

Result<void> CycleMachine::launch_done(std::uint32_t client, policy::Policy& policy) {
  if (!client_runs_[client].cut_off) ++client_runs_[client].launches;
  kernel_set_changed_ = true;
  kernels_.erase(
      std::find_if(kernels_.begin(), kernels_.end(), [&](const policy::Kernel& k) { return k.id.index == client; }));
  policy.on(policy::KernelDone{{client}}, *this);
  if (client_runs_[client].state == ClientRun::State::done) return {};
  return launch_next(client, policy);
}

void CycleMachine::end_client(std::uint32_t client) {
  client_runs_[client].state = ClientRun::State::done;
  client_runs_[client].ended = chip_.now();
}

// A client that faulted or has executed all it may: its blocks everywhere are stopped and then dropped; its launch is
// over when the last is off its SM.
void CycleMachine::cut_off(std::uint32_t client) {
  ClientRun& client_run = client_runs_[client];
  client_run.cut_off = true;
  end_client(client);
  policy::Kernel* k = view(client);
  if (k == nullptr) return;
  take_back_offers();
  for (std::uint32_t s = 0; s < sms_.size(); ++s) {
    const std::uint32_t stopped = chip_.sm(s).stop(static_cast<std::uint8_t>(client), ~0U, chip_.now());
    residents_[s][client].leaving += stopped;
    sms_[s].leaving += stopped;
  }
  client_run.set_aside.clear();
  client_run.given_back.clear();
  k->waiting = 0;
  k->blocks = k->done + k->resident;
  client_run.flushing = k->resident == 0;
}

void CycleMachine::abandon(std::uint32_t client) {
  if (client_runs_[client].cut_off) return;
  clients_[client]->arrive(kNever);
  cut_off(client);
}

bool CycleMachine::is_over(std::uint32_t client) const {
  const bool is_active = client_runs_[client].state == ClientRun::State::active;
  const bool will_arrive =
      client_runs_[client].state == ClientRun::State::to_come && clients_[client]->spec().arrive != kNever;
  return !is_active && !will_arrive &&
         std::none_of(kernels_.begin(), kernels_.end(), [&](const policy::Kernel& k) { return k.id.index == client; });
}

void CycleMachine::restart(std::uint32_t client) {
  ClientRun& client_run = client_runs_[client];
  client_run.state = ClientRun::State::to_come;
  client_run.cut_off = false;
  client_run.fault.reset();
  clients_[client]->arrive(kNever);
}

void CycleMachine::renew(std::uint32_t client) {
  client_runs_[client].first_arrived = kNever;
  client_runs_[client].instructions_before = instructions(client);
}

// A block of a client that was cut off has stopped.
void CycleMachine::drop(std::uint32_t sm, std::unique_ptr<BlockRun> run) {
  const std::uint32_t client = run->kernel.kernel_index;
  left(sm, client);
  if (observer_ != nullptr) observer_->left(seen(sm, client, run->number), chip_.now(), Left::dropped);
  spare_runs_.push_back(std::move(run));
  policy::Kernel& k = *view(client);
  --k.resident;
  --k.blocks;
  client_runs_[client].flushing = k.resident == 0;
}

std::uint64_t CycleMachine::instructions(std::uint32_t client) const {
  std::uint64_t sum = 0;
  for (std::uint32_t s = 0; s < chip_.sm_count(); ++s)
    sum += chip_.sm(s).thread_instructions(static_cast<std::uint8_t>(client));
  return sum;
}

}  // namespace wm::sim
