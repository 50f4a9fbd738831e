#include "policy/algorithm/qos_blocks.h"

#include <algorithm>
#include <cmath>

#include "policy/algorithm/members.h"
#include "policy/algorithm/quotas.h"
#include "policy/algorithm/shares.h"

namespace wm::policy {
namespace {

// Part of an epoch in which memory may hold up the load/store unit of an SM on which a kernel grows. Kernels that are
// bound by bandwidth are near 1; where many warps wait for one line, as in mri-q, which gains from more, it is 0.3.
constexpr double kMaxBlocked = 0.5;

// Blocks are returned on this part of the SMs in an epoch. Contexts that all SMs move at once fill the memory system:
// the loads of mri-q beside lbm waited for 3,000 cycles of an epoch of 10,000.
constexpr std::uint32_t kPart = 4;

// The rate that the kernel's quota asks for: its goal, and what it fell short of it so far.
double needed_rate(const Machine& gpu, const Kernel& k) {
  return k.goal * history_factor(k.goal, k.history(gpu.now()));
}

// Section 3.6: what is left of a rate with `n` of the kernel's N blocks less is still above this one.
bool has_margin(const Kernel& k, double rate, std::uint32_t n, double needed) {
  return rate * (1 - static_cast<double>(n) / std::max(k.resident, 1U)) > needed;
}

// The three victim rules. `lost`: blocks that the victim loses in this epoch on other SMs. A kernel without a goal
// keeps one block somewhere, or it could not show that it deserves more.
bool may_lose(const Machine& gpu, const Kernel& victim, const ResidentKernel& on_sm, std::uint32_t n,
              std::uint32_t lost) {
  if (!victim.has_goal()) return victim.resident > lost + n;
  if (idle_blocks(on_sm.counters.idle_warps, victim.warps_per_block) >= n + 1) return true;
  return has_margin(victim, victim.history(gpu.now()), lost + n, victim.goal);
}

// Blocks of `from` that must leave the SM so that a block of `to` fits; 0: none has to. More than there are: none
// helps.
std::uint32_t blocks_in_the_way(const Sm& sm, const Kernel& from, std::uint32_t resident, const Kernel& to) {
  for (std::uint32_t n = 0; n <= resident; ++n) {
    const gpu::Resources freed = {sm.free.threads + from.footprint.threads * n,
                                  sm.free.registers + from.footprint.registers * n,
                                  sm.free.shared_bytes + from.footprint.shared_bytes * n, sm.free.blocks + n};
    if (gpu::fit(to.footprint, freed) != 0) return n;
  }
  return resident + 1;
}

// Equal numbers of threads, and what these leave of the SM goes to kernels without a goal (section 4.3: "all the
// remaining resources"): small blocks reach the limit of blocks, large ones the registers, with threads left.
std::vector<std::uint32_t> divide(std::span<const Kernel> kernels, const gpu::Resources& sm) {
  std::vector<Claim> claims;
  for (const Kernel& k : kernels) claims.push_back({k.footprint});
  auto blocks = equal_threads(claims, sm);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].has_goal() || !fits_together(claims, blocks, sm)) continue;
    while (fits_together(claims, blocks, sm)) ++blocks[i];
    --blocks[i];
  }
  return blocks;
}

// Whether the kernel may have another block on the SM, which does not fit beside blocks that others took while it had
// none to start.
bool kept_out(const Sm& sm, const Kernel& k, const ResidentKernel& on_sm) {
  return on_sm.resident < on_sm.cap && gpu::fit(k.footprint, sm.free) == 0;
}

// Whether a kernel whose cap is reached on the SM uses all its warps there, so that another block would help.
bool wants_more(const Machine& gpu, const Kernel& k, const ResidentKernel& on_sm) {
  if (on_sm.cap == 0 || on_sm.resident < on_sm.cap || on_sm.cap >= k.max_blocks_per_sm) return false;
  const double blocked = kMaxBlocked * static_cast<double>(gpu.epoch_length().count);
  return idle_blocks(on_sm.counters.idle_warps, k.warps_per_block) <= 1 &&
         static_cast<double>(on_sm.counters.lsu_blocked_cycles) <= blocked;
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
    const auto blocks = here.empty() ? std::vector<std::uint32_t>{} : divide(here, gpu.limits().total);
    for (std::size_t i = 0; i < here.size(); ++i)
      for (std::uint32_t sm = first; sm < last; ++sm) set(gpu, {sm}, here[i], blocks[i]);
    for (const Kernel& k : others)
      for (std::uint32_t sm = first; sm < last && k.id != here.back().id; ++sm) set(gpu, {sm}, k, 0);
  }
  first_ = threads_;
  growth_.assign(sms == 0 ? 0 : threads_[0].size(), {});
  enforce(gpu);
}

