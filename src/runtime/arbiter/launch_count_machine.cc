#include "runtime/arbiter/launch_count_machine.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace wm::runtime {

using policy::Kernel;
using policy::KernelId;
using policy::kNoKernel;
using policy::ResidentKernel;
using policy::Sm;

namespace {

constexpr double kCyclesPerSecond = 1e9 / static_cast<double>(LaunchCountMachine::kNanosecondsPerCycle);

}  // namespace

LaunchCountMachine::LaunchCountMachine(std::uint32_t sms, const gpu::SmLimits& limits, const gpu::Resources& block,
                                       std::uint64_t instructions_per_launch)
    : limits_(limits),
      instructions_per_launch_(static_cast<double>(instructions_per_launch)),
      block_(block),
      sms_(sms),
      residents_(sms) {
  for (std::uint32_t i = 0; i < sms; ++i) {
    sms_[i].id = {i};
    sms_[i].index = i;
    sms_[i].free = limits_.total;
  }
}

void LaunchCountMachine::refuse(const char* what) {
  throw std::logic_error(std::string("a policy asks the daemon of CUDA programs to ") + what +
                         ", which it never offered");
}

Kernel* LaunchCountMachine::view(KernelId id) {
  const auto at = std::find_if(kernels_.begin(), kernels_.end(), [id](const Kernel& k) { return k.id == id; });
  return at == kernels_.end() ? nullptr : &*at;
}

KernelId LaunchCountMachine::arrive(const Arrival& program) {
  KernelId id = program.before;
  if (id == kNoKernel) {
    id = {static_cast<std::uint32_t>(seen_.size())};
    Kernel first;
    first.id = id;
    first.process = id.index;
    first.first_arrived = now_;
    first.footprint = block_;
    first.max_blocks_per_sm = gpu::fit(block_, limits_.total);
    first.warps_per_block = block_.threads / 32;
    seen_.push_back(first);
    progressed_.push_back(now_);
    for (auto& of_sm : residents_) of_sm.emplace_back();
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

void LaunchCountMachine::update(KernelId id, const Arrival& program) {
  Kernel* k = view(id);
  if (k == nullptr) return;
  k->priority = program.priority;
  k->share = program.share;
  // Launches per second as instructions per cycle.
  k->goal = program.goal * instructions_per_launch_ / kCyclesPerSecond;
  k->isolated_ipc = program.isolated * instructions_per_launch_ / kCyclesPerSecond;
  const auto all = static_cast<std::uint32_t>(sms_.size()) * k->max_blocks_per_sm;
  const auto filled = static_cast<std::uint32_t>(std::ceil(program.part * all));
  set_blocks(*k, filled == 0 ? all : std::clamp(filled, 1U, all));
}

void LaunchCountMachine::finish(KernelId id) {
  Kernel* k = view(id);
  if (k == nullptr) return;
  leave(*k);
  seen_[id.index] = *k;
  kernels_.erase(kernels_.begin() + (k - kernels_.data()));
}

void LaunchCountMachine::launched(KernelId id, double launches) {
  Kernel* k = view(id);
  const auto instructions = static_cast<std::uint64_t>(std::llround(launches * instructions_per_launch_));
  if (k == nullptr || instructions == 0) return;
  progressed_[id.index] = now_;
  k->instructions += instructions;
  // By the blocks of every SM; those of a program without any count on the first one.
  std::uint64_t before = 0, blocks = 0;
  const std::uint64_t all = std::max<std::uint64_t>(k->resident, 1);
  for (const Sm& sm : sms_) {
    ResidentKernel& here = on(sm, id);
    blocks += k->resident == 0 ? (sm.index == 0 ? 1 : 0) : here.resident;
    const std::uint64_t until = instructions * std::min(blocks, all) / all;
    here.counters.thread_instructions += until - before;
    if (until > before) executed(sm, id, until - before);
    before = until;
  }
}

std::optional<LaunchCountMachine::Event> LaunchCountMachine::next_event() {
  occupy();
  if (std::exchange(epoch_ended_, false)) {
    epoch_began_ = now_;
    clear_counters();
  }
  if (const auto change = next_change()) return change;
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

void LaunchCountMachine::clear_counters() {
  for (auto& of_sm : residents_) {
    for (ResidentKernel& r : of_sm) r.counters = {};
  }
}

void LaunchCountMachine::set_epoch(Cycles length) {
  epoch_began_ = now_;
  epoch_length_ = length;
  epoch_ended_ = false;
  clear_counters();
}

}  // namespace wm::runtime
