#include "sim/cycle/machine.h"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace wm::sim {

using policy::KernelId;
using policy::SmId;

namespace {

gpu::SmLimits limits_of(const gpu::SmConfig& sm) {
  return {.total = {.threads = sm.threads,
                    .registers = sm.registers,
                    .shared_bytes = sm.shared_memory,
                    .blocks = sm.blocks},
          .warp_threads = 32,
          .register_unit = sm.register_unit,
          .shared_unit = sm.shared_memory_unit};
}

}  // namespace

Result<std::unique_ptr<CycleMachine>> CycleMachine::make(const gpu::GpuConfig& config, std::uint32_t threads,
                                                         std::uint64_t seed) {
  const auto timing = derive_timing(config);
  if (!timing) return timing.error();
  return std::unique_ptr<CycleMachine>(new CycleMachine(config, *timing, threads, seed));
}

CycleMachine::CycleMachine(const gpu::GpuConfig& config, const MemoryTiming& timing, std::uint32_t threads,
                           std::uint64_t seed)
    : config_(config),
      chip_(config_, timing, threads),
      limits_(limits_of(config.sm)),
      random_(seed),
      sms_(config.sm.count),
      residents_(config.sm.count),
      refreshed_(config.sm.count, ~std::uint64_t{0}),
      epoch_base_(config.sm.count),
      asked_(config.sm.count),
      gating_(config.sm.count, config.power.wake_cycles),
      idle_told_(config.sm.count, true) {
  for (std::uint32_t i = 0; i < config.sm.count; ++i) {
    sms_[i].id = {i};
    sms_[i].index = i;
    sms_[i].free = limits_.total;
  }
}

Result<void> CycleMachine::add(ClientSpec spec) {
  if (clients_.size() == kMaxKernels) return Error{fmt::format("at most {} kernels can run together", kMaxKernels)};
  auto client = Client::make(std::move(spec), config_);
  if (!client) return client.error();
  clients_.push_back(*std::move(client));
  client_runs_.emplace_back();
  for (std::uint32_t i = 0; i < sms_.size(); ++i) {
    residents_[i].emplace_back();
    epoch_base_[i].emplace_back();
    asked_[i].push_back(0);
  }
  return {};
}

policy::Kernel* CycleMachine::view(std::uint32_t client) {
  const auto it =
      std::find_if(kernels_.begin(), kernels_.end(), [&](const policy::Kernel& k) { return k.id.index == client; });
  return it == kernels_.end() ? nullptr : &*it;
}

std::uint64_t CycleMachine::next_deadline() const {
  std::uint64_t next = std::min(epoch_.due(), alarms_.next());
  for (std::uint32_t i = 0; i < clients_.size(); ++i)
    if (client_runs_[i].state == ClientRun::State::to_come) next = std::min(next, clients_[i]->spec().arrive.count);
  for (const ClientRun& client_run : client_runs_)
    if (client_run.state == ClientRun::State::active && client_run.starts > chip_.now())
      next = std::min(next, client_run.starts);
  for (std::uint32_t i = 0; i < sms_.size(); ++i)
    if (sms_[i].state == policy::Sm::State::waking) next = std::min(next, gating_.awake_at(i));
  return next;
}

// Whether every client is done, or waits for a launch of its source.
bool CycleMachine::all_clients_rest() const {
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    if (client_runs_[i].state == ClientRun::State::active) return false;
    if (client_runs_[i].state == ClientRun::State::to_come && clients_[i]->spec().arrive != kNever) return false;
  }
  return true;
}

Result<void> CycleMachine::run(policy::Policy& policy, const RunLimits& limits) {
  begin(policy, limits);
  while (true) {
    const auto on = step(policy, limits);
    if (!on) return on.error();
    if (!*on) break;
  }
  for (std::uint32_t i = 0; i < client_runs_.size(); ++i)
    if (client_runs_[i].state != ClientRun::State::done) client_runs_[i].ended = chip_.now();
  return {};
}

void CycleMachine::begin(policy::Policy& policy, const RunLimits& limits) {
  for (std::uint32_t i = 0; i < client_runs_.size(); ++i)
    client_runs_[i].instruction_limit = i < limits.instructions.size() ? limits.instructions[i] : 0;
  policy.on(policy::Started{}, *this);
}

