#include "sim/block/machine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "sim/block/instruction_counts.h"

namespace wm::sim {

using policy::KernelId;
using policy::SmId;
using SmState = policy::Sm::State;

namespace {

std::uint64_t share_of_bandwidth(const BlockMachineSpec& spec) {
  const double bytes_per_cycle =
      static_cast<double>(spec.bytes_per_second) / static_cast<double>(spec.clock.count) / spec.sms;
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(bytes_per_cycle * static_cast<double>(kOne)));
}

}  // namespace

BlockMachineSpec block_machine_spec(const gpu::GpuConfig& gpu) {
  BlockMachineSpec spec;
  spec.sms = gpu.sm.count;
  spec.limits.total = {gpu.sm.threads, gpu.sm.registers, gpu.sm.shared_memory, gpu.sm.blocks};
  spec.limits.register_unit = gpu.sm.register_unit;
  spec.limits.shared_unit = gpu.sm.shared_memory_unit;
  spec.clock = {std::uint64_t{gpu.sm.clock_mhz} * 1'000'000};
  spec.bytes_per_second = static_cast<std::uint64_t>(gpu.dram.peak_bytes_per_second());
  spec.decision = {gpu.sm.count};
  spec.launch_latency = {gpu.launch_latency};
  spec.wake = {gpu.power.wake_cycles};
  return spec;
}

BlockMachine::BlockMachine(const BlockMachineSpec& spec)
    : spec_(spec),
      random_(spec.seed),
      kernels_(mix_bits(spec.seed)),
      sms_(spec.sms, spec.limits.total, share_of_bandwidth(spec)),
      waves_(spec.fill_sms) {}

void BlockMachine::start(policy::Policy& policy, policy::Cans declared) {
  policy_ = &policy;
  sees_blocks_ = declared.has(policy::Can::see_blocks);
  policy_->on(policy::Started{}, *this);
}

KernelId BlockMachine::add_client(BlockClientSpec spec) {
  sms_.add_client();
  return kernels_.add(std::move(spec));
}

Cycles BlockMachine::next_event() const { return std::min(Cycles{sms_.next_event()}, timers_.next()); }

void BlockMachine::launch(KernelId client, const KernelModel& model) {
  kernels_.arrive(client, model, now_, now_ + spec_.launch_latency);
  touched_.add_for(client);
  set_changed_ = true;
  policy_->on(policy::KernelArrived{client}, *this);
}

// --- events of the blocks

void BlockMachine::advance(Cycles to) {
  now_ = to;
  completed_.clear();
  if (quiet_sms_ != 0) collect_quiet();
  while (sms_.next_event() <= now_.count) collect(sms_.next_sm());
  for (const KernelId client : completed_) {
    kernels_.remove(client, now_);
    set_changed_ = true;
    policy_->on(policy::KernelDone{client}, *this);
  }
}

void BlockMachine::collect(std::uint32_t sm) {
  if (sms_.view(sm).leaving != 0) collect_left(sm);
  collect_ended(sm);
  touch(sm);
  change_state(sm);
  reschedule(sm);
}

// Finds the SM's next event, and whether ends of blocks there are simple. Called after each change of its blocks, of
// its state, or of the blocks that its owner has to start.
void BlockMachine::reschedule(std::uint32_t sm) {
  SmTable::Entry& entry = sms_[sm];
  const std::uint64_t at = std::min(entry.wakes, entry.unit.next_event());
  quiet_sms_ -= entry.quiet ? 1 : 0;
  entry.quiet = entry.replacing = false;
  if (!sees_blocks_ && observer_ == nullptr && entry.wakes == kNoEvent && entry.unit.uniform())
    find_simple_ends(sm, at);
  quiet_sms_ += entry.quiet ? 1 : 0;
  sms_.schedule(sm, entry.quiet ? entry.unit.last_end() : at);
}

// For an SM with blocks of one client only, the first of which ends at `at`, and on which no other client may start
// blocks. None starts where the client has none to start, or while the SM is reserved or gating; the SM then has no
// event until its last block ends.
void BlockMachine::find_simple_ends(std::uint32_t sm, std::uint64_t at) {
  SmTable::Entry& entry = sms_[sm];
  const policy::Sm& view = sms_.view(sm);
  const std::uint32_t client = entry.unit.only_client();
  if (view.state != SmState::on) {
    entry.quiet = view.next.index != client;
    return;
  }
  const auto may_start_there = [&](const policy::Kernel& k) { return k.id.index != client && k.waiting != 0; };
  const auto active = kernels_.active();
  if (view.owner == policy::kNoKernel ? std::any_of(active.begin(), active.end(), may_start_there)
                                      : view.owner.index != client)
    return;
  const policy::ResidentKernel& on = sms_.resident(sm, client);
  entry.quiet = kernels_.view(client)->waiting == 0;
  entry.replacing = !entry.quiet && on.resident <= on.cap && kernels_.starts(client).count <= at &&
                    entry.available <= at && !kernels_.has_preempted(client);
}

