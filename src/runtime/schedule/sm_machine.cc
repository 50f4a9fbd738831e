#include "runtime/schedule/sm_machine.h"

#include <algorithm>
#include <numeric>

namespace wm::runtime {

using policy::KernelId;
using policy::kNoCap;
using policy::kNoKernel;
using policy::kNoQuota;
using policy::ResidentKernel;
using policy::Sm;

SmMachine::SmMachine(const gpu::SmLimits& limits, std::uint32_t sms, std::uint64_t seed)
    : RuntimeMachine(limits, seed), sms_(sms), residents_(sms) {
  for (std::uint32_t i = 0; i < sms; ++i) {
    sms_[i].id = {i};
    sms_[i].index = i;
    sms_[i].free = limits.total;
  }
}

void SmMachine::reset(KernelId id) {
  const bool goes_on = id.index < extras_.size() && extras_[id.index].launches != 0;
  for (auto& on : residents_) {
    if (id.index >= on.size()) on.resize(id.index + 1);
    const ResidentKernel before = on[id.index];
    on[id.index] = {};
    if (!goes_on) continue;
    // The next launch of a client has the cap of the last one, and what that left of its quota.
    on[id.index].cap = before.cap;
    on[id.index].quota = before.quota;
    // Counters are those of the epoch, in which a client may have many launches. A kernel with quotas has only those of
    // its latest launch: `quota` was measured so on a device, and would give more to kernels without goals otherwise.
    if (before.quota == kNoQuota) on[id.index].counters = before.counters;
  }
  if (id.index >= places_.size()) places_.resize(id.index + 1);
  places_[id.index].retry = now_;
  places_[id.index].retries = false;
  if (!goes_on) {
    const std::vector<std::uint32_t> none(sms_.size());
    places_[id.index] = {none, none, none, none, 0, now_, false, false, false, false};
    undivided_caps_.erase(id);
  }
  // Groups of another function may count as more or fewer instructions.
  for (const Sm& sm : sms_) renew_quota(sm.id, id);
}

std::uint32_t SmMachine::places(const policy::Kernel& kernel) const {
  return kernel.max_blocks_per_sm * static_cast<std::uint32_t>(sms_.size());
}

void SmMachine::clear_counters() {
  for (auto& on : residents_) {
    for (ResidentKernel& r : on) r.counters = {};
  }
}

bool SmMachine::may_run(const Sm& sm, KernelId kernel) const {
  return sm.state == Sm::State::on && (sm.owner == kNoKernel || sm.owner == kernel);
}

std::uint32_t SmMachine::workers_missing(const Sm& sm, const policy::Kernel& kernel) const {
  const ResidentKernel& on = residents_[sm.index][kernel.id.index];
  if (!may_run(sm, kernel.id) || on.cap <= on.resident || on.quota <= 0) return 0;
  return std::min(on.cap - on.resident, gpu::fit(kernel.footprint, sm.free));
}

void SmMachine::occupy(Sm& sm, policy::Kernel& kernel, std::uint32_t groups) {
  kernel.resident += groups;
  kernel.waiting -= groups;
  residents_[sm.index][kernel.id.index].resident += groups;
  sm.resident += groups;
  sm.free = gpu::less(sm.free, kernel.footprint, groups);
}

void SmMachine::vacate(Sm& sm, policy::Kernel& kernel, std::uint32_t groups) {
  if (groups == 0) return;
  kernel.resident -= groups;
  residents_[sm.index][kernel.id.index].resident -= groups;
  sm.resident -= groups;
  sm.free.threads += kernel.footprint.threads * groups;
  sm.free.registers += kernel.footprint.registers * groups;
  sm.free.shared_bytes += kernel.footprint.shared_bytes * groups;
  sm.free.blocks += groups;
  hand_over(sm);
  if (sm.resident == 0 && sm.state == Sm::State::on) idle_.push_back({sm.id});
}

void SmMachine::hand_over(Sm& sm) {
  if (sm.state != Sm::State::reserved) return;
  const auto& on = residents_[sm.index];
  for (std::uint32_t i = 0; i < on.size(); ++i) {
    if (i != sm.next.index && on[i].resident != 0) return;
  }
  sm.state = Sm::State::on;
  sm.owner = sm.next;
  sm.next = kNoKernel;
  ready_.push_back({sm.id, sm.owner});
}

void SmMachine::all_left(KernelId id) {
  policy::Kernel* k = view(id);
  if (k == nullptr) return;
  for (Sm& sm : sms_) vacate(sm, *k, residents_[sm.index][id.index].resident);
  k->waiting = std::max(k->blocks - k->done, 1U);
}

void SmMachine::vacate_all(policy::Kernel& kernel) {
  const Extra& extra = extras_[kernel.id.index];
  if (extra.state == Extra::State::divisible) places_[kernel.id.index].done_before += kernel.blocks;
  // The groups of an undivided launch are not counted while they run, so they count when it ends, on all SMs alike.
  if (extra.state == Extra::State::started && undivided_caps_.contains(kernel.id)) {
    const std::uint64_t per_sm = kernel.blocks * extra.group_instructions / sms_.size();
    for (const Sm& sm : sms_) residents_[sm.index][kernel.id.index].counters.thread_instructions += per_sm;
  }
  for (Sm& sm : sms_) vacate(sm, kernel, residents_[sm.index][kernel.id.index].resident);
}

// As far as there is room, on all SMs alike: an undivided launch takes no notice of owners.
void SmMachine::occupy_undivided(policy::Kernel& kernel) {
  std::vector<std::uint32_t> room;
  for (const Sm& sm : sms_) {
    const std::uint32_t cap = residents_[sm.index][kernel.id.index].cap;
    const std::uint32_t allowed = undivided_caps_.contains(kernel.id) ? cap : kNoCap;
    room.push_back(std::min(gpu::fit(kernel.footprint, sm.free), allowed));
  }
  while (kernel.waiting != 0) {
    const auto open =
        static_cast<std::uint32_t>(std::count_if(room.begin(), room.end(), [](std::uint32_t n) { return n != 0; }));
    if (open == 0) return;
    const std::uint32_t share = std::max(kernel.waiting / open, 1U);
    for (Sm& sm : sms_) {
      const std::uint32_t more = std::min({room[sm.index], share, kernel.waiting});
      if (more != 0) occupy(sm, kernel, more);
      room[sm.index] -= more;
    }
  }
}

void SmMachine::abandon(KernelId id) {
  policy::Kernel* k = view(id);
  if (k == nullptr) return;
  Abandoned kept{k->footprint, {}};
  for (Sm& sm : sms_) {
    std::uint32_t& resident = residents_[sm.index][id.index].resident;
    kept.groups.push_back(resident);
    sm.resident -= resident;
    resident = 0;
    hand_over(sm);
  }
  abandoned_.push_back(std::move(kept));
  forget(*k);
}

std::uint32_t SmMachine::holds(KernelId id) const {
  const policy::Kernel* k = find(id);
  return k == nullptr ? 0 : k->resident;
}

void SmMachine::give_back(const gpu::Resources& footprint, std::uint32_t groups) {
  const auto it = std::find_if(abandoned_.begin(), abandoned_.end(), [&](const Abandoned& a) {
    return a.footprint == footprint && std::accumulate(a.groups.begin(), a.groups.end(), 0U) == groups;
  });
  if (it == abandoned_.end()) return;
  for (Sm& sm : sms_) {
    const std::uint32_t n = it->groups[sm.index];
    sm.free.threads += footprint.threads * n;
    sm.free.registers += footprint.registers * n;
    sm.free.shared_bytes += footprint.shared_bytes * n;
    sm.free.blocks += n;
  }
  abandoned_.erase(it);
}

void SmMachine::forget_decisions() {
  for (auto& on : residents_) {
    for (ResidentKernel& r : on) r.cap = kNoCap, r.quota = kNoQuota;
  }
  for (Workers& w : places_) std::fill(w.quotas.begin(), w.quotas.end(), 0U), w.changed = true;
  for (Sm& sm : sms_) share(sm.id);
  restrictions_changed_ = true;
  ready_.clear();
  idle_.clear();
  spent_.clear();
  RuntimeMachine::forget_decisions();
}

void SmMachine::give(policy::SmId id, KernelId kernel, policy::Preempt how) {
  if (how != policy::Preempt::drain) refused("switch contexts");
  restrictions_changed_ = true;
  Sm& sm = sms_[id.index];
  if (sm.state == Sm::State::reserved) {
    sm.next = kernel;
    // Its owner keeps it: workers that were told to leave and have not done so stay.
    if (kernel == sm.owner) sm.state = Sm::State::on, sm.next = kNoKernel;
    return;
  }
  const auto& on = residents_[id.index];
  bool others = false;
  for (std::uint32_t i = 0; i < on.size(); ++i) others |= i != kernel.index && on[i].resident != 0;
  if (others) {
    sm.state = Sm::State::reserved;
    sm.next = kernel;
  } else {
    sm.owner = kernel;
  }
}

void SmMachine::share(policy::SmId id) {
  Sm& sm = sms_[id.index];
  restrictions_changed_ |= sm.owner != kNoKernel || sm.state != Sm::State::on;
  sm.owner = sm.next = kNoKernel;
  sm.state = Sm::State::on;
}

void SmMachine::cap(policy::SmId sm, KernelId kernel, std::uint32_t blocks) {
  if (kernel.index >= residents_[sm.index].size()) return;
  restrictions_changed_ |= std::exchange(residents_[sm.index][kernel.index].cap, blocks) != blocks;
}

std::optional<std::uint32_t> SmMachine::uniform_cap(KernelId kernel) const {
  const std::uint32_t cap = residents_[0][kernel.index].cap;
  const bool is_uniform = std::all_of(sms_.begin(), sms_.end(), [&](const Sm& sm) {
    const ResidentKernel& on = residents_[sm.index][kernel.index];
    return sm.state == Sm::State::on && sm.owner == kNoKernel && on.cap == cap && on.quota == kNoQuota;
  });
  return is_uniform && cap != 0 && cap != kNoCap ? std::optional(cap) : std::nullopt;
}

// A kernel by itself has no caps that a policy means for long.
void SmMachine::decide_undivided_caps() {
  if (!std::exchange(restrictions_changed_, false)) return;
  std::vector<CappedKernel> capped;
  for (const policy::Kernel& k : kernels_) {
    undivided_caps_.erase(k.id);
    const Extra& extra = extras_[k.id.index];
    const auto cap = uniform_cap(k.id);
    if (cap && extra.undivided.blocks != 0) capped.push_back({*cap, k.blocks, extra.undivided});
  }
  if (capped.size() < 2 || capped.size() != kernels_.size()) return;
  const auto caps = undivided_caps(capped, limits_);
  for (std::size_t i = 0; caps && i < kernels_.size(); ++i) undivided_caps_[kernels_[i].id] = (*caps)[i];
}

std::optional<UndividedCap> SmMachine::undivided_cap(KernelId kernel) const {
  const auto it = undivided_caps_.find(kernel);
  return it == undivided_caps_.end() ? std::nullopt : std::optional(it->second);
}

void SmMachine::set_quota(policy::SmId sm, KernelId kernel, std::int64_t groups) {
  if (kernel.index >= residents_[sm.index].size()) return;
  residents_[sm.index][kernel.index].quota = groups;
  restrictions_changed_ = true;
  renew_quota(sm, kernel);
}

void SmMachine::add_quota(policy::SmId sm, KernelId kernel, std::int64_t groups) {
  if (kernel.index >= residents_[sm.index].size()) return;
  std::int64_t& quota = residents_[sm.index][kernel.index].quota;
  if (quota == kNoQuota) return;
  quota += groups;
  renew_quota(sm, kernel);
}

void SmMachine::renew_quota(policy::SmId sm, KernelId kernel) {
  Workers& workers = places_[kernel.index];
  const std::int64_t left = residents_[sm.index][kernel.index].quota;
  std::uint32_t quota = 0;
  if (left != kNoQuota) {
    constexpr std::int64_t kMost = std::int64_t{1} << 30;
    const auto group_instructions = static_cast<std::int64_t>(extras_[kernel.index].group_instructions);
    const std::int64_t groups = std::min(left > 0 ? (left - 1) / group_instructions + 1 : 0, kMost);
    quota = workers.begun[sm.index] + static_cast<std::uint32_t>(groups) + 1;
    if (quota == 0) quota = 1;  // the numbers wrap, and 0 is no quota
  }
  workers.changed |= quota != workers.quotas[sm.index];
  workers.quotas[sm.index] = quota;
}

std::uint32_t SmMachine::allowed(KernelId kernel) const {
  std::uint64_t sum = 0;
  for (const Sm& sm : sms_) {
    const ResidentKernel& on = residents_[sm.index][kernel.index];
    if (may_run(sm, kernel)) sum += on.cap;
  }
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, kNoCap));
}