Result<bool> CycleMachine::step(policy::Policy& policy, const RunLimits& limits) {
  if (auto r = collect(policy); !r) return r.error();
  return proceed(policy, limits);
}

Result<bool> CycleMachine::proceed(policy::Policy& policy, const RunLimits& limits) {
  if (auto r = arrivals(policy); !r) return r.error();
  if (std::exchange(kernel_set_changed_, false)) policy.on(policy::KernelSetChanged{}, *this);
  timers(policy);
  do place();
  while (tell_idle(policy));
  if (observer_ != nullptr) observer_->quantum(*this);
  const bool over = kernels_.empty() && all_clients_rest();
  if (over || chip_.now() >= limits.cycles) return false;
  const std::uint64_t deadline = std::min(next_deadline(), limits.cycles);
  if (chip_.next_event() == ~std::uint64_t{0} && deadline == ~std::uint64_t{0})
    return Error{
        fmt::format("nothing can go on at cycle {}: the policy starts no block of the kernels that wait", chip_.now())};
  chip_.skip_idle(deadline);
  if (chip_.now() < limits.cycles) {  // the run ends exactly at that cycle
    const std::uint64_t length = std::min(quantum(deadline), limits.cycles - chip_.now());
    if (length > chip_.grain()) {
      offer_blocks();
    } else {
      take_back_offers();
    }
    chip_.run(length);
  }
  check_instruction_limits();
  if (auto r = check_progress(limits); !r) return r.error();
  return true;
}

// Whether ownership is about to change, or an SM may idle until a policy is told of an event.
bool CycleMachine::needs_short_quantum() const {
  if (!moving_.empty()) return true;
  for (std::uint32_t s = 0; s < sms_.size(); ++s) {
    const policy::Sm& sm = sms_[s];
    if (sm.leaving != 0 || sm.state == policy::Sm::State::reserved || sm.state == policy::Sm::State::gating)
      return true;
    for (const policy::Kernel& k : kernels_)
      if (chip_.sm(s).has_quota(static_cast<std::uint8_t>(k.id.index))) return true;
  }
  // Launches that are nearly over.
  for (const policy::Kernel& k : kernels_)
    if (client_runs_[k.id.index].flushing || (k.waiting == 0 && k.resident * 2 <= sms_.size())) return true;
  return false;
}

// A round trip, or less if an event is due earlier; at least one way over the interconnect, since a policy may request
// alarms all the time.
std::uint64_t CycleMachine::quantum(std::uint64_t deadline) const {
  const std::uint64_t shortest = chip_.grain();
  if (needs_short_quantum()) return shortest;
  std::uint64_t length = std::min(chip_.reach(), deadline - std::min(deadline, chip_.now()));
  if (epoch_.running()) length = std::min(length, epoch_.next_sample() - std::min(epoch_.next_sample(), chip_.now()));
  // A client stops at its limit of instructions, so the quantum must not be longer than it needs to reach that limit.
  const std::uint64_t rate = std::uint64_t{32} * config_.sm.count * config_.sm.schedulers * config_.sm.issue_width;
  for (std::uint32_t i = 0; i < client_runs_.size(); ++i) {
    if (client_runs_[i].instruction_limit == 0 || client_runs_[i].state != ClientRun::State::active) continue;
    const std::uint64_t executed = std::min(instructions(i), client_runs_[i].instruction_limit);
    length = std::min(length, (client_runs_[i].instruction_limit - executed) / rate);
  }
  return std::max(length, shortest);
}

SeenBlock CycleMachine::seen(std::uint32_t sm, std::uint32_t client, std::uint64_t number) const {
  const auto kernel =
      std::find_if(kernels_.begin(), kernels_.end(), [&](const policy::Kernel& k) { return k.id.index == client; });
  return {.sm = sm,
          .client = client,
          .launch = client_runs_[client].launches,
          .number = number,
          .max_blocks_per_sm = kernel == kernels_.end() ? 1 : kernel->max_blocks_per_sm};
}

// --- views of a policy

