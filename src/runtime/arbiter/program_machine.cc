#include "runtime/arbiter/program_machine.h"

#include <algorithm>
#include <utility>

namespace wm::runtime {

using policy::Kernel;
using policy::KernelId;
using policy::kNoKernel;
using policy::Sm;

namespace {

// A program fills a group with one block.
constexpr gpu::Resources kBlock{.threads = 1024, .registers = 65536, .shared_bytes = 65536, .blocks = 1};

}  // namespace

ProgramMachine::ProgramMachine(std::uint32_t groups)
    : LaunchCountMachine(groups, {.total = kBlock}, kBlock, kInstructions), reserved_since_(groups) {}

void ProgramMachine::set_blocks(Kernel& kernel, std::uint32_t blocks) {
  kernel.blocks = std::max(blocks, kernel.resident);
  kernel.waiting = kernel.blocks - kernel.resident;
}

void ProgramMachine::vacate(Sm& sm, Kernel& kernel) {
  policy::ResidentKernel& here = on(sm, kernel.id);
  if (here.resident == 0) return;
  here.resident = 0;
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

void ProgramMachine::leave(Kernel& kernel) {
  for (Sm& sm : sms_) vacate(sm, kernel);
}

bool ProgramMachine::is_lost(Sm& sm, KernelId by) {
  return sm.state == Sm::State::reserved && on(sm, by).resident != 0;
}

void ProgramMachine::used(KernelId id, const SmSet& groups) {
  Kernel* k = view(id);
  if (k == nullptr) return;
  for (Sm& sm : sms_) {
    if (!is_lost(sm, id)) continue;
    const bool has_left = groups.any() && !groups[sm.index];
    if (has_left || is_silent(sm)) vacate(sm, *k);
  }
}

void ProgramMachine::leaves(KernelId id, std::uint32_t groups) {
  Kernel* k = view(id);
  if (k == nullptr) return;
  auto lost = std::count_if(sms_.begin(), sms_.end(), [&](Sm& sm) { return is_lost(sm, id); });
  for (Sm& sm : sms_) {
    if (!is_lost(sm, id) || (lost <= groups && !is_silent(sm))) continue;
    vacate(sm, *k);
    --lost;
  }
}

SmSet ProgramMachine::groups(KernelId kernel) const {
  SmSet groups;
  for (const Sm& sm : sms_) {
    if (sm.state == Sm::State::on && (sm.owner == kNoKernel || sm.owner == kernel)) groups.set(sm.index);
  }
  return groups;
}

void ProgramMachine::occupy() {
  for (Sm& sm : sms_) {
    if (sm.state != Sm::State::on || sm.resident != 0) continue;
    for (Kernel& k : views()) {
      if (k.waiting == 0 || (sm.owner != kNoKernel && sm.owner != k.id)) continue;
      on(sm, k.id).resident = 1;
      sm.resident = 1;
      sm.free = {};
      ++k.resident;
      --k.waiting;
      break;
    }
  }
}

std::optional<LaunchCountMachine::Event> ProgramMachine::next_change() {
  while (!ready_.empty()) {
    const Event event = ready_.front();
    ready_.erase(ready_.begin());
    // An SM that has changed since is told when that change is complete.
    const auto* ready = std::get_if<policy::SmReady>(&event);
    const auto* idle = std::get_if<policy::SmIdle>(&event);
    if (ready != nullptr && sms_[ready->sm.index].owner != ready->owner) continue;
    if (idle != nullptr && (sms_[idle->sm.index].resident != 0 || views().empty())) continue;
    return event;
  }
  return std::nullopt;
}

void ProgramMachine::give(policy::SmId id, KernelId kernel, policy::Preempt how) {
  if (how != policy::Preempt::drain) refuse("switch contexts");
  Sm& sm = sms_[id.index];
  if (sm.state == Sm::State::reserved) {
    sm.next = kernel;
    if (kernel == sm.owner) sm.state = Sm::State::on, sm.next = kNoKernel;
    return;
  }
  const auto here = programs_on(sm);
  const bool has_others = sm.resident != 0 && (kernel.index >= here.size() || here[kernel.index].resident == 0);
  if (!has_others) {
    sm.owner = kernel;
    return;
  }
  // A shared SM is its user's until that has left.
  for (std::uint32_t i = 0; i < here.size() && sm.owner == kNoKernel; ++i) {
    if (here[i].resident != 0) sm.owner = {i};
  }
  sm.state = Sm::State::reserved;
  sm.next = kernel;
  reserved_since_[id.index] = now();
}

void ProgramMachine::share(policy::SmId id) {
  Sm& sm = sms_[id.index];
  sm.owner = sm.next = kNoKernel;
  sm.state = Sm::State::on;
}

}  // namespace wm::runtime
