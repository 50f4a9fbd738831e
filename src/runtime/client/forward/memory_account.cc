#include "runtime/client/forward/memory_account.h"

namespace wm::forward {

bool MemoryAccount::reserve(std::uint64_t bytes, std::uint64_t limit) {
  const std::lock_guard lock(mutex_);
  if (limit != 0 && (bytes > limit || used_ > limit - bytes)) return false;
  used_ += bytes;
  return true;
}

void MemoryAccount::cancel(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_ -= bytes;
}

void MemoryAccount::add(Kind kind, std::uint64_t name, std::uint64_t bytes, const void* context) {
  const std::lock_guard lock(mutex_);
  const auto [at, is_new] = allocations_.try_emplace({kind, name}, Allocation{bytes, context, 1});
  if (is_new) return;
  // The earlier allocation was freed in a way that this library does not see.
  used_ -= at->second.bytes;
  at->second = {bytes, context, 1};
}

void MemoryAccount::remove(Kind kind, std::uint64_t name) {
  const std::lock_guard lock(mutex_);
  release({kind, name});
}

void MemoryAccount::release(const Key& key) {
  const auto at = allocations_.find(key);
  if (at == allocations_.end() || --at->second.references > 0) return;
  used_ -= at->second.bytes;
  allocations_.erase(at);
}

void MemoryAccount::remove_context(const void* context) {
  const std::lock_guard lock(mutex_);
  std::erase_if(allocations_, [&](const auto& entry) {
    const bool ends = entry.first.first != Kind::handle && entry.second.context == context;
    if (ends) used_ -= entry.second.bytes;
    return ends;
  });
}

void MemoryAccount::mapped(std::uint64_t address, std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto at = allocations_.find({Kind::handle, handle});
  if (at == allocations_.end()) return;
  ++at->second.references;
  mappings_[address] = handle;
}

void MemoryAccount::unmapped(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  auto at = mappings_.lower_bound(address);
  while (at != mappings_.end() && at->first - address < bytes) {
    release({Kind::handle, at->second});
    at = mappings_.erase(at);
  }
}

void MemoryAccount::retained(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto at = allocations_.find({Kind::handle, handle});
  if (at != allocations_.end()) ++at->second.references;
}

std::uint64_t MemoryAccount::used() const {
  const std::lock_guard lock(mutex_);
  return used_;
}

}  // namespace wm::forward