void CycleMachine::refresh(std::uint32_t sm) const {
  if (refreshed_[sm] == chip_.now()) return;
  refreshed_[sm] = chip_.now();
  Sm& unit = const_cast<Chip&>(chip_).sm(sm);
  unit.charge_until(chip_.now());
  for (std::uint32_t i = 0; i < residents_[sm].size(); ++i) {
    const SmCounters& c = unit.counters(static_cast<std::uint8_t>(i));
    const SmCounters& base = epoch_base_[sm][i];
    policy::ResidentKernel& on_sm = residents_[sm][i];
    on_sm.quota = unit.quota(static_cast<std::uint8_t>(i), chip_.now());
    on_sm.counters = {
        .thread_instructions = c.thread_instructions - base.thread_instructions,
        .warp_instructions = c.warp_instructions - base.warp_instructions,
        .idle_warps = epoch_.samples() == 0 ? 0
                                            : static_cast<double>(c.idle_warp_samples - base.idle_warp_samples) /
                                                  static_cast<double>(epoch_.samples()),
        .memory_stall_cycles = (c.stalls[0] - base.stalls[0]) / config_.sm.schedulers,
        .lsu_blocked_cycles = c.lsu_blocked_cycles - base.lsu_blocked_cycles,
        .l2_accesses = c.requests - base.requests,
        .l2_misses = c.l2_misses - base.l2_misses,
        .dram_bytes = (c.l2_misses - base.l2_misses + c.l2_write_misses - base.l2_write_misses) * kSectorBytes,
    };
  }
}

std::span<const policy::ResidentKernel> CycleMachine::residents(SmId sm) const {
  refresh(sm.index);
  return residents_[sm.index];
}

void CycleMachine::begin_epoch() {
  epoch_.begin(chip_.now());
  for (std::uint32_t s = 0; s < sms_.size(); ++s) {
    chip_.sm(s).charge_until(chip_.now());
    for (std::uint32_t i = 0; i < clients_.size(); ++i)
      epoch_base_[s][i] = chip_.sm(s).counters(static_cast<std::uint8_t>(i));
    refreshed_[s] = ~std::uint64_t{0};
  }
}

// --- actions of a policy

void CycleMachine::give(SmId id, KernelId kernel, policy::Preempt how) {
  using State = policy::Sm::State;
  policy::Sm& sm = sms_[id.index];
  dirty_ = true;
  if (sm.state == State::off) wake(id.index);
  if (sm.state == State::waking) {
    sm.owner = kernel;
    return;
  }
  const bool reserved = sm.state == State::reserved;
  if (residents_[id.index][kernel.index].resident == sm.resident || (reserved && sm.owner == kernel)) {
    if (sm.resident == 0) idle_told_[id.index] = false;
    sm.state = State::on;
    sm.owner = kernel;
    sm.next = policy::kNoKernel;
    return;
  }
  sm.state = State::reserved;
  sm.next = kernel;
  if (reserved || how == policy::Preempt::drain) return;
  for (std::uint32_t i = 0; i < clients_.size(); ++i)
    if (i != kernel.index) stop_blocks(id.index, i, ~0U, false);
}

void CycleMachine::share(SmId id) {
  policy::Sm& sm = sms_[id.index];
  dirty_ = true;
  sm.owner = policy::kNoKernel;
  sm.next = policy::kNoKernel;
  if (sm.state == policy::Sm::State::off) return wake(id.index);
  if (sm.state != policy::Sm::State::waking) sm.state = policy::Sm::State::on;
}

void CycleMachine::cap(SmId sm, KernelId kernel, std::uint32_t blocks) {
  residents_[sm.index][kernel.index].cap = blocks;
  dirty_ = true;
}

void CycleMachine::preempt(SmId sm, KernelId kernel, std::uint32_t blocks) {
  stop_blocks(sm.index, kernel.index, blocks, true);
}

void CycleMachine::stop_blocks(std::uint32_t sm, std::uint32_t client, std::uint32_t count, bool asked) {
  std::uint32_t stopped = chip_.sm(sm).stop(static_cast<std::uint8_t>(client), count, chip_.now());
  // A block whose context is on its way back does not run on the SM yet. Its context is still in memory, so that it
  // leaves when the transfer ends.
  for (Moving& m : moving_) {
    if (stopped == count) break;
    if (m.sm != sm || m.out || m.recalled || m.run->kernel.kernel_index != client) continue;
    m.recalled = true;
    ++stopped;
  }
  residents_[sm][client].leaving += stopped;
  sms_[sm].leaving += stopped;
  client_runs_[client].preemptions += stopped;
  asked_[sm][client] += asked ? stopped : 0;
}

