#include "runtime/schedule/device_machine.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace wm::runtime {

using policy::KernelId;
using policy::kNoCap;

DeviceMachine::DeviceMachine(const gpu::SmLimits& device, std::uint64_t seed, bool queues)
    : limits_(device), queues_(queues), random_(seed) {
  sm_.free = device.total;
}

void DeviceMachine::refused(const char* what) {
  throw std::logic_error(std::string("a policy asks the device to ") + what + ", which it never offered");
}

policy::Kernel* DeviceMachine::view(KernelId id) {
  const auto it = std::find_if(kernels_.begin(), kernels_.end(), [id](const auto& k) { return k.id == id; });
  return it == kernels_.end() ? nullptr : &*it;
}

double DeviceMachine::isolated_part(const policy::Kernel& kernel) {
  const std::uint32_t places = std::max(kernel.max_blocks_per_sm, 1U);
  return static_cast<double>(std::min(kernel.blocks, places)) / places;
}

double DeviceMachine::occupied_part(const policy::Kernel& kernel) const {
  const Extra& extra = extras_[kernel.id.index];
  if (extra.state == Extra::State::waiting) return 0;
  if (extra.state == Extra::State::started) return isolated_part(kernel);
  return std::min(1.0, static_cast<double>(kernel.resident) / std::max(kernel.max_blocks_per_sm, 1U));
}

void DeviceMachine::set_now(Cycles now) {
  const auto elapsed = static_cast<double>((now - now_).count);
  now_ = now;
  double sum = 0;
  for (const policy::Kernel& k : kernels_) sum += occupied_part(k);
  for (const policy::Kernel& k : kernels_) {
    extras_[k.id.index].used += elapsed * occupied_part(k) / std::max(sum, 1.0);
  }
}

double DeviceMachine::isolated_estimate(KernelId kernel) const {
  const policy::Kernel* k = find(kernel);
  return k == nullptr ? 0 : used(kernel) / isolated_part(*k);
}

KernelId DeviceMachine::id_for(std::uint64_t stream) {
  constexpr std::size_t kKept = 64;  // ids that wait for their stream's next launch
  const auto same = std::find_if(free_ids_.begin(), free_ids_.end(),
                                 [&](KernelId id) { return stream != 0 && extras_[id.index].stream == stream; });
  if (same != free_ids_.end() || free_ids_.size() > kKept) {
    const auto taken = same != free_ids_.end() ? same : free_ids_.begin();
    const KernelId id = *taken;
    free_ids_.erase(taken);
    Extra& extra = extras_[id.index];
    extra = extra.stream == stream && stream != 0
                ? Extra{Extra::State::waiting, extra.launches + 1, extra.first_arrived, stream, 0, 0, extra.groups}
                : Extra{Extra::State::waiting, 0, now_, stream, 0, 0, 0};
    residents_[id.index] = {};
    return id;
  }
  residents_.emplace_back();
  extras_.push_back({Extra::State::waiting, 0, now_, stream, 0, 0, 0});
  return {static_cast<std::uint32_t>(residents_.size() - 1)};
}

KernelId DeviceMachine::arrive(const KernelArrival& launch) {
  const KernelId id = id_for(launch.stream);
  Extra& extra = extras_[id.index];
  extra.state = launch.divisible ? Extra::State::divisible : Extra::State::waiting;
  policy::Kernel k;
  k.id = id;
  k.process = id.index;
  k.function = launch.function;
  k.priority = launch.priority;
  k.share = launch.share;
  k.launch = extra.launches;
  k.first_arrived = extra.first_arrived;
  k.arrived = now_;
  k.footprint = launch.footprint;
  k.warps_per_block = (launch.footprint.threads + limits_.warp_threads - 1) / std::max(limits_.warp_threads, 1U);
  k.max_blocks_per_sm = gpu::fit(launch.footprint, limits_.total);
  k.blocks = k.waiting = std::max(launch.groups, 1U);
  if (launch.goal_nanoseconds > 0) k.goal = k.blocks / launch.goal_nanoseconds;
  if (launch.isolated_nanoseconds > 0) k.isolated_ipc = k.blocks / launch.isolated_nanoseconds;
  k.instructions = extra.groups;
  kernels_.push_back(k);
  return id;
}

