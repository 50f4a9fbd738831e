#include "runtime/arbiter/program_machine.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

namespace wm::runtime {

using policy::Kernel;
using policy::KernelId;
using policy::kNoKernel;
using policy::Sm;

namespace {

// A program fills a group with one block.
constexpr gpu::Resources kBlock{.threads = 1024, .registers = 65536, .shared_bytes = 65536, .blocks = 1};

// Launches per second as instructions per cycle.
double rate(double launches_per_second) {
  constexpr double kCyclesPerSecond = 1e9 / static_cast<double>(ProgramMachine::kNanosecondsPerCycle);
  return launches_per_second * static_cast<double>(ProgramMachine::kInstructions) / kCyclesPerSecond;
}

}  // namespace

ProgramMachine::ProgramMachine(std::uint32_t groups)
    : limits_{.total = kBlock}, sms_(groups), residents_(groups), reserved_since_(groups) {
  for (std::uint32_t i = 0; i < groups; ++i) {
    sms_[i].id = {i};
    sms_[i].index = i;
    sms_[i].free = limits_.total;
  }
}

void ProgramMachine::refuse(const char* what) {
  throw std::logic_error(std::string("a policy asks the daemon of CUDA programs to ") + what +
                         ", which it never offered");
}

Kernel* ProgramMachine::view(KernelId id) {
  const auto at = std::find_if(kernels_.begin(), kernels_.end(), [id](const Kernel& k) { return k.id == id; });
  return at == kernels_.end() ? nullptr : &*at;
}

KernelId ProgramMachine::arrive(const Arrival& program) {
  KernelId id = program.before;
  if (id == kNoKernel) {
    id = {static_cast<std::uint32_t>(seen_.size())};
    Kernel first;
    first.id = id;
    first.process = id.index;
    first.first_arrived = now_;
    first.footprint = kBlock;
    first.max_blocks_per_sm = 1;
    first.warps_per_block = kBlock.threads / 32;
    seen_.push_back(first);
    progressed_.push_back(now_);
    for (auto& on : residents_) on.emplace_back();
  } else {
    ++seen_[id.index].launch;
    // A pause is no part of the history: the program's rate is that of the time in which it had work.
    seen_[id.index].first_arrived += now_ - progressed_[id.index];
  }
  Kernel k = seen_[id.index];
  k.arrived = now_;
  k.resident = k.done = 0;
  kernels_.push_back(k);
  update(id, program);
  return id;
}

void ProgramMachine::update(KernelId id, const Arrival& program) {
  Kernel* k = view(id);
  if (k == nullptr) return;
  const auto all = static_cast<std::uint32_t>(sms_.size());
  k->priority = program.priority;
  k->share = program.share;
  k->goal = rate(program.goal);
  k->isolated_ipc = rate(program.isolated);
  k->blocks = program.groups == 0 ? all : std::clamp(program.groups, 1U, all);
  k->blocks = std::max(k->blocks, k->resident);
  k->waiting = k->blocks - k->resident;
}

void ProgramMachine::vacate(Sm& sm, Kernel& kernel) {
  policy::ResidentKernel& on = residents_[sm.index][kernel.id.index];
  if (on.resident == 0) return;
  on.resident = 0;
  sm.resident = 0;
  sm.free = limits_.total;
  --kernel.resident;
  kernel.waiting = kernel.blocks - kernel.resident;
  if (sm.state == Sm::State::reserved) {
    sm.state = Sm::State::on;
    sm.owner = std::exchange(sm.next, kNoKernel);
    ready_.emplace_back(policy::SmReady{sm.id, sm.owner});
  } else {
    ready_.emplace_back(policy::SmIdle{sm.id});
  }
}

void ProgramMachine::finish(KernelId id) {
  Kernel* k = view(id);
  if (k == nullptr) return;
  for (Sm& sm : sms_) vacate(sm, *k);
  seen_[id.index] = *k;
  kernels_.erase(kernels_.begin() + (k - kernels_.data()));
}

void ProgramMachine::launched(KernelId id, double launches) {
  Kernel* k = view(id);
  const auto instructions = static_cast<std::uint64_t>(std::llround(launches * static_cast<double>(kInstructions)));
  if (k == nullptr || instructions == 0) return;
  progressed_[id.index] = now_;
  k->instructions += instructions;
  const std::uint64_t on_sms = std::max<std::uint64_t>(k->resident, 1);
  std::uint64_t left = instructions;
  for (Sm& sm : sms_) {
    policy::ResidentKernel& on = residents_[sm.index][id.index];
    if (on.resident == 0 && k->resident != 0) continue;
    const std::uint64_t part = k->resident == 0 ? left : instructions / on_sms;
    on.counters.thread_instructions += part;
    left -= part;
    if (k->resident == 0) return;
  }
  // The remainder of the division, so that no instruction is lost.
  for (Sm& sm : sms_) {
    policy::ResidentKernel& on = residents_[sm.index][id.index];
    if (on.resident == 0) continue;
    on.counters.thread_instructions += left;
    return;
  }
}

void ProgramMachine::used(KernelId id, std::uint64_t groups) {
  Kernel* k = view(id);
  if (k == nullptr) return;
  for (Sm& sm : sms_) {
    if (sm.state != Sm::State::reserved || residents_[sm.index][id.index].resident == 0) continue;
    const bool has_left = groups != 0 && (groups >> sm.index & 1U) == 0;
    if (has_left || now_ >= reserved_since_[sm.index] + kSilenceLimit) vacate(sm, *k);
  }
}

std::uint64_t ProgramMachine::groups(KernelId kernel) const {
  std::uint64_t mask = 0;
  for (const Sm& sm : sms_) {
    if (sm.state == Sm::State::on && (sm.owner == kNoKernel || sm.owner == kernel))
      mask |= std::uint64_t{1} << sm.index;
  }
  return mask;
}

void ProgramMachine::occupy() {
  for (Sm& sm : sms_) {
    if (sm.state != Sm::State::on || sm.resident != 0) continue;
    for (Kernel& k : kernels_) {
      if (k.waiting == 0 || (sm.owner != kNoKernel && sm.owner != k.id)) continue;
      residents_[sm.index][k.id.index].resident = 1;
      sm.resident = 1;
      sm.free = {};
      ++k.resident;
      --k.waiting;
      break;
    }
  }
}

std::optional<ProgramMachine::Event> ProgramMachine::next_event() {
  occupy();
  if (std::exchange(epoch_ended_, false)) {
    epoch_began_ = now_;
    clear_counters();
  }
  while (!ready_.empty()) {
    const Event event = ready_.front();
    ready_.erase(ready_.begin());
    // An SM that has changed since is told when that change is complete.
    const auto* ready = std::get_if<policy::SmReady>(&event);
    const auto* idle = std::get_if<policy::SmIdle>(&event);
    if (ready != nullptr && sms_[ready->sm.index].owner != ready->owner) continue;
    if (idle != nullptr && (sms_[idle->sm.index].resident != 0 || kernels_.empty())) continue;
    return event;
  }
  if (epoch_length_.count != 0 && now_ >= epoch_began_ + epoch_length_) {
    epoch_ended_ = true;
    return policy::Epoch{now_ - epoch_began_};
  }
  const auto due = std::find_if(alarms_.begin(), alarms_.end(), [this](const Alarm& a) { return a.when <= now_; });
  if (due == alarms_.end()) return std::nullopt;
  const std::uint64_t tag = due->tag;
  alarms_.erase(due);
  return policy::Wake{tag};
}

void ProgramMachine::clear_counters() {
  for (auto& on : residents_) {
    for (policy::ResidentKernel& r : on) r.counters = {};
  }
}

void ProgramMachine::give(policy::SmId id, KernelId kernel, policy::Preempt how) {
  if (how != policy::Preempt::drain) refuse("switch contexts");
  Sm& sm = sms_[id.index];
  if (sm.state == Sm::State::reserved) {
    sm.next = kernel;
    if (kernel == sm.owner) sm.state = Sm::State::on, sm.next = kNoKernel;
    return;
  }
  const auto& on = residents_[id.index];
  const bool has_others = sm.resident != 0 && (kernel.index >= on.size() || on[kernel.index].resident == 0);
  if (!has_others) {
    sm.owner = kernel;
    return;
  }
  // A shared SM is its user's until that has left.
  for (std::uint32_t i = 0; i < on.size() && sm.owner == kNoKernel; ++i) {
    if (on[i].resident != 0) sm.owner = {i};
  }
  sm.state = Sm::State::reserved;
  sm.next = kernel;
  reserved_since_[id.index] = now_;
}

void ProgramMachine::share(policy::SmId id) {
  Sm& sm = sms_[id.index];
  sm.owner = sm.next = kNoKernel;
  sm.state = Sm::State::on;
}

void ProgramMachine::set_epoch(Cycles length) {
  epoch_began_ = now_;
  epoch_length_ = length;
  epoch_ended_ = false;
  clear_counters();
}

}  // namespace wm::runtime
