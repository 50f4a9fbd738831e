// The live objects of one kind. A handle is an object's address; an address that is none is found out, not followed.
#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>

namespace wm::cuda {

template <typename T>
class HandleSet {
 public:
  T* add(std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* handle = object.get();
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  // Empty where the handle names no live object.
  std::shared_ptr<T> find(T* handle) const {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(handle);
    return at == objects_.end() ? nullptr : at->second;
  }
  // Takes the object out; calls that use it at the moment keep it alive.
  std::shared_ptr<T> remove(T* handle) {
    const std::lock_guard lock(mutex_);
    const auto at = objects_.find(handle);
    if (at == objects_.end()) return nullptr;
    auto object = std::move(at->second);
    objects_.erase(at);
    return object;
  }
  template <typename Visit>
  void for_each(Visit&& visit) {
    const std::lock_guard lock(mutex_);
    for (auto& [handle, object] : objects_) visit(*object);
  }
  // Removes the objects of which `which` is true.
  template <typename Which>
  void remove_if(Which&& which) {
    const std::lock_guard lock(mutex_);
    std::erase_if(objects_, [&](const auto& entry) { return which(*entry.second); });
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<T*, std::shared_ptr<T>> objects_;
};

}  // namespace wm::cuda