std::uint32_t SmMachine::allowed_per_unit(KernelId kernel, std::uint32_t /*units*/) const {
  std::uint32_t largest = 0;
  for (const Sm& sm : sms_) largest = std::max(largest, residents_[sm.index][kernel.index].cap);
  return largest == kNoCap ? 0 : std::max(largest, 1U);
}

bool SmMachine::is_unsettled(KernelId kernel) const {
  const Workers& workers = places_[kernel.index];
  for (const Sm& sm : sms_) {
    if (residents_[sm.index][kernel.index].resident > workers.limits[sm.index]) return true;
    if (workers.quotas[sm.index] != 0) return true;
  }
  return workers.retry > now_;
}

void SmMachine::spend_quota(policy::SmId sm, KernelId id, std::uint32_t begun) {
  Workers& place = places_[id.index];
  ResidentKernel& on = residents_[sm.index][id.index];
  const auto spent = static_cast<std::int32_t>(begun - std::exchange(place.begun[sm.index], begun));
  if (on.quota == kNoQuota || spent == 0) return;
  const bool was_left = on.quota > 0;
  // A group may be worth far more than a quota. A kernel owes nothing for the group that exceeded its quota: small
  // additions to a debt would start no group.
  on.quota =
      std::max<std::int64_t>(on.quota - spent * static_cast<std::int64_t>(extras_[id.index].group_instructions), 0);
  if (was_left && on.quota <= 0) spent_.push_back({sm, id});
}

