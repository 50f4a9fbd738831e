#include "runtime/device/guarded_launches.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace wm::runtime {
namespace {

constexpr std::size_t kMaxFaultsKept = 64;

bool same_range(const Size3& global, const std::size_t* context) {
  const std::size_t* const groups = context;
  const std::size_t* const local = context + 6;
  for (std::size_t i = 0; i < 3; ++i) {
    if (groups[i] * local[i] != global[i]) return false;
  }
  return true;
}

}  // namespace

GuardedLaunch::GuardedLaunch(const KernelLaunch& launch)
    : kernel(static_cast<const OpenClKernel&>(*launch.kernel).name), global(launch.global) {
  for (std::size_t i = launch.dimensions; i < global.size(); ++i) global[i] = 1;
  arguments.reserve(launch.arguments.size());
  for (const KernelArgument& a : launch.arguments) {
    Argument& copy = arguments.emplace_back(Argument{a.kind, a.size, values.size(), nullptr});
    if (a.kind == ArgumentKind::memory) copy.address = static_cast<const OpenClMemory&>(*a.memory).address;
    if (a.kind != ArgumentKind::value || a.bytes == nullptr) continue;
    const auto* const bytes = static_cast<const std::byte*>(a.bytes);
    values.insert(values.end(), bytes, bytes + a.size);
  }
}

bool GuardedLaunch::makes(const GroupCall& call) const {
  if (!same_range(global, call.context)) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Argument& a = arguments[i];
    const void* const given = call.arguments[i];
    if (a.kind == ArgumentKind::value) {
      if (std::memcmp(given, values.data() + a.offset, a.size) != 0) return false;
    } else if (a.kind == ArgumentKind::no_memory || a.address != nullptr) {
      if (given != nullptr && *static_cast<const void* const*>(given) != a.address) return false;
    }
  }
  return true;
}

GuardedLaunches& GuardedLaunches::instance() {
  static auto* const launches = new GuardedLaunches;  // PoCL's threads may outlive static objects
  return *launches;
}

GuardedLaunches::Entry GuardedLaunches::add(const KernelLaunch& launch) {
  std::list<GuardedLaunch> one;
  one.emplace_back(launch);
  const std::lock_guard lock(mutex_);
  launches_.splice(launches_.end(), one);
  return std::prev(launches_.end());
}

void GuardedLaunches::remove(Entry entry) {
  std::list<GuardedLaunch> one;
  const std::lock_guard lock(mutex_);
  if (entry->faulted) --faulted_launches_;
  one.splice(one.end(), launches_, entry);
}

void GuardedLaunches::submitted(Entry entry, EventHandle event) {
  const std::lock_guard lock(mutex_);
  by_event_[event] = entry;
}

void GuardedLaunches::released(EventHandle event) {
  std::list<GuardedLaunch> one;
  const std::lock_guard lock(mutex_);
  const auto found = by_event_.find(event);
  if (found == by_event_.end()) return;
  if (found->second->faulted) --faulted_launches_;
  one.splice(one.end(), launches_, found->second);
  by_event_.erase(found);
}

bool GuardedLaunches::faulted(EventHandle event) const {
  if (!any_faulted()) return false;
  const std::lock_guard lock(mutex_);
  const auto found = by_event_.find(event);
  return found != by_event_.end() && found->second->faulted;
}

std::vector<KernelFault> GuardedLaunches::take_faults() {
  const std::lock_guard lock(mutex_);
  return std::exchange(faults_, {});
}

// A kernel of the same name and another program may have fewer arguments: reading them may fault.
std::vector<GuardedLaunch*> GuardedLaunches::launches_that_make(const GroupCall& call) {
  struct Question {
    const GuardedLaunch* launch;
    const GroupCall* call;
    bool answer;
  };
  const auto ask = [](void* data) {
    auto& question = *static_cast<Question*>(data);
    question.answer = question.launch->makes(*question.call);
  };
  std::vector<GuardedLaunch*> found;
  for (GuardedLaunch& launch : launches_) {
    if (launch.kernel != call.kernel) continue;
    Question question{&launch, &call, false};
    if (ends_without_fault(ask, &question) && question.answer) found.push_back(&launch);
  }
  return found;
}

// The other groups of a launch that has faulted are left out: its results are not valid.
bool GuardedLaunches::runs(const GroupCall& call) {
  const std::lock_guard lock(mutex_);
  const auto launches = launches_that_make(call);
  return launches.empty() || !std::ranges::all_of(launches, &GuardedLaunch::faulted);
}

// Where no launch agrees, all of the kernel's launches fail: one of them has a wrong result.
bool GuardedLaunches::record_fault(const GroupCall& call, const KernelFault& fault) {
  const std::lock_guard lock(mutex_);
  auto launches = launches_that_make(call);
  if (launches.empty()) {
    for (GuardedLaunch& launch : launches_) {
      if (launch.kernel == call.kernel) launches.push_back(&launch);
    }
  }
  if (launches.empty()) return false;
  bool first = false;
  for (GuardedLaunch* launch : launches) {
    if (std::exchange(launch->faulted, true)) continue;
    ++faulted_launches_;
    first = true;
  }
  if (first) ++fault_count_;
  if (first && faults_.size() < kMaxFaultsKept) faults_.push_back(fault);
  return true;
}

}  // namespace wm::runtime
