#include "runtime/schedule/device_machine.h"

#include <algorithm>

namespace wm::runtime {

using policy::KernelId;
using policy::kNoCap;

DeviceMachine::DeviceMachine(const gpu::SmLimits& device, std::uint64_t seed, bool queues)
    : RuntimeMachine(device, seed), queues_(queues) {
  sm_.free = device.total;
}

std::uint32_t DeviceMachine::places(const policy::Kernel& kernel) const { return kernel.max_blocks_per_sm; }

void DeviceMachine::reset(KernelId id) {
  if (id.index >= residents_.size()) residents_.resize(id.index + 1);
  const bool goes_on = id.index < extras_.size() && extras_[id.index].launches != 0;
  const std::uint32_t cap = residents_[id.index].cap;
  residents_[id.index] = {};
  if (goes_on) residents_[id.index].cap = cap;  // decisions hold for all launches of a client
}

void DeviceMachine::occupy_undivided(policy::Kernel& kernel) {
  const std::uint32_t room = gpu::fit(kernel.footprint, sm_.free);
  occupy(kernel, std::min(kernel.waiting, room), room);
}

void DeviceMachine::clear_counters() {
  for (policy::ResidentKernel& s : residents_) s.counters = {};
}

void DeviceMachine::forget_decisions() {
  for (policy::ResidentKernel& r : residents_) r.cap = kNoCap;
  RuntimeMachine::forget_decisions();
}

std::uint32_t DeviceMachine::allowed_per_unit(KernelId kernel, std::uint32_t units) const {
  const std::uint32_t cap = allowed(kernel);
  return cap == kNoCap ? 0 : std::max(cap / units, 1U);
}

void DeviceMachine::occupy(policy::Kernel& kernel, std::uint32_t groups, std::uint32_t room) {
  kernel.resident += groups;
  kernel.waiting -= groups;
  residents_[kernel.id.index].resident += groups;
  sm_.resident += groups;
  const std::uint32_t counted = std::min(groups, room);
  sm_.free = gpu::less(sm_.free, kernel.footprint, counted);
  extras_[kernel.id.index].roomless += groups - counted;
}

void DeviceMachine::vacate(policy::Kernel& kernel, std::uint32_t groups) {
  kernel.resident -= groups;
  residents_[kernel.id.index].resident -= groups;
  sm_.resident -= groups;
  std::uint32_t& roomless = extras_[kernel.id.index].roomless;
  const std::uint32_t without = std::min(roomless, groups);
  roomless -= without;
  give_back(kernel.footprint, groups - without);
}

void DeviceMachine::give_back(const gpu::Resources& footprint, std::uint32_t groups) {
  sm_.free.threads += footprint.threads * groups;
  sm_.free.registers += footprint.registers * groups;
  sm_.free.shared_bytes += footprint.shared_bytes * groups;
  sm_.free.blocks += groups;
}

void DeviceMachine::left(KernelId id, std::uint32_t workers, std::uint32_t done) {
  policy::Kernel* k = view(id);
  if (k == nullptr) return;
  vacate(*k, std::min(workers, k->resident));
  k->done = std::min(done, k->blocks - k->resident);
  k->waiting = k->blocks - k->done - k->resident;
}

void DeviceMachine::abandon(KernelId id) {
  policy::Kernel* k = view(id);
  if (k == nullptr) return;
  residents_[id.index].resident -= k->resident;
  sm_.resident -= k->resident;
  forget(*k);
}

std::uint32_t DeviceMachine::holds(KernelId id) const {
  const policy::Kernel* k = find(id);
  return k == nullptr ? 0 : k->resident - extras_[id.index].roomless;
}

void DeviceMachine::cap(policy::SmId, KernelId kernel, std::uint32_t blocks) {
  if (kernel.index < residents_.size()) residents_[kernel.index].cap = blocks;
}

std::uint32_t DeviceMachine::allowed(KernelId kernel) const { return residents_[kernel.index].cap; }

// A device that queues groups starts those of a launch that it has when others end.
void DeviceMachine::fill_room() {
  for (const KernelId id : in_order()) {
    policy::Kernel& k = *view(id);
    if (extras_[id.index].state != Extra::State::started) continue;
    const std::uint32_t room = gpu::fit(k.footprint, sm_.free);
    const std::uint32_t cap = std::max(residents_[id.index].cap, k.resident);
    const std::uint32_t more = std::min({k.waiting, room, cap - k.resident});
    if (more != 0) occupy(k, more, room);
  }
}

void DeviceMachine::dispatch(const Start& start, std::uint32_t spare) {
  if (queues_) fill_room();
  for (const KernelId id : in_order()) {
    policy::Kernel* still = view(id);
    if (still == nullptr) continue;  // it completed because another was started
    policy::Kernel& k = *still;
    Extra& extra = extras_[id.index];
    const std::uint32_t cap = residents_[id.index].cap;
    const std::uint32_t room = gpu::fit(k.footprint, sm_.free);
    if (extra.state == Extra::State::divisible) {
      const bool limited = !queues_ || cap == kNoCap;
      const std::uint32_t wanted = cap > k.resident ? std::min(cap - k.resident, k.waiting) : 0;
      const std::uint32_t places = sm_.free.blocks - std::min(sm_.free.blocks, spare);
      const std::uint32_t more = limited ? std::min({wanted, room, places}) : wanted;
      if (more == 0) continue;
      occupy(k, more, room);
      start(id, more);
    } else if (extra.state == Extra::State::waiting && cap != 0 && (room != 0 || cap == kNoCap)) {
      // An uncapped launch is submitted at once; the device itself queues its groups.
      extra.state = Extra::State::started;
      occupy(k, std::min({cap, k.waiting, room}), room);
      start(id, k.blocks);
    }
  }
}

}  // namespace wm::runtime
