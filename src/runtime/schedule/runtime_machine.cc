#include "runtime/schedule/runtime_machine.h"

#include <algorithm>

namespace wm::runtime {

using policy::KernelId;

void RuntimeMachine::refused(const char* what) {
  throw std::logic_error(std::string("a policy asks the device to ") + what + ", which it never offered");
}

policy::Kernel* RuntimeMachine::view(KernelId id) {
  const auto it = std::find_if(kernels_.begin(), kernels_.end(), [id](const auto& k) { return k.id == id; });
  return it == kernels_.end() ? nullptr : &*it;
}

double RuntimeMachine::isolated_part(const policy::Kernel& kernel) const {
  const std::uint32_t all = std::max(places(kernel), 1U);
  return static_cast<double>(std::min(kernel.blocks, all)) / all;
}

double RuntimeMachine::occupied_part(const policy::Kernel& kernel) const {
  const Extra& extra = extras_[kernel.id.index];
  if (extra.state == Extra::State::waiting) return 0;
  if (extra.state == Extra::State::started) return isolated_part(kernel);
  return std::min(1.0, static_cast<double>(kernel.resident) / std::max(places(kernel), 1U));
}

void RuntimeMachine::set_now(Cycles now) {
  const auto elapsed = static_cast<double>((now - now_).count);
  now_ = now;
  double sum = 0;
  for (const policy::Kernel& k : kernels_) sum += occupied_part(k);
  for (const policy::Kernel& k : kernels_) {
    extras_[k.id.index].used += elapsed * occupied_part(k) / std::max(sum, 1.0);
  }
}

double RuntimeMachine::isolated_estimate(KernelId kernel) const {
  const policy::Kernel* k = find(kernel);
  return k == nullptr ? 0 : used(kernel) / isolated_part(*k);
}

KernelId RuntimeMachine::id_for(std::uint64_t stream) {
  constexpr std::size_t kKept = 64;  // ids that wait for their stream's next launch
  const auto same = std::find_if(free_ids_.begin(), free_ids_.end(),
                                 [&](KernelId id) { return stream != 0 && extras_[id.index].stream == stream; });
  if (same != free_ids_.end() || free_ids_.size() > kKept) {
    const auto taken = same != free_ids_.end() ? same : free_ids_.begin();
    const KernelId id = *taken;
    free_ids_.erase(taken);
    Extra& extra = extras_[id.index];
    if (extra.stream == stream && stream != 0) {
      // A client that paused is not behind its goal.
      const Cycles since = extra.first_arrived + (now_ - extra.ended);
      extra = {
          Extra::State::waiting, extra.launches + 1, since, stream, 0, 0, extra.instructions, 1, extra.ended, 1, {}};
    } else {
      extra = {Extra::State::waiting, 0, now_, stream, 0, 0, 0, 1, now_, 1, {}};
    }
    return id;
  }
  extras_.push_back({Extra::State::waiting, 0, now_, stream, 0, 0, 0, 1, now_, 1, {}});
  return KernelId{static_cast<std::uint32_t>(extras_.size() - 1)};
}

KernelId RuntimeMachine::arrive(const KernelArrival& launch) {
  const KernelId id = id_for(launch.stream);
  Extra& extra = extras_[id.index];
  extra.state = launch.divisible ? Extra::State::divisible : Extra::State::waiting;
  extra.group_instructions = launch.group_instructions;
  extra.chunk = launch.chunk;
  extra.undivided = launch.undivided;
  reset(id);
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
  const double instructions = static_cast<double>(k.blocks) * static_cast<double>(launch.group_instructions);
  if (launch.goal_nanoseconds > 0) k.goal = instructions / launch.goal_nanoseconds;
  if (launch.isolated_nanoseconds > 0) k.isolated_ipc = instructions / launch.isolated_nanoseconds;
  k.instructions = extra.instructions;
  kernels_.push_back(k);
  return id;
}

KernelId RuntimeMachine::arrive_started(const KernelArrival& launch) {
  const KernelId id = arrive(launch);
  policy::Kernel& k = kernels_.back();
  extras_[id.index].state = Extra::State::started;
  occupy_undivided(k);
  return id;
}

void RuntimeMachine::set_weights(KernelId kernel, int priority, double share) {
  if (policy::Kernel* k = view(kernel)) {
    k->priority = priority;
    k->share = share;
  }
}

void RuntimeMachine::forget_decisions() {
  first_.clear();
  alarms_.clear();
  epoch_length_ = Cycles{0};
}

void RuntimeMachine::finish(KernelId id) {
  policy::Kernel* k = view(id);
  if (k == nullptr) return;
  vacate_all(*k);
  Extra& extra = extras_[id.index];
  extra.instructions += k->blocks * extra.group_instructions;
  extra.ended = now_;
  forget(*k);
}

void RuntimeMachine::forget(policy::Kernel& kernel) {
  const KernelId id = kernel.id;
  kernels_.erase(kernels_.begin() + (&kernel - kernels_.data()));
  std::erase(first_, id);
  free_ids_.push_back(id);
}

std::vector<KernelId> RuntimeMachine::in_order() const {
  std::vector<KernelId> order;
  for (const KernelId id : first_) {
    if (find(id) != nullptr) order.push_back(id);
  }
  for (const policy::Kernel& k : kernels_) {
    if (std::find(order.begin(), order.end(), k.id) == order.end()) order.push_back(k.id);
  }
  return order;
}

std::optional<int> RuntimeMachine::kernels_after(KernelId kernel) const {
  const auto it = std::find(first_.begin(), first_.end(), kernel);
  return it == first_.end() ? std::nullopt : std::optional(static_cast<int>(first_.end() - it) - 1);
}

void RuntimeMachine::set_epoch(Cycles length) {
  epoch_began_ = now_;
  epoch_length_ = length;
  clear_counters();
}

std::optional<Cycles> RuntimeMachine::next_alarm() const {
  std::optional<Cycles> next;
  for (const Alarm& a : alarms_) next = next ? std::min(*next, a.when) : a.when;
  if (epoch_length_.count != 0) {
    const Cycles end = epoch_began_ + epoch_length_;
    next = next ? std::min(*next, end) : end;
  }
  return next;
}

void RuntimeMachine::fire_due_alarms(policy::Policy& policy) {
  if (epoch_length_.count != 0 && now_ >= epoch_began_ + epoch_length_) {
    policy.on(policy::Epoch{now_ - epoch_began_}, *this);
    epoch_began_ = now_;
    clear_counters();
  }
  std::vector<Alarm> due;
  for (const Alarm& a : alarms_) {
    if (a.when <= now_) due.push_back(a);
  }
  std::erase_if(alarms_, [this](const Alarm& a) { return a.when <= now_; });
  for (const Alarm& a : due) policy.on(policy::Wake{a.tag}, *this);
}

}  // namespace wm::runtime