// Brings the tables up to date on quiet SMs. Blocks that end in this cycle are left to `collect`.
void BlockMachine::collect_quiet() {
  for (std::uint32_t s = 0; s < sms_.count(); ++s) {
    SmTable::Entry& entry = sms_[s];
    if (!entry.quiet || entry.unit.next_event() > now_.count) continue;
    const std::uint32_t client = entry.unit.only_client();
    const auto [ended, instructions] = entry.unit.drop_ended_before(
        now_.count, [&](std::uint64_t work) { return kernels_.instructions_of(client, work); });
    entry.retired[client] += instructions;
    kernels_.blocks_ended(client, ended, instructions);
    policy::Kernel& k = *kernels_.view(client);
    sms_.leave(s, k, ended);
    k.resident -= ended;
    k.done += ended;
    if (entry.unit.next_event() == now_.count) sms_.schedule(s, now_.count);
  }
}

void BlockMachine::collect_left(std::uint32_t sm) {
  std::uint32_t asked = 0;
  KernelId of = policy::kNoKernel;
  sms_[sm].unit.collect_left(now_.count, [&](std::span<const SmUnit::Leaving> left) {
    const std::uint32_t client = left.front().client;
    const auto count = static_cast<std::uint32_t>(left.size());
    policy::Kernel& k = *kernels_.view(client);
    sms_.leave(sm, k, count);
    sms_[sm].set_up_for = launch_number(k);
    sms_.view(sm).leaving -= count;
    sms_.resident(sm, client).leaving -= count;
    k.resident -= count;
    k.waiting += count;
    for (const SmUnit::Leaving& l : left) {
      kernels_.put_back(client, l.work);
      if (observer_ != nullptr) observer_->block_left({sm, client, l.work.block}, now_.count, false);
    }
    touched_.add_for(k.id);  // the blocks may resume on other SMs
    if (!left.front().asked) return;
    if (asked != 0 && of != k.id) policy_->on(policy::Preempted{{sm}, of, std::exchange(asked, 0)}, *this);
    of = k.id;
    asked += count;
  });
  if (asked != 0) policy_->on(policy::Preempted{{sm}, of, asked}, *this);
}

void BlockMachine::collect_ended(std::uint32_t sm) {
  ended_.clear();
  SmTable::Entry& entry = sms_[sm];
  entry.unit.collect_ended(now_.count, [&](std::uint32_t client, std::uint32_t block, std::uint64_t work) {
    policy::Kernel& k = *kernels_.view(client);
    sms_.leave(sm, k);
    entry.set_up_for = launch_number(k);
    entry.retired[client] += kernels_.retire(client, work);
    kernels_.blocks_ended(client, 1);
    --k.resident;
    if (++k.done == k.blocks) completed_.push_back(k.id);
    if (observer_ != nullptr) observer_->block_left({sm, client, block}, now_.count, true);
    if (sees_blocks_) ended_.push_back(client);
  });
  for (const std::uint32_t client : ended_) policy_->on(policy::BlockDone{{sm}, {client}}, *this);
}

// An SM whose blocks have left gets its new owner or is switched off; one that was waking is on.
void BlockMachine::change_state(std::uint32_t sm) {
  policy::Sm& view = sms_.view(sm);
  SmTable::Entry& entry = sms_[sm];
  if (view.state == SmState::reserved && sms_.resident(sm, view.next.index).resident == view.resident) {
    view.state = SmState::on;
    view.owner = std::exchange(view.next, policy::kNoKernel);
    policy_->on(policy::SmReady{{sm}, view.owner}, *this);
  } else if (view.state == SmState::gating && view.resident == 0) {
    view.state = SmState::off;
    entry.gated_since = now_.count;
  } else if (view.state == SmState::waking && entry.wakes <= now_.count) {
    view.state = SmState::on;
    entry.wakes = kNoEvent;
    policy_->on(policy::SmReady{{sm}, view.owner}, *this);
  }
}