// "performed with partial context switching": blocks above their caps leave where they keep another kernel out. Those
// of a kernel without a quota would never end.
void QosBlocks::enforce(Machine& gpu) {
  for (const Sm& sm : gpu.sms()) {
    for (const Kernel& k : gpu.kernels()) {
      const ResidentKernel& on_sm = gpu.residents(sm.id)[k.id.index];
      if (on_sm.resident >= on_sm.cap) continue;
      const std::uint32_t wanted = std::min(k.waiting, on_sm.cap - on_sm.resident);
      if (gpu::fit(k.footprint, sm.free) >= wanted) continue;
      if (take_what_is_above(gpu, sm, k)) break;
    }
  }
}

void QosBlocks::divide_again(Machine& gpu) {
  for (const Sm& sm : gpu.sms()) {
    std::vector<Kernel> here;
    std::vector<Claim> claims;
    for (const Kernel& k : gpu.kernels()) {
      if (threads_[sm.index][k.id.index] == 0) continue;
      here.push_back(k);
      claims.push_back({k.footprint});
    }
    if (here.empty()) continue;
    const auto equal = divide(here, gpu.limits().total);
    std::vector<std::uint32_t> threads;
    for (std::size_t i = 0; i < here.size(); ++i) {
      std::uint32_t& first = first_[sm.index][here[i].id.index];
      const std::uint32_t now = equal[i] * here[i].footprint.threads;
      threads.push_back(now + std::max(threads_[sm.index][here[i].id.index], first) - first);
      first = now;
    }
    const auto blocks = blocks_for(claims, threads, gpu.limits().total);
    for (std::size_t i = 0; i < here.size(); ++i) set(gpu, sm.id, here[i], blocks[i]);
  }
  enforce(gpu);
}

void QosBlocks::adjust(Machine& gpu, std::span<const Pace> paces) {
  for (const Sm& sm : gpu.sms()) {
    if (sm.leaving > 0) return;
  }
  for (std::size_t i = 0; i < growth_.size(); ++i) growth_[i].end_epoch(paces[i].rate);
  const auto sms = static_cast<std::uint32_t>(gpu.sms().size());
  const std::uint32_t few = std::max(sms / kPart, 1U);
  // "One more TB will be allocated"; a kernel that lacks more blocks than one takes them on as many SMs.
  Counts may_take(growth_.size(), 0);
  for (const Kernel& k : gpu.kernels()) {
    const double rate = std::max(paces[k.id.index].rate, 1e-9);
    const double lacks = k.has_goal() ? k.resident * (needed_rate(gpu, k) / rate - 1) : 0;
    may_take[k.id.index] = static_cast<std::uint32_t>(std::clamp<double>(std::ceil(lacks), 1, sms));
    if (k.has_goal()) growth_[k.id.index].had_margin(has_margin(k, rate, 1, paces[k.id.index].needed));
  }
  Counts lost(growth_.size(), 0);  // in this epoch, by kernel
  std::uint32_t returned = 0;
  for (std::uint32_t i = 0; i < sms; ++i) {  // one change per SM and epoch
    const Sm& sm = gpu.sms()[(start_ + i) % sms];
    const bool grown = std::any_of(gpu.kernels().begin(), gpu.kernels().end(), [&](const Kernel& k) {
      if (may_take[k.id.index] == 0 || !grow(gpu, sm, k, lost)) return false;
      --may_take[k.id.index];
      return true;
    });
    if (!grown && returned < few && give_up(gpu, sm, paces, lost)) ++returned;
  }
  start_ = (start_ + few) % sms;
  for (BlockGrowth& g : growth_) g.finish();
}

