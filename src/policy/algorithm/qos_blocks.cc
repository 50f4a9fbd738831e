#include "policy/algorithm/qos_blocks.h"

#include <algorithm>

#include "policy/algorithm/members.h"
#include "policy/algorithm/quotas.h"
#include "policy/algorithm/shares.h"

namespace wm::policy {
namespace {

// The number of further SMs that the kernel should have to itself: half of its missing rate, divided by its additional
// rate on SMs that the other kernel has left; 1 if that is not measured yet; 0 if it is not faster there.
std::uint32_t sms_to_win(const Machine& gpu, const Kernel& k, const Kernel& other, Cycles epoch) {
  double done[2] = {0, 0};
  double sms[2] = {0, 0};
  for (const Sm& sm : gpu.sms()) {
    const auto residents = gpu.residents(sm.id);
    const std::size_t isolated = residents[other.id.index].resident == 0 ? 1 : 0;
    done[isolated] += static_cast<double>(residents[k.id.index].counters.thread_instructions);
    ++sms[isolated];
  }
  if (sms[1] == 0 || sms[0] == 0) return 1;
  const double gain = done[1] / sms[1] - done[0] / sms[0];
  if (gain <= 0) return 0;
  const double lacks = epoch_quota(1, k.goal, epoch) - done[0] - done[1];
  return static_cast<std::uint32_t>(std::clamp(lacks / gain / 2, 1.0, sms[0]));
}

// The three victim rules. A kernel without a goal never gets its blocks back, so it loses its last block on an SM only
// while it has others elsewhere, and on no more SMs than the other kernel needs.
bool may_lose(const Machine& gpu, const Kernel& victim, const ResidentKernel& on_sm, std::uint32_t n, const Kernel& to,
              Cycles epoch, std::uint32_t gone) {
  if (!victim.has_goal()) {
    return on_sm.resident > n || (victim.resident > gone + n && gone / n < sms_to_win(gpu, to, victim, epoch));
  }
  if (idle_blocks(on_sm.counters.idle_warps, victim.warps_per_block) >= n + 1) return true;
  const double left = 1 - static_cast<double>(n) / std::max(victim.resident, 1U);
  return victim.history(gpu.now()) * left > victim.goal;
}

// The numbers of blocks on one SM whose threads are nearest to these and that fit together.
std::vector<std::uint32_t> blocks_for(std::span<const Claim> claims, std::span<const std::uint32_t> threads,
                                      const gpu::Resources& sm) {
  std::vector<std::uint32_t> counts;
  for (std::size_t i = 0; i < claims.size(); ++i)
    counts.push_back(std::max(threads[i] / std::max(claims[i].footprint.threads, 1U), 1U));
  while (!fits_together(claims, counts, sm)) {
    const auto largest = std::max_element(counts.begin(), counts.end());
    if (*largest == 1) return equal_threads(claims, sm);
    --*largest;
  }
  return counts;
}

}  // namespace

void QosBlocks::set(Machine& gpu, SmId sm, const Kernel& k, std::uint32_t blocks) {
  gpu.cap(sm, k.id, blocks);
  threads_[sm.index][k.id.index] = blocks * k.footprint.threads;
}

void QosBlocks::allocate(Machine& gpu) {
  std::vector<Kernel> qos;
  std::vector<Kernel> others;
  for (const Kernel& k : gpu.kernels()) (k.has_goal() ? qos : others).push_back(k);
  for (auto* list : {&qos, &others}) {
    std::sort(list->begin(), list->end(), [](const Kernel& a, const Kernel& b) { return a.id < b.id; });
  }
  const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
  threads_.resize(sms);
  for (std::uint32_t sm = 0; sm < sms; ++sm) threads_[sm].assign(gpu.residents({sm}).size(), 0);
  for (std::uint32_t first = 0, last = 0; first < sms; first = last) {
    const std::size_t parts = std::max<std::size_t>(others.size(), 1);
    while (last < sms && part_of(last, sms, parts) == part_of(first, sms, parts)) ++last;
    std::vector<Kernel> here = qos;
    if (!others.empty()) here.push_back(others[part_of(first, sms, parts)]);
    std::vector<Claim> claims;
    for (const Kernel& k : here) claims.push_back({k.footprint});
    const auto blocks = here.empty() ? std::vector<std::uint32_t>{} : equal_threads(claims, gpu.limits().total);
    for (std::size_t i = 0; i < here.size(); ++i)
      for (std::uint32_t sm = first; sm < last; ++sm) set(gpu, {sm}, here[i], blocks[i]);
    for (const Kernel& k : others)
      for (std::uint32_t sm = first; sm < last && k.id != here.back().id; ++sm) set(gpu, {sm}, k, 0);
  }
}

void QosBlocks::keep(Machine& gpu) const {
  for (const Sm& sm : gpu.sms()) {
    std::vector<KernelId> here;
    std::vector<Claim> claims;
    std::vector<std::uint32_t> threads;
    for (const Kernel& k : gpu.kernels()) {
      if (threads_[sm.index][k.id.index] == 0) continue;
      here.push_back(k.id);
      claims.push_back({k.footprint});
      threads.push_back(threads_[sm.index][k.id.index]);
    }
    if (here.empty()) continue;
    const auto blocks = blocks_for(claims, threads, gpu.limits().total);
    for (std::size_t i = 0; i < here.size(); ++i) gpu.cap(sm.id, here[i], blocks[i]);
  }
}

void QosBlocks::adjust(Machine& gpu, Cycles epoch) {
  for (const Sm& sm : gpu.sms()) {
    if (sm.leaving > 0) return;
  }
  std::vector<std::uint32_t> lost(gpu.residents({0}).size(), 0);  // last blocks on an SM, by kernel that lost them
  for (const Sm& sm : gpu.sms()) {
    for (const Kernel& k : gpu.kernels()) {
      const ResidentKernel& on_sm = gpu.residents(sm.id)[k.id.index];
      const bool behind = k.has_goal() && k.history(gpu.now()) < k.goal;
      const bool held_back = on_sm.resident > 0 && on_sm.quota <= 0;
      if (!behind || k.waiting == 0 || held_back) continue;
      const bool has_a_right = on_sm.resident < on_sm.cap;  // its cap allows another block, which does not fit
      if (has_a_right && (gpu::fit(k.footprint, sm.free) > 0 || take_what_is_above(gpu, sm, k))) continue;
      const bool idles = idle_blocks(on_sm.counters.idle_warps, k.warps_per_block) > 1;
      if ((!has_a_right && on_sm.cap >= k.max_blocks_per_sm) || idles || !make_room(gpu, sm, k, epoch, lost)) continue;
      if (!has_a_right) set(gpu, sm.id, k, on_sm.cap + 1);
      break;  // one change per SM and epoch
    }
  }
}

// Blocks of others above their caps are switched out, if there are any. Without a quota they would never end.
bool QosBlocks::take_what_is_above(Machine& gpu, const Sm& sm, const Kernel& k) {
  bool taken = false;
  if (!gpu.can(Can::switch_some)) return false;
  for (const Kernel& other : gpu.kernels()) {
    const ResidentKernel& on_sm = gpu.residents(sm.id)[other.id.index];
    if (other.id == k.id || on_sm.resident <= on_sm.cap) continue;
    gpu.preempt(sm.id, other.id, on_sm.resident - on_sm.cap);
    taken = true;
  }
  return taken;
}

bool QosBlocks::make_room(Machine& gpu, const Sm& sm, const Kernel& k, Cycles epoch, std::vector<std::uint32_t>& lost) {
  if (gpu::fit(k.footprint, sm.free) > 0) return true;
  for (const Kernel& victim : gpu.kernels()) {
    if (victim.id == k.id) continue;
    const ResidentKernel& on_sm = gpu.residents(sm.id)[victim.id.index];
    for (std::uint32_t n = 1; n <= on_sm.resident; ++n) {
      const gpu::Resources freed = {sm.free.threads + victim.footprint.threads * n,
                                    sm.free.registers + victim.footprint.registers * n,
                                    sm.free.shared_bytes + victim.footprint.shared_bytes * n, sm.free.blocks + n};
      if (gpu::fit(k.footprint, freed) == 0) continue;
      std::uint32_t& gone = lost[victim.id.index];
      if (!may_lose(gpu, victim, on_sm, n, k, epoch, gone)) break;
      gone += on_sm.resident == n ? n : 0;
      set(gpu, sm.id, victim, on_sm.resident - n);
      if (gpu.can(Can::switch_some)) gpu.preempt(sm.id, victim.id, n);
      return true;
    }
  }
  return false;
}

}  // namespace wm::policy
