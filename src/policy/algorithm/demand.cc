#include "policy/algorithm/demand.h"

#include <algorithm>
#include <iterator>

namespace wm::policy {

bool idle(const Machine& gpu, const Sm& sm) {
  if (sm.state != Sm::State::on || sm.resident != 0) return false;
  const Kernel* owner = gpu.find(sm.owner);
  return owner == nullptr || owner->waiting == 0;
}

std::uint32_t unserved(const Machine& gpu, const Kernel& k) {
  std::uint64_t room = 0;
  if (k.waiting == 0) return 0;
  for (const Sm& sm : gpu.sms()) {
    if (!powered(sm) || eventual_owner(sm) != k.id) continue;
    room += sm.state == Sm::State::on ? gpu::fit(k.footprint, sm.free) : k.max_blocks_per_sm;
    if (room >= k.waiting) return 0;
  }
  return static_cast<std::uint32_t>(k.waiting - room);
}

void give_idle(Machine& gpu, const Kernel& k, Preempt how) {
  const auto sms = gpu.sms();
  auto sm = std::find_if(sms.begin(), sms.end(), [&](const Sm& candidate) { return idle(gpu, candidate); });
  if (sm == sms.end()) return;
  std::uint32_t need = unserved(gpu, k);
  for (; sm != sms.end() && need != 0; ++sm) {
    if (!idle(gpu, *sm)) continue;
    gpu.give(sm->id, k.id, how);
    need -= std::min(need, k.max_blocks_per_sm);
  }
}

std::vector<Kernel> by_priority(const Machine& gpu) {
  const auto all = gpu.kernels();
  std::vector<Kernel> sorted;
  sorted.reserve(all.size());
  for (const Kernel& k : all) {  // few kernels, which are in order of arrival already
    auto at = sorted.end();
    while (at != sorted.begin() && std::prev(at)->priority < k.priority) --at;
    sorted.insert(at, k);
  }
  return sorted;
}

const Sm* easiest_to_take(const Machine& gpu, KernelId from) {
  const Sm* best = nullptr;
  const auto easier = [](const Sm& a, const Sm& b) {
    const bool a_reserved = a.state == Sm::State::reserved;
    const bool b_reserved = b.state == Sm::State::reserved;
    return a_reserved != b_reserved ? a_reserved : a.resident < b.resident;
  };
  for (const Sm& sm : gpu.sms()) {
    if (powered(sm) && eventual_owner(sm) == from && (best == nullptr || easier(sm, *best))) best = &sm;
  }
  return best;
}

void claim_rest(Machine& gpu, KernelId kernel, Preempt how) {
  for (const Sm& sm : gpu.sms()) {
    if (eventual_owner(sm) == kNoKernel) gpu.give(sm.id, kernel, how);
  }
}

}  // namespace wm::policy