void BlockMachine::settle() {
  if (std::exchange(set_changed_, false)) {
    if (timers_.epoch_settings() != 0) count_instructions(kernels_, sms_, now_, false);
    policy_->on(policy::KernelSetChanged{}, *this);
  }
  if (timers_.next() <= now_) run_timers();
  do place();
  while (tell_idle());
}

void BlockMachine::run_timers() {
  count_instructions(kernels_, sms_, now_, false);
  if (timers_.epoch_due(now_)) {
    const std::uint64_t settings = timers_.epoch_settings();
    policy_->on(policy::Epoch{now_ - timers_.epoch_began()}, *this);
    if (timers_.epoch_settings() == settings) {  // the policy did not begin another one
      timers_.next_epoch(now_);
      count_instructions(kernels_, sms_, now_, true);
    }
  }
  while (const auto tag = timers_.take_due(now_)) policy_->on(policy::Wake{*tag}, *this);
}

// Whether nothing but ends and starts of blocks happens at `at` on the SMs of simultaneous_: no launch ends, no context
// is saved, no SM changes its owner or becomes idle.
bool BlockMachine::only_blocks_change(std::uint64_t at) {
  const auto sms = static_cast<std::uint32_t>(simultaneous_.size());
  if (!spec_.fill_sms && sms > 1) return false;  // these SMs take blocks in turn
  ended_.clear();
  for (const std::uint32_t s : simultaneous_) {
    const policy::Sm& view = sms_.view(s);
    if (sms_[s].quiet || view.state != SmState::on || view.leaving != 0 || sms_[s].wakes != kNoEvent) return false;
    if (sms_[s].replacing && has_blocks_for(sms_[s].unit.only_client(), sms)) continue;
    std::uint32_t ended = 0;
    bool refilled = false;
    sms_[s].unit.visit_ended(at, [&](std::uint32_t client, std::uint32_t count) {
      const policy::ResidentKernel& on = sms_.resident(s, client);
      ended += count;
      refilled |= has_blocks_for(client, sms) && on.resident <= on.cap &&
                  (view.owner == policy::kNoKernel || view.owner.index == client);
      ended_.insert(ended_.end(), count, client);
    });
    if (ended == view.resident && !refilled) return false;
  }
  for (const std::uint32_t client : ended_) {
    const policy::Kernel& k = *kernels_.view(client);
    if (k.blocks - k.done <= ended_.size()) return false;
  }
  return true;
}

void BlockMachine::run_ahead(Cycles limit) {
  if (sees_blocks_ || observer_ != nullptr) return;
  const std::uint64_t stop = std::min(limit, timers_.next()).count;
  waves_.begin();
  for (std::uint64_t at = sms_.next_event(); at < stop; at = sms_.next_event()) {
    if (sms_[sms_.next_sm()].replacing && replace_waves(stop)) continue;
    if (const std::uint32_t s = sms_.next_sm(); sms_[s].replacing && sms_.next_is_single() && replace_ended(s, at))
      continue;
    sms_.find_simultaneous(simultaneous_);
    if (!only_blocks_change(at)) return;
    now_ = {at};
    for (const std::uint32_t s : simultaneous_) {
      if (sms_[s].replacing && replace_ended(s, at)) continue;
      collect_ended(s);
      while (policy::Kernel* k = next_for(s)) start_blocks(s, *k);
      reschedule(s);
    }
  }
}

bool BlockMachine::replace_waves(std::uint64_t stop) {
  const auto last = waves_.advance(kernels_, sms_, stop);
  if (!last) return false;
  now_ = {*last};
  for (const std::uint32_t s : waves_.sms()) reschedule(s);
  return true;
}

// The client has no more blocks to start, so those that end on its SMs are not replaced.
void BlockMachine::end_replacing(std::uint32_t client) {
  for (std::uint32_t s = 0; s < sms_.count(); ++s)
    if (sms_[s].replacing && sms_[s].unit.only_client() == client) reschedule(s);
}

// Replaces the blocks that end at `at`. False: their client has fewer blocks to start, and nothing was done.
bool BlockMachine::replace_ended(std::uint32_t sm, std::uint64_t at) {
  SmTable::Entry& entry = sms_[sm];
  const std::uint32_t client = entry.unit.only_client();
  policy::Kernel& k = *kernels_.view(client);
  const std::uint32_t replaced = entry.unit.replace_ended(
      at, k.waiting, [&](std::uint64_t work) { entry.retired[client] += kernels_.retire(client, work); },
      [&] { return kernels_.take_new_block(client); });
  if (replaced == 0) return false;
  now_ = {at};
  k.done += replaced;
  k.waiting -= replaced;
  kernels_.blocks_ended(client, replaced);
  sms_.schedule(sm, entry.unit.next_event());
  if (k.waiting == 0) end_replacing(client);
  return true;
}

