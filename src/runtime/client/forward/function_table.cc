#include "runtime/client/forward/function_table.h"

#include <mutex>

namespace wm::forward {

FunctionTable& FunctionTable::get() {
  static auto* table = new FunctionTable;
  return *table;
}

void FunctionTable::add(const void* handle, HandleKind kind, const void* owner, const char* name) {
  const std::unique_lock lock(mutex_);
  // One handle may be both, where a driver makes no difference.
  entries_.insert_or_assign(handle, Origin{kind, owner, name});
}

void FunctionTable::add_function_of(const void* kernel, const void* function) {
  const std::unique_lock lock(mutex_);
  const auto parent = entries_.find(kernel);
  Origin origin = parent != entries_.end() ? parent->second : Origin{HandleKind::function, kernel, ""};
  origin.kind = HandleKind::function;
  entries_.insert_or_assign(function, std::move(origin));
}

void FunctionTable::remove_owner(const void* owner) {
  const std::unique_lock lock(mutex_);
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.owner == owner; });
  ++generation_;
}

void FunctionTable::forget_functions() {
  const std::unique_lock lock(mutex_);
  std::erase_if(entries_, [](const auto& entry) { return entry.second.kind == HandleKind::function; });
  ++generation_;
}

std::optional<FunctionTable::Origin> FunctionTable::origin(const void* handle) const {
  const std::shared_lock lock(mutex_);
  const auto at = entries_.find(handle);
  if (at == entries_.end()) return std::nullopt;
  return at->second;
}

std::optional<HandleKind> FunctionTable::kind(const void* handle) const {
  const std::shared_lock lock(mutex_);
  const auto at = entries_.find(handle);
  if (at == entries_.end()) return std::nullopt;
  return at->second.kind;
}

unsigned FunctionTable::generation() const {
  const std::shared_lock lock(mutex_);
  return generation_;
}

}  // namespace wm::forward
