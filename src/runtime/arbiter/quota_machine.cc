#include "runtime/arbiter/quota_machine.h"

#include <algorithm>

namespace wm::runtime {

using policy::Kernel;
using policy::KernelId;
using policy::kNoQuota;
using policy::ResidentKernel;
using policy::Sm;

namespace {

constexpr std::uint32_t kBlocks = QuotaMachine::kBlocksPerSm;
constexpr gpu::Resources kPartOfSm{.threads = 64, .registers = 2048, .shared_bytes = 7168, .blocks = 1};
constexpr gpu::Resources kWholeSm{.threads = kPartOfSm.threads * kBlocks,
                                  .registers = kPartOfSm.registers * kBlocks,
                                  .shared_bytes = kPartOfSm.shared_bytes * kBlocks,
                                  .blocks = kBlocks};

// Less than this of a quota, a hundredth of a launch on all SMs, is what divisions by SMs have left: it is spent.
constexpr std::int64_t kRest = QuotaMachine::kInstructions / 100 / QuotaMachine::kSms;

}  // namespace

QuotaMachine::QuotaMachine() : LaunchCountMachine(kSms, {.total = kWholeSm}, kPartOfSm, kInstructions) {}

std::optional<double> QuotaMachine::launches_left(KernelId kernel) const {
  std::int64_t left = 0;
  for (const Sm& sm : sms_) {
    const std::int64_t quota = programs_on(sm)[kernel.index].quota;
    if (quota == kNoQuota) return std::nullopt;
    left += quota;
  }
  return static_cast<double>(left) / static_cast<double>(kInstructions);
}

std::uint32_t QuotaMachine::occupancy_percent(KernelId kernel) const {
  std::uint32_t blocks = 0;
  for (const Sm& sm : sms_) blocks += std::min(programs_on(sm)[kernel.index].cap, kBlocksPerSm);
  return std::max(blocks * 100 / (kSms * kBlocksPerSm), 1U);
}

void QuotaMachine::cap(policy::SmId sm, KernelId kernel, std::uint32_t blocks) {
  on(sms_[sm.index], kernel).cap = blocks;
}

void QuotaMachine::set_quota(policy::SmId sm, KernelId kernel, std::int64_t instructions) {
  ResidentKernel& here = on(sms_[sm.index], kernel);
  const std::int64_t debt = here.quota == kNoQuota ? 0 : std::min<std::int64_t>(here.quota, 0);
  here.quota = instructions == kNoQuota ? kNoQuota : instructions + debt;
  if (instructions > 0 && here.quota <= 0) spent_.push_back({sm, kernel});
}

void QuotaMachine::add_quota(policy::SmId sm, KernelId kernel, std::int64_t instructions) {
  ResidentKernel& here = on(sms_[sm.index], kernel);
  if (here.quota == kNoQuota) return;
  here.quota += instructions;
  if (instructions > 0 && here.quota <= 0) spent_.push_back({sm, kernel});
}

void QuotaMachine::executed(const Sm& sm, KernelId kernel, std::uint64_t instructions) {
  ResidentKernel& here = on(sm, kernel);
  if (here.quota == kNoQuota) return;
  const bool had_some = here.quota > 0;
  here.quota -= static_cast<std::int64_t>(instructions);
  if (here.quota < kRest) here.quota = std::min<std::int64_t>(here.quota, 0);
  if (had_some && here.quota <= 0) spent_.push_back({sm.id, kernel});
}

void QuotaMachine::set_blocks(Kernel& kernel, std::uint32_t blocks) {
  for (auto sm = sms_.rbegin(); sm != sms_.rend() && kernel.resident > blocks; ++sm) {
    const std::uint32_t above = std::min(on(*sm, kernel.id).resident, kernel.resident - blocks);
    change(*sm, kernel, -static_cast<int>(above));
  }
  kernel.blocks = blocks;
  kernel.waiting = kernel.blocks - kernel.resident;
}

void QuotaMachine::leave(Kernel& kernel) {
  for (Sm& sm : sms_) change(sm, kernel, -static_cast<int>(on(sm, kernel.id).resident));
}

void QuotaMachine::change(Sm& sm, Kernel& kernel, int blocks) {
  const auto by = static_cast<std::uint32_t>(blocks);  // a negative number wraps around, and back in the sums below
  on(sm, kernel.id).resident += by;
  sm.resident += by;
  sm.free = {sm.free.threads - by * kPartOfSm.threads, sm.free.registers - by * kPartOfSm.registers,
             sm.free.shared_bytes - by * kPartOfSm.shared_bytes, sm.free.blocks - by};
  kernel.resident += by;
  kernel.waiting = kernel.blocks - kernel.resident;
}

void QuotaMachine::occupy() {
  for (Kernel& k : views()) {
    for (Sm& sm : sms_) {
      const ResidentKernel& here = on(sm, k.id);
      if (here.resident > here.cap) change(sm, k, -static_cast<int>(here.resident - here.cap));
    }
  }
  for (Kernel& k : views()) {
    // One block on every SM in turn, so that a program that fills a part of the GPU has as much of every SM.
    for (bool has_grown = true; has_grown && k.waiting > 0;) {
      has_grown = false;
      for (Sm& sm : sms_) {
        const ResidentKernel& here = on(sm, k.id);
        if (k.waiting == 0 || here.resident >= here.cap || sm.free.blocks == 0) continue;
        change(sm, k, 1);
        has_grown = true;
      }
    }
  }
}

std::optional<LaunchCountMachine::Event> QuotaMachine::next_change() {
  while (!spent_.empty()) {
    const policy::QuotaSpent event = spent_.front();
    spent_.erase(spent_.begin());
    if (view(event.kernel) != nullptr && on(sms_[event.sm.index], event.kernel).quota <= 0) return event;
  }
  return std::nullopt;
}

}  // namespace wm::runtime
