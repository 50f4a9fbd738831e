// How many objects of each kind are alive in this daemon, for `wm status`: an object that a client leaked shows here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

namespace wm::runtime {

struct ObjectCounts {
  std::atomic<std::int64_t> memories{0}, samplers{0}, queues{0}, programs{0}, kernels{0}, events{0}, commands{0};
  std::atomic<std::uint64_t> queues_made{0};
};

// The same object, counted in `alive` until its last owner releases it.
template <typename T>
std::shared_ptr<T> counted(std::shared_ptr<T> object, std::atomic<std::int64_t>& alive) {
  ++alive;
  T* raw = object.get();
  return std::shared_ptr<T>(raw, [object = std::move(object), &alive](T*) mutable {
    object.reset();
    --alive;
  });
}

}  // namespace wm::runtime
