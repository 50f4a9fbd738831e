// Transfers the events of a quantum into the tables and reports them to the policy.
#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "sim/cycle/machine.h"

namespace wm::sim {

using SmState = policy::Sm::State;

Result<void> CycleMachine::collect(policy::Policy& policy) {
  for (policy::Kernel& k : kernels_) k.instructions = progress(k.id.index);
  for (std::uint32_t s = 0; s < sms_.size(); ++s)
    if (chip_.has_events(s)) collect_faults(s);
  for (std::uint32_t s = 0; s < sms_.size(); ++s) {
    if (!chip_.has_events(s)) {
      settle(s, policy);
      continue;
    }
    // A block of a client that is cut off enters the tables before it is dropped.
    if (has_late_followers(s)) collect_blocks(s, policy);
    collect_stopped(s);
    collect_moved(s, policy);
    collect_blocks(s, policy);
    settle(s, policy);
    for (std::uint32_t m = chip_.sm(s).take_spent(); m != 0; m &= m - 1)
      policy.on(policy::QuotaSpent{{s}, {static_cast<std::uint32_t>(std::countr_zero(m))}}, *this);
  }
  return collect_launches(policy);
}

// A block of `client` has left the SM: it ended, or it will resume elsewhere.
void CycleMachine::left(std::uint32_t sm, std::uint32_t client) {
  policy::Sm& unit = sms_[sm];
  --unit.resident;
  --residents_[sm][client].resident;
  unit.free = gpu::more(unit.free, view(client)->footprint);
  dirty_ = true;
}

void CycleMachine::collect_blocks(std::uint32_t sm, policy::Policy& policy) {
  std::vector<FinishedBlock> finished = std::move(chip_.sm(sm).finished());
  chip_.sm(sm).finished().clear();
  for (FinishedBlock& e : finished) {
    const std::uint32_t client = e.kernel_index;
    left(sm, client);
    if (observer_ != nullptr) observer_->left(seen(sm, client, e.number), e.at, Left::done);
    if (e.run != nullptr) spare_runs_.push_back(std::move(e.run));
    policy::Kernel& k = *view(client);
    ++k.done;
    --k.resident;
    ++client_runs_[client].blocks;
    client_runs_[client].flushing = k.done == k.blocks;
    if (!e.followed) continue;
    if (client_runs_[client].cut_off) {  // which left it no waiting blocks
      ++k.waiting;
      ++k.blocks;
      client_runs_[client].flushing = false;
    }
    enter(sm, k);
    if (observer_ != nullptr) observer_->began(seen(sm, client, e.follower), e.follows_at, false);
  }
  for (const FinishedBlock& e : finished) policy.on(policy::BlockDone{{sm}, {e.kernel_index}}, *this);
}

// Whether blocks of a client that was cut off since have followed others on the SM.
bool CycleMachine::has_late_followers(std::uint32_t sm) {
  const std::vector<FinishedBlock>& finished = chip_.sm(sm).finished();
  return std::any_of(finished.begin(), finished.end(),
                     [&](const FinishedBlock& e) { return e.followed && client_runs_[e.kernel_index].cut_off; });
}

// A launch ends when its last block has ended and all its stores have arrived in memory.
Result<void> CycleMachine::collect_launches(policy::Policy& policy) {
  for (std::uint32_t i = 0; i < client_runs_.size(); ++i) {
    if (!client_runs_[i].flushing) continue;
    bool quiet = true;
    std::uint64_t over = 0;
    for (std::uint32_t s = 0; s < sms_.size() && quiet; ++s) {
      quiet = chip_.sm(s).quiet(static_cast<std::uint8_t>(i));
      over = std::max(over, chip_.sm(s).last_of(static_cast<std::uint8_t>(i)));
    }
    if (!quiet) continue;
    client_runs_[i].flushing = false;
    client_runs_[i].over = std::min(over, chip_.now());
    if (auto r = launch_done(i, policy); !r) return r;
  }
  return {};
}

// Starts saving the context of stopped blocks that have no load in flight.
void CycleMachine::collect_stopped(std::uint32_t sm) {
  std::vector<FinishedBlock> stopped = std::move(chip_.sm(sm).stopped());
  chip_.sm(sm).stopped().clear();
  for (FinishedBlock& e : stopped) {
    const std::uint8_t kernel = e.run->kernel.kernel_index;
    if (client_runs_[kernel].cut_off) {
      --residents_[sm][kernel].leaving;
      --sms_[sm].leaving;
      drop(sm, std::move(e.run));
      continue;
    }
    const std::uint32_t token = chip_.sm(sm).move_context(MessageKind::write, client_runs_[kernel].context_bytes,
                                                          context_place(*e.run), kernel);
    moving_.push_back({std::move(e.run), sm, token, true});
  }
}

LineAddress CycleMachine::context_place(const BlockRun& run) const {
  return (run.kernel.client << 56) | (std::uint64_t{1} << 40) | (run.number * 4096 % (std::uint64_t{1} << 30));
}

void CycleMachine::collect_moved(std::uint32_t sm, policy::Policy& policy) {
  std::vector<std::uint32_t> moved = std::move(chip_.sm(sm).moved());
  chip_.sm(sm).moved().clear();
  for (const std::uint32_t token : moved) {
    const auto it =
        std::find_if(moving_.begin(), moving_.end(), [&](const Moving& m) { return m.sm == sm && m.token == token; });
    Moving m = std::move(*it);
    moving_.erase(it);
    const std::uint32_t client = m.run->kernel.kernel_index;
    if (!m.out && !m.recalled && !client_runs_[client].cut_off) {
      chip_.sm(sm).start(std::move(m.run), chip_.now());
      continue;
    }
    if (m.out || m.recalled) {
      --residents_[sm][client].leaving;
      --sms_[sm].leaving;
    }
    if (client_runs_[client].cut_off) {
      drop(sm, std::move(m.run));
      continue;
    }
    left(sm, client);
    if (observer_ != nullptr) observer_->left(seen(sm, client, m.run->number), chip_.now(), Left::preempted);
    policy::Kernel& k = *view(client);
    --k.resident;
    ++k.waiting;
    auto& set_aside = client_runs_[client].set_aside;
    // A recalled block has waited longest, so it becomes the first.
    set_aside.insert(m.recalled ? set_aside.begin() : set_aside.end(), std::move(m.run));
    if (asked_[sm][client] == 0) continue;
    --asked_[sm][client];
    policy.on(policy::Preempted{{sm}, {client}, 1}, *this);
  }
}

// Ends kernels that faulted. The block that faulted has stopped by itself.
void CycleMachine::collect_faults(std::uint32_t sm) {
  for (const FaultedKernel& f : chip_.sm(sm).faulted()) {
    ++residents_[sm][f.kernel_index].leaving;
    ++sms_[sm].leaving;
    ClientRun& client_run = client_runs_[f.kernel_index];
    if (client_run.cut_off) continue;
    client_run.fault = f.fault.to_string();
    client_run.fault_kind = f.fault.kind;
    cut_off(f.kernel_index);
  }
  chip_.sm(sm).faulted().clear();
}

// An SM whose blocks have left gets its new owner, is switched off, or has finished waking.
void CycleMachine::settle(std::uint32_t sm, policy::Policy& policy) {
  policy::Sm& unit = sms_[sm];
  if (unit.state == SmState::reserved && residents_[sm][unit.next.index].resident == unit.resident) {
    unit.state = SmState::on;
    unit.owner = unit.next;
    unit.next = policy::kNoKernel;
    dirty_ = true;
    policy.on(policy::SmReady{{sm}, unit.owner}, *this);
  } else if (unit.state == SmState::gating && unit.resident == 0) {
    unit.state = SmState::off;
    gating_.switch_off(sm, chip_.now());
  } else if (unit.state == SmState::waking && gating_.awake_at(sm) <= chip_.now()) {
    unit.state = SmState::on;
    dirty_ = true;
    policy.on(policy::SmReady{{sm}, unit.owner}, *this);
  }
}

void CycleMachine::timers(policy::Policy& policy) {
  if (epoch_.running()) sample_idle_warps();
  if (chip_.now() >= epoch_.due()) {
    const std::uint64_t due = epoch_.due();
    policy.on(policy::Epoch{Cycles{chip_.now() - epoch_.began()}}, *this);
    begin_epoch();
    epoch_.ended(due, chip_.now());
  }
  while (true) {  // a policy may request an alarm for now when it is woken
    const std::vector<Alarms::Alarm> due = alarms_.take_due(chip_.now());
    if (due.empty()) return;
    for (const Alarms::Alarm& a : due) policy.on(policy::Wake{a.tag}, *this);
  }
}

void CycleMachine::sample_idle_warps() {
  if (!epoch_.take_sample(chip_.now())) return;
  for (std::uint32_t s = 0; s < sms_.size(); ++s) {
    chip_.sm(s).charge_until(chip_.now());
    for (std::size_t i = 0; i < clients_.size(); ++i) {
      const auto kernel = static_cast<std::uint8_t>(i);
      if (residents_[s][i].resident != 0)
        chip_.sm(s).counters(kernel).idle_warp_samples += chip_.sm(s).idle_warps(kernel);
    }
  }
}

// Warped-Slicer's protocol: a client that has executed its instructions stops and leaves its resources.
void CycleMachine::check_instruction_limits() {
  for (std::uint32_t i = 0; i < client_runs_.size(); ++i) {
    const ClientRun& client_run = client_runs_[i];
    if (client_run.instruction_limit == 0 || client_run.state != ClientRun::State::active) continue;
    if (instructions(i) >= client_run.instruction_limit) cut_off(i);
  }
}

// Ends a run in which kernels wait for each other, or for a policy that never lets them continue.
Result<void> CycleMachine::check_progress(const RunLimits& limits) {
  if (chip_.now() - last_progress_ < limits.stuck_after) return {};
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) sum += instructions(i);
  if (sum == progress_ && !kernels_.empty())
    return Error{fmt::format("no kernel has executed an instruction for {} cycles, at cycle {}",
                             chip_.now() - last_progress_, chip_.now())};
  progress_ = sum;
  last_progress_ = chip_.now();
  return {};
}

}  // namespace wm::sim