// Workers that are fewer than expected have left, or the driver placed them elsewhere.
std::uint32_t SmMachine::correct_residents(policy::Kernel& kernel, std::span<const std::uint32_t> workers) {
  const Workers& place = places_[kernel.id.index];
  const bool starting = now_ - kernel.arrived < kStarting;
  std::uint32_t gone = 0, found = 0;
  for (Sm& sm : sms_) {
    const std::uint32_t expected = residents_[sm.index][kernel.id.index].resident;
    const bool may_stay = expected <= place.limits[sm.index];
    if (workers[sm.index] >= expected || (starting && may_stay)) continue;
    if (may_stay) gone += expected - workers[sm.index];
    vacate(sm, kernel, expected - workers[sm.index]);
  }
  for (Sm& sm : sms_) {
    const std::uint32_t expected = residents_[sm.index][kernel.id.index].resident;
    if (workers[sm.index] <= expected || starting) continue;
    const std::uint32_t more = std::min(workers[sm.index] - expected, gpu::fit(kernel.footprint, sm.free));
    if (more != 0) occupy(sm, kernel, more);
    found += more;
  }
  return gone - std::min(gone, found);
}

void SmMachine::observe(KernelId id, const Observed& observed) {
  policy::Kernel* k = view(id);
  if (k == nullptr) return;
  Workers& place = places_[id.index];
  std::uint32_t completed = 0 - place.done_before;
  const std::uint64_t group_instructions = extras_[id.index].group_instructions;
  for (const Sm& sm : sms_) {
    const std::uint32_t done = observed.done[sm.index];
    residents_[sm.index][id.index].counters.thread_instructions += (done - place.done[sm.index]) * group_instructions;
    place.done[sm.index] = done;
    completed += done;
    spend_quota(sm.id, id, observed.begun[sm.index]);
  }
  // The counts may be from before the launch.
  completed = static_cast<std::uint32_t>(std::max(static_cast<std::int32_t>(completed), 0));
  const std::uint32_t missing = correct_residents(*k, observed.workers);
  k->done = std::min(completed, k->blocks - k->resident);
  // A worker that has taken a chunk has at most so many groups that are not done. Towards the end of a launch no group
  // waits although not all are done, and more workers would find none.
  const std::uint32_t workers = std::accumulate(observed.workers.begin(), observed.workers.end(), 0U);
  const std::uint32_t left = k->blocks - k->done;
  const std::uint64_t taken = std::max<std::uint64_t>(k->resident, std::uint64_t{workers} * extras_[id.index].chunk);
  k->waiting = left - static_cast<std::uint32_t>(std::min<std::uint64_t>(left, taken));
  if (observed.untaken) k->waiting = std::min(*observed.untaken, left);
  k->instructions = extras_[id.index].instructions + completed * group_instructions;
  // Workers that the driver has not placed come as soon as there is room, and more of them would not help.
  if (missing != 0 || observed.some_not_placed) retry_later(id);
}