bool QosBlocks::grow(Machine& gpu, const Sm& sm, const Kernel& k, Counts& lost) {
  const ResidentKernel& on_sm = gpu.residents(sm.id)[k.id.index];
  if (!growth_[k.id.index].may_grow()) return false;
  const bool behind = k.has_goal() && k.history(gpu.now()) < k.goal;
  const bool held_back = on_sm.resident > 0 && on_sm.quota <= 0;
  if (!behind || k.waiting == 0 || held_back) return false;
  const bool has_a_right = on_sm.resident < on_sm.cap;  // its cap allows another block, which does not fit
  if (has_a_right && (gpu::fit(k.footprint, sm.free) > 0 || take_what_is_above(gpu, sm, k))) return false;
  if (!has_a_right && on_sm.cap >= k.max_blocks_per_sm) return false;
  const bool idles = idle_blocks(on_sm.counters.idle_warps, k.warps_per_block) > 1;
  const double blocked = kMaxBlocked * static_cast<double>(gpu.epoch_length().count);
  if (idles || static_cast<double>(on_sm.counters.lsu_blocked_cycles) > blocked) return false;
  if (!make_room(gpu, sm, k, lost)) return false;
  if (!has_a_right) set(gpu, sm.id, k, on_sm.cap + 1);
  growth_[k.id.index].grow();
  return true;
}

bool QosBlocks::give_up(Machine& gpu, const Sm& sm, std::span<const Pace> paces, Counts& lost) {
  for (const Kernel& to : gpu.kernels()) {
    const ResidentKernel& of_to = gpu.residents(sm.id)[to.id.index];
    const bool lost_blocks = threads_[sm.index][to.id.index] < first_[sm.index][to.id.index];
    const bool is_kept_out = kept_out(sm, to, of_to);
    if (to.has_goal() || to.waiting == 0) continue;
    if (!lost_blocks && !is_kept_out && !wants_more(gpu, to, of_to)) continue;
    const bool held_back = of_to.resident > 0 && of_to.quota <= 0;
    for (const Kernel& from : gpu.kernels()) {
      const ResidentKernel& on_sm = gpu.residents(sm.id)[from.id.index];
      BlockGrowth& growth = growth_[from.id.index];
      const Pace& pace = paces[from.id.index];
      const bool took = threads_[sm.index][from.id.index] > first_[sm.index][from.id.index];
      // Blocks that it had from the first leave only when it has met its goal so far.
      if (!took && from.history(gpu.now()) < from.goal) continue;
      // A launch whose last blocks run has few of them for that reason, not because it needs no more.
      if (!from.has_goal() || from.waiting == 0 || !growth.may_return()) continue;
      const std::uint32_t n = blocks_in_the_way(sm, from, on_sm.resident, to);
      std::uint32_t& gone = lost[from.id.index];
      const bool idles = idle_blocks(on_sm.counters.idle_warps, from.warps_per_block) >= n + 1;
      const bool ahead = growth.has_steady_margin() && has_margin(from, pace.rate, gone + n, pace.needed);
      const bool spare = (growth.must_return() && took) || (!held_back && (ahead || (idles && took)));
      if (n >= on_sm.resident || !spare) continue;
      gone += n;
      growth.give_back();
      set(gpu, sm.id, from, on_sm.resident - n);
      if (n > 0 && gpu.can(Can::switch_some)) gpu.preempt(sm.id, from.id, n);
      if (lost_blocks || !is_kept_out) set(gpu, sm.id, to, of_to.cap + 1);
      return true;
    }
  }
  return false;
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

bool QosBlocks::make_room(Machine& gpu, const Sm& sm, const Kernel& k, Counts& lost) {
  if (gpu::fit(k.footprint, sm.free) > 0) return true;
  for (const Kernel& victim : gpu.kernels()) {
    if (victim.id == k.id) continue;
    const ResidentKernel& on_sm = gpu.residents(sm.id)[victim.id.index];
    const std::uint32_t n = blocks_in_the_way(sm, victim, on_sm.resident, k);
    if (n > on_sm.resident || !may_lose(gpu, victim, on_sm, n, lost[victim.id.index])) continue;
    lost[victim.id.index] += n;
    set(gpu, sm.id, victim, on_sm.resident - n);
    if (gpu.can(Can::switch_some)) gpu.preempt(sm.id, victim.id, n);
    return true;
  }
  return false;
}

}  // namespace wm::policy