void CycleMachine::set_quota(SmId sm, KernelId kernel, std::int64_t instructions) {
  chip_.sm(sm.index).set_quota(static_cast<std::uint8_t>(kernel.index), instructions, chip_.now());
  residents_[sm.index][kernel.index].quota = instructions;
}

void CycleMachine::add_quota(SmId sm, KernelId kernel, std::int64_t instructions) {
  const std::int64_t left = chip_.sm(sm.index).quota(static_cast<std::uint8_t>(kernel.index), chip_.now());
  set_quota(sm, kernel, left == policy::kNoQuota ? policy::kNoQuota : left + instructions);
}

void CycleMachine::gate(SmId id) {
  policy::Sm& sm = sms_[id.index];
  if (sm.state == policy::Sm::State::off || sm.state == policy::Sm::State::gating) return;
  sm.owner = policy::kNoKernel;
  sm.next = policy::kNoKernel;
  sm.state = sm.resident == 0 ? policy::Sm::State::off : policy::Sm::State::gating;
  if (sm.state == policy::Sm::State::off) gating_.switch_off(id.index, chip_.now());
}

void CycleMachine::wake(std::uint32_t sm) {
  sms_[sm].state = policy::Sm::State::waking;
  gating_.wake(sm, chip_.now());
}

void CycleMachine::order(std::span<const KernelId> first) {
  order_.assign(first.begin(), first.end());
  dirty_ = true;
}

void CycleMachine::set_epoch(Cycles length) {
  epoch_.set(length.count, chip_.now());
  begin_epoch();
}

void CycleMachine::wake_at(Cycles when, std::uint64_t tag) { alarms_.add(when.count, tag); }

ClientTotals CycleMachine::totals(std::uint32_t client) const {
  ClientTotals t;
  const auto add = [](auto& to, const auto& from) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  auto& chip = const_cast<Chip&>(chip_);
  for (std::uint32_t s = 0; s < chip.sm_count(); ++s) {
    chip.sm(s).charge_until(chip.now());
    const SmCounters& c = chip.sm(s).counters(static_cast<std::uint8_t>(client));
    t.sm.warp_instructions += c.warp_instructions;
    t.sm.thread_instructions += c.thread_instructions;
    t.sm.issued += c.issued;
    add(t.sm.unit_lanes, c.unit_lanes);
    add(t.sm.unit_cycles, c.unit_cycles);
    add(t.sm.stalls, c.stalls);
    t.sm.register_lanes += c.register_lanes;
    t.sm.shared_lanes += c.shared_lanes;
    t.sm.shared_conflict_cycles += c.shared_conflict_cycles;
    t.sm.l1_sectors += c.l1_sectors;
    t.sm.l1_misses += c.l1_misses;
    t.sm.texture_sectors += c.texture_sectors;
    t.sm.texture_misses += c.texture_misses;
    t.sm.requests += c.requests;
    t.sm.l2_misses += c.l2_misses;
    t.sm.noc_flits += c.noc_flits;
    t.sm.blocks_done += c.blocks_done;
    t.sm.lsu_blocked_cycles += c.lsu_blocked_cycles;
  }
  for (std::uint32_t p = 0; p < chip.partition_count(); ++p) {
    const PartitionCounters& c = chip.partition(p).counters(client);
    t.memory.l2_sectors += c.l2_sectors;
    t.memory.l2_misses += c.l2_misses;
    t.memory.l2_line_misses += c.l2_line_misses;
    t.memory.dram_read_sectors += c.dram_read_sectors;
    t.memory.dram_write_sectors += c.dram_write_sectors;
    t.memory.dram_accesses += chip.partition(p).dram_use(client).columns;
    t.memory.dram_activates += chip.partition(p).dram_use(client).activates;
    t.memory.atomics += c.atomics;
  }
  const ClientRun& client_run = client_runs_[client];
  t.cycles = client_run.ended - std::min(client_run.ended, client_run.first_arrived.count);
  t.blocks = client_run.blocks;
  t.launches = client_run.launches;
  t.preemptions = client_run.preemptions;
  t.finished = client_run.state == ClientRun::State::done && !client_run.cut_off;
  t.fault = client_run.fault;
  t.fault_kind = client_run.fault_kind;
  return t;
}

}  // namespace wm::sim