void SmMachine::retry_later(KernelId kernel) {
  places_[kernel.index].retry = now_ + kRetry;
  places_[kernel.index].retries = true;
}

// Few groups are spread over many SMs. The room of an SM does not depend on others, so it is found once.
std::uint32_t SmMachine::start_workers(policy::Kernel& kernel) {
  // More workers beside those that run keep the next launch of the stream waiting, so there must be work for them.
  const std::uint64_t soon_taken = std::uint64_t{kRounds} * kernel.resident * extras_[kernel.id.index].chunk;
  const bool may_start = places_[kernel.id.index].retry <= now_ && kernel.waiting > soon_taken;
  std::vector<std::uint32_t> missing(sms_.size(), 0), started(sms_.size(), 0);
  for (const Sm& sm : sms_) missing[sm.index] = may_start ? workers_missing(sm, kernel) : 0;
  std::uint32_t left = kernel.waiting;
  for (bool grew = may_start; grew && left != 0;) {
    grew = false;
    const auto open = static_cast<std::uint32_t>(
        std::count_if(missing.begin(), missing.end(), [](std::uint32_t n) { return n != 0; }));
    for (std::size_t i = 0; i < missing.size() && left != 0; ++i) {
      const std::uint32_t share = std::max(left / std::max(open, 1U), 1U);
      const std::uint32_t more = std::min({missing[i], share, left});
      missing[i] -= more;
      started[i] += more;
      left -= more;
      grew |= more != 0;
    }
  }
  const std::uint32_t all = kernel.waiting - left;
  for (Sm& sm : sms_) {
    if (started[sm.index] != 0) occupy(sm, kernel, started[sm.index]);
  }
  decide_limits(kernel, all != 0);
  return all;
}