// --- blocks onto SMs

bool BlockMachine::may_start(std::uint32_t sm, const policy::Kernel& k) {
  const policy::ResidentKernel& on = sms_.resident(sm, k.id.index);
  return k.waiting != 0 && on.resident < on.cap && on.resident < k.max_blocks_per_sm && sms_.room_for(1, sm, k) != 0;
}

policy::Kernel* BlockMachine::next_for(std::uint32_t sm) {
  const policy::Sm& view = sms_.view(sm);
  if (view.state != SmState::on) return nullptr;
  if (view.owner != policy::kNoKernel) {
    policy::Kernel* k = kernels_.view(view.owner.index);
    return k != nullptr && may_start(sm, *k) ? k : nullptr;
  }
  for (const KernelId id : order_) {
    policy::Kernel* k = kernels_.view(id.index);
    if (k != nullptr && may_start(sm, *k)) return k;
  }
  for (const policy::Kernel& k : kernels_.active())
    if (may_start(sm, k)) return kernels_.view(k.id.index);
  return nullptr;
}

void BlockMachine::place() {
  const auto touched = touched_.find(sms_.views());
  // One SM after the other, or a block for each in turn until none can take another.
  for (bool any = true; any;) {
    any = false;
    for (const std::uint32_t s : touched) {
      policy::Kernel* k = next_for(s);
      if (k == nullptr) continue;
      any = !spec_.fill_sms;
      do start_blocks(s, *k);
      while (spec_.fill_sms && (k = next_for(s)) != nullptr);
    }
  }
  for (const std::uint32_t s : touched) reschedule(s);
}

// Starts one block, or where one SM is filled after the other all that the SM can take: until another kernel is next.
void BlockMachine::start_blocks(std::uint32_t sm, policy::Kernel& kernel) {
  const std::uint32_t client = kernel.id.index;
  const KernelModel& model = kernels_.model(client);
  SmTable::Entry& entry = sms_[sm];
  const std::uint64_t launch = launch_number(kernel);
  if (sms_.view(sm).resident == 0 && entry.set_up_for != launch) {
    entry.set_up_for = launch;
    entry.available = std::max(now_.count, entry.available) + spec_.setup.count;
  }
  const std::uint64_t from = std::max({now_.count, entry.available, kernels_.starts(client).count});
  if (kernel.waiting == kernel.blocks) kernels_.note_start(client, now_);
  const policy::ResidentKernel& on = sms_.resident(sm, client);
  const std::uint32_t wanted = std::min(kernel.waiting, std::min(on.cap, kernel.max_blocks_per_sm) - on.resident);
  const std::uint32_t count = spec_.fill_sms ? sms_.room_for(wanted, sm, kernel) : 1;
  if (observer_ == nullptr && !kernels_.has_preempted(client)) {
    KernelTable::Replacement blocks = kernels_.begin_replacing(client);
    entry.unit.start(client, model, count, now_.count, [&] { return SmUnit::Started{blocks.take(), from}; });
    kernels_.end_starting(client, blocks);
  } else {
    entry.unit.start(client, model, count, now_.count, [&] {
      bool resumed = false;
      const BlockWork work = kernels_.take_block(client, resumed);
      const std::uint64_t begins = resumed ? entry.unit.restore(model.context_bytes, from) : from;
      if (observer_ != nullptr) observer_->block_began({sm, client, work.block}, now_.count, begins, resumed);
      return SmUnit::Started{work, begins};
    });
  }
  sms_.enter(sm, kernel, count);
  kernel.resident += count;
  kernel.waiting -= count;
}

// SMs that are empty once nothing more can be placed. True: the policy was told and may have acted on it.
bool BlockMachine::tell_idle() {
  bool told = false;
  touched_.take(candidates_);
  for (const std::uint32_t s : candidates_) {
    const policy::Sm& view = sms_.view(s);
    if (view.state != SmState::on || view.resident != 0 || sms_[s].idle_told) continue;
    sms_[s].idle_told = true;
    told = true;
    policy_->on(policy::SmIdle{{s}}, *this);
  }
  return told;
}

