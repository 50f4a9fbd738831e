// The objects of a client by the ids that the client chose. Safe for use by several threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/device/memory.h"
#include "runtime/program/program.h"
#include "runtime/schedule/command.h"

namespace wm::runtime {

template <typename T>
class ObjectTable {
 public:
  // Null: the client has no such object.
  [[nodiscard]] std::shared_ptr<T> find(std::uint64_t id) const {
    const std::lock_guard lock(mutex_);
    const auto it = objects_.find(id);
    return it == objects_.end() ? nullptr : it->second;
  }
  // False: the id is in use, or the table is closed.
  bool add(std::uint64_t id, std::shared_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    return !closed_ && objects_.emplace(id, std::move(object)).second;
  }
  // The object that was removed; the caller destroys it without the lock.
  std::shared_ptr<T> remove(std::uint64_t id) {
    const std::lock_guard lock(mutex_);
    const auto it = objects_.find(id);
    if (it == objects_.end()) return nullptr;
    auto object = std::move(it->second);
    objects_.erase(it);
    return object;
  }
  // Removes all objects and accepts no more.
  void close() {
    std::map<std::uint64_t, std::shared_ptr<T>> objects;  // destroyed without the lock
    const std::lock_guard lock(mutex_);
    closed_ = true;
    objects.swap(objects_);
  }
  [[nodiscard]] std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return objects_.size();
  }
  [[nodiscard]] std::vector<std::shared_ptr<T>> all() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::shared_ptr<T>> all;
    for (const auto& [id, object] : objects_) all.push_back(object);
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<T>> objects_;
  bool closed_ = false;
};

struct ObjectTables {
  ObjectTable<Memory> memories;
  ObjectTable<Sampler> samplers;
  ObjectTable<Queue> queues;
  ObjectTable<Program> programs;
  ObjectTable<Kernel> kernels;

  [[nodiscard]] std::size_t size() const {
    return memories.size() + samplers.size() + queues.size() + programs.size() + kernels.size();
  }
  void close() {
    memories.close();
    samplers.close();
    queues.close();
    programs.close();
    kernels.close();
  }
};

}  // namespace wm::runtime