std::uint32_t SmMachine::room_for_workers(const Sm& sm, const policy::Kernel& kernel) const {
  const ResidentKernel& on = residents_[sm.index][kernel.id.index];
  return may_run(sm, kernel.id) ? std::min(on.cap, on.resident + gpu::fit(kernel.footprint, sm.free)) : 0;
}

// Workers look at their limit when they start and between groups. So while none are started, the others need to know
// only where some must leave and where none may be any more.
void SmMachine::decide_limits(const policy::Kernel& kernel, bool starts_workers) {
  Workers& place = places_[kernel.id.index];
  for (const Sm& sm : sms_) {
    const std::uint32_t limit = room_for_workers(sm, kernel);
    std::uint32_t& told = place.limits[sm.index];
    const bool matters = starts_workers || limit == 0 || limit < residents_[sm.index][kernel.id.index].resident;
    if (limit == told || !matters) continue;
    told = limit;
    place.changed = true;
  }
}

// Where workers may not stay everywhere, they are observed soon.
std::uint32_t SmMachine::submitted_for(std::uint32_t wanted, const policy::Kernel& kernel) {
  const bool is_restricted = std::any_of(sms_.begin(), sms_.end(), [&](const Sm& sm) {
    return !may_run(sm, kernel.id) || residents_[sm.index][kernel.id.index].cap < kernel.max_blocks_per_sm;
  });
  if (wanted == 0 || !is_restricted) return wanted;
  retry_later(kernel.id);
  return std::max(wanted, places(kernel));
}

void SmMachine::start_undivided(policy::Kernel& kernel, const Start& start) {
  const bool may_start = std::any_of(sms_.begin(), sms_.end(), [&](const Sm& sm) {
    return may_run(sm, kernel.id) && residents_[sm.index][kernel.id.index].cap != 0;
  });
  if (!may_start) return;
  extras_[kernel.id.index].state = Extra::State::started;
  occupy_undivided(kernel);
  start(kernel.id, kernel.blocks);
}

// `start` is called with 0 workers where only limits have changed.
void SmMachine::dispatch(const Start& start, std::uint32_t /*spare*/) {
  for (const KernelId id : in_order()) {
    policy::Kernel* still = view(id);
    if (still == nullptr) continue;
    const Extra::State state = extras_[id.index].state;
    if (state == Extra::State::waiting) start_undivided(*still, start);
    if (state != Extra::State::divisible) continue;
    places_[id.index].retries &= places_[id.index].retry > now_;
    const std::uint32_t workers = submitted_for(start_workers(*still), *still);
    const bool changed = std::exchange(places_[id.index].changed, false);
    places_[id.index].untold |= changed;
    if (changed || workers != 0) start(id, workers);
  }
}

std::optional<Cycles> SmMachine::next_alarm() const {
  std::optional<Cycles> next = RuntimeMachine::next_alarm();
  for (const policy::Kernel& k : kernels_) {
    const Workers& place = places_[k.id.index];
    // Time may have passed since without a dispatch.
    if (place.retries) next = next ? std::min(*next, place.retry) : place.retry;
  }
  return next;
}

void SmMachine::deliver_events(policy::Policy& policy) {
  const auto ready = std::exchange(ready_, {});
  for (const policy::SmReady& e : ready) {
    if (sms_[e.sm.index].owner == e.owner) policy.on(e, *this);
  }
  const auto idle = std::exchange(idle_, {});
  for (const policy::SmIdle& e : idle) {
    if (sms_[e.sm.index].resident == 0 && sms_[e.sm.index].state == Sm::State::on) policy.on(e, *this);
  }
  const auto spent = std::exchange(spent_, {});
  for (const policy::QuotaSpent& e : spent) {
    if (find(e.kernel) != nullptr && residents_[e.sm.index][e.kernel.index].quota <= 0) policy.on(e, *this);
  }
}

}  // namespace wm::runtime