KernelId DeviceMachine::arrive_started(const KernelArrival& launch) {
  const KernelId id = arrive(launch);
  policy::Kernel& k = kernels_.back();
  extras_[id.index].state = Extra::State::started;
  const std::uint32_t room = gpu::fit(k.footprint, sm_.free);
  occupy(k, std::min(k.waiting, room), room);
  return id;
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

void DeviceMachine::set_weights(KernelId kernel, int priority, double share) {
  if (policy::Kernel* k = view(kernel)) {
    k->priority = priority;
    k->share = share;
  }
}

void DeviceMachine::forget_decisions() {
  for (policy::ResidentKernel& r : residents_) r.cap = kNoCap;
  first_.clear();
  alarms_.clear();
  epoch_length_ = Cycles{0};
}

void DeviceMachine::left(KernelId id, std::uint32_t workers, std::uint32_t done) {
  policy::Kernel* k = view(id);
  if (k == nullptr) return;
  vacate(*k, std::min(workers, k->resident));
  k->done = std::min(done, k->blocks - k->resident);
  k->waiting = k->blocks - k->done - k->resident;
}

void DeviceMachine::finish(KernelId id) {
  policy::Kernel* k = view(id);
  if (k == nullptr) return;
  vacate(*k, k->resident);
  extras_[id.index].groups += k->blocks;
  forget(*k);
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

void DeviceMachine::forget(policy::Kernel& kernel) {
  const KernelId id = kernel.id;
  kernels_.erase(kernels_.begin() + (&kernel - kernels_.data()));
  std::erase(first_, id);
  free_ids_.push_back(id);
}

void DeviceMachine::cap(policy::SmId, KernelId kernel, std::uint32_t blocks) {
  if (kernel.index < residents_.size()) residents_[kernel.index].cap = blocks;
}

std::uint32_t DeviceMachine::allowed(KernelId kernel) const { return residents_[kernel.index].cap; }

std::vector<KernelId> DeviceMachine::in_order() const {
  std::vector<KernelId> order;
  for (const KernelId id : first_) {
    if (find(id) != nullptr) order.push_back(id);
  }
  for (const policy::Kernel& k : kernels_) {
    if (std::find(order.begin(), order.end(), k.id) == order.end()) order.push_back(k.id);
  }
  return order;
}

void DeviceMachine::dispatch(const std::function<void(KernelId, std::uint32_t)>& start, std::uint32_t spare) {
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

void DeviceMachine::set_epoch(Cycles length) {
  epoch_began_ = now_;
  epoch_length_ = length;
  for (policy::ResidentKernel& s : residents_) s.counters = {};
}

std::optional<Cycles> DeviceMachine::next_alarm() const {
  std::optional<Cycles> next;
  for (const Alarm& a : alarms_) next = next ? std::min(*next, a.when) : a.when;
  if (epoch_length_.count != 0) {
    const Cycles end = epoch_began_ + epoch_length_;
    next = next ? std::min(*next, end) : end;
  }
  return next;
}

void DeviceMachine::fire_due_alarms(policy::Policy& policy) {
  if (epoch_length_.count != 0 && now_ >= epoch_began_ + epoch_length_) {
    policy.on(policy::Epoch{now_ - epoch_began_}, *this);
    epoch_began_ = now_;
    for (policy::ResidentKernel& s : residents_) s.counters = {};
  }
  std::vector<Alarm> due;
  for (const Alarm& a : alarms_) {
    if (a.when <= now_) due.push_back(a);
  }
  std::erase_if(alarms_, [this](const Alarm& a) { return a.when <= now_; });
  for (const Alarm& a : due) policy.on(policy::Wake{a.tag}, *this);
}

}  // namespace wm::runtime