// --- actions of a policy

void BlockMachine::give(SmId id, KernelId kernel, policy::Preempt how) {
  const std::uint32_t s = id.index;
  policy::Sm& sm = sms_.view(s);
  SmTable::Entry& entry = sms_[s];
  touch(s);
  if (sm.state == SmState::off) wake(s);
  if (sm.state == SmState::waking) {
    sm.owner = kernel;
    return;
  }
  const bool reserved = sm.state == SmState::reserved;
  if (sms_.resident(s, kernel.index).resident == sm.resident || (reserved && sm.owner == kernel)) {
    if (sm.resident == 0) entry.idle_told = false;
    if (sm.owner != kernel) entry.available = std::max(entry.available, now_.count + spec_.decision.count);
    sm.state = SmState::on;
    sm.owner = kernel;
    sm.next = policy::kNoKernel;
    return;
  }
  sm.state = SmState::reserved;
  sm.next = kernel;
  if (reserved || how == policy::Preempt::drain) return;
  for (std::uint32_t i = 0; i < kernels_.clients(); ++i)
    if (i != kernel.index && sms_.resident(s, i).resident != 0) stop_blocks(s, i, ~0U, false);
}

void BlockMachine::share(SmId id) {
  policy::Sm& sm = sms_.view(id.index);
  touch(id.index);
  sm.owner = policy::kNoKernel;
  sm.next = policy::kNoKernel;
  if (sm.state == SmState::off) return wake(id.index);
  if (sm.state != SmState::waking) sm.state = SmState::on;
}

void BlockMachine::cap(SmId sm, KernelId kernel, std::uint32_t blocks) {
  policy::ResidentKernel& on = sms_.resident(sm.index, kernel.index);
  if (on.cap == blocks) return;
  on.cap = blocks;
  touch(sm.index);
}

void BlockMachine::preempt(SmId sm, KernelId kernel, std::uint32_t blocks) {
  stop_blocks(sm.index, kernel.index, blocks, true);
}

void BlockMachine::stop_blocks(std::uint32_t sm, std::uint32_t client, std::uint32_t count, bool asked) {
  SmTable::Entry& entry = sms_[sm];
  const SmUnit::Stopped stopped = entry.unit.stop(
      client, count, kernels_.model(client).context_bytes, now_.count, now_.count + spec_.decision.count, asked,
      [&](std::uint64_t work) { entry.retired[client] += kernels_.retire(client, work); });
  sms_.resident(sm, client).leaving += stopped.blocks;
  sms_.view(sm).leaving += stopped.blocks;
  kernels_.count_preempted(client, stopped.saved);
  reschedule(sm);
}

void BlockMachine::set_quota(SmId, KernelId, std::int64_t) {
  throw std::logic_error("the block machine has no instruction quotas, and does not publish the capability");
}

void BlockMachine::add_quota(SmId sm, KernelId kernel, std::int64_t instructions) {
  set_quota(sm, kernel, instructions);
}

void BlockMachine::gate(SmId id) {
  policy::Sm& sm = sms_.view(id.index);
  if (sm.state == SmState::off || sm.state == SmState::gating) return;
  sm.owner = policy::kNoKernel;
  sm.next = policy::kNoKernel;
  sm.state = sm.resident == 0 ? SmState::off : SmState::gating;
  sms_[id.index].wakes = kNoEvent;
  if (sm.state == SmState::off) sms_[id.index].gated_since = now_.count;
  reschedule(id.index);
}

void BlockMachine::wake(std::uint32_t sm) {
  SmTable::Entry& entry = sms_[sm];
  sms_.view(sm).state = SmState::waking;
  entry.wakes = now_.count + spec_.wake.count;
  entry.gated_cycles += now_.count - entry.gated_since;
  reschedule(sm);
}

void BlockMachine::order(std::span<const KernelId> first) {
  order_.assign(first.begin(), first.end());
  touched_.add_all();
}

void BlockMachine::set_epoch(Cycles length) {
  timers_.set_epoch(length, now_);
  count_instructions(kernels_, sms_, now_, true);
}

std::uint64_t BlockMachine::gated_cycles() {
  std::uint64_t sum = 0;
  for (std::uint32_t s = 0; s < sms_.count(); ++s) {
    sum += sms_[s].gated_cycles;
    if (sms_.view(s).state == SmState::off) sum += now_.count - sms_[s].gated_since;
  }
  return sum;
}

}  // namespace wm::sim
