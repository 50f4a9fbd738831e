#include "runtime/client/cuda/state/graph_memory.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

namespace wm::cuda {
namespace {

// The memory of all graphs by address. The mutex also guards its state.
struct AllGraphMemory {
  std::mutex mutex;
  std::map<std::uint64_t, std::weak_ptr<GraphMemory>> by_address;
  std::uint64_t bytes = 0, peak = 0;
};

AllGraphMemory& all() {
  static auto* memory = new AllGraphMemory();  // used until the process ends
  return *memory;
}

}  // namespace

Result<std::shared_ptr<GraphMemory>> GraphMemory::allocate(runtime::DeviceMemory& memory, std::uint64_t bytes,
                                                           const void* owner) {
  const auto address = memory.allocate(bytes, "memory of a graph", owner);
  if (!address) return address.error();
  auto made = std::make_shared<GraphMemory>(memory, *address, bytes);
  const std::lock_guard lock(all().mutex);
  all().by_address[*address] = made;
  return made;
}

std::shared_ptr<GraphMemory> GraphMemory::find(std::uint64_t address) {
  const std::lock_guard lock(all().mutex);
  const auto at = all().by_address.find(address);
  return at == all().by_address.end() ? nullptr : at->second.lock();
}

GraphMemory::GraphMemory(runtime::DeviceMemory& memory, std::uint64_t address, std::uint64_t bytes)
    : memory_(memory), address_(address), bytes_(bytes) {
  if (const auto range = memory.find(address)) allocation_ = range->id;
  const std::lock_guard lock(all().mutex);
  all().bytes += bytes;
  all().peak = std::max(all().peak, all().bytes);
}

GraphMemory::~GraphMemory() {
  {
    const std::lock_guard lock(all().mutex);
    all().bytes -= bytes_;
    const auto at = all().by_address.find(address_);
    if (at != all().by_address.end() && at->second.expired()) all().by_address.erase(at);
  }
  if (is_taken_) return;
  const auto range = memory_.find(address_);
  if (range && range->id == allocation_) (void)memory_.free(address_);
}

std::uint64_t GraphMemory::total_bytes() {
  const std::lock_guard lock(all().mutex);
  return all().bytes;
}

std::uint64_t GraphMemory::peak_bytes() {
  const std::lock_guard lock(all().mutex);
  return all().peak;
}

void GraphMemory::forget_peak() {
  const std::lock_guard lock(all().mutex);
  all().peak = all().bytes;
}

bool GraphMemory::take() {
  const std::lock_guard lock(all().mutex);
  return !std::exchange(is_taken_, true);
}

bool GraphMemory::give_back() {
  const std::lock_guard lock(all().mutex);
  return std::exchange(is_taken_, false);
}

bool GraphMemory::choose_free(FreedBy by) {
  const std::lock_guard lock(all().mutex);
  if (freed_by_ == FreedBy::own_graph || (freed_by_ == FreedBy::other_graph && by == FreedBy::own_graph)) return false;
  freed_by_ = by;
  return true;
}

}  // namespace wm::cuda
