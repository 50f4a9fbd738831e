#include "policy/machine.h"

#include <algorithm>

namespace wm::policy {

const Kernel* Machine::find(KernelId id) const {
  const auto all = kernels();
  const auto at = std::find_if(all.begin(), all.end(), [id](const Kernel& k) { return k.id == id; });
  return at == all.end() ? nullptr : &*at;
}

std::uint64_t Machine::epoch_instructions(KernelId id) const {
  std::uint64_t sum = 0;
  for (const Sm& sm : sms()) {
    const auto on = residents(sm.id);
    if (id.index < on.size()) sum += on[id.index].counters.thread_instructions;
  }
  return sum;
}

double Machine::epoch_ipc(KernelId id) const {
  const std::uint64_t length = epoch_length().count;
  return length == 0 ? 0 : static_cast<double>(epoch_instructions(id)) / static_cast<double>(length);
}

std::uint32_t Machine::owned(KernelId id) const {
  const auto all = sms();
  return static_cast<std::uint32_t>(
      std::count_if(all.begin(), all.end(), [id](const Sm& sm) { return powered(sm) && eventual_owner(sm) == id; }));
}

}  // namespace wm::policy
