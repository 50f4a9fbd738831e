// The advice that a program has given about one allocation of managed memory, and where it prefetched its parts to.
// Nothing here changes a result, as host and device share one memory; a program can ask for it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/client/cuda/interface/types.h"

namespace wm::cuda {

class RangeAdvice {
 public:
  struct Part {
    bool is_read_mostly = false;
    bool is_accessed_by_device = false;
    bool is_accessed_by_host = false;
    CUmemLocation preferred{};   // type 0: none
    CUmemLocation prefetched{};  // type 0: never
  };

  // Applies `change` to every part of [first, first + bytes); parts begin where advice does.
  template <typename Change>
  void apply(std::uint64_t first, std::uint64_t bytes, Change&& change) {
    const std::lock_guard lock(mutex_);
    const auto end = divide_at(first + bytes);
    for (auto at = divide_at(first); at != end; ++at) change(at->second);
  }

  // The value of `of(part)` where all parts of the range have the same; empty: they differ.
  template <typename Of>
  auto common(std::uint64_t first, std::uint64_t bytes, Of&& of) const {
    const std::lock_guard lock(mutex_);
    auto at = std::prev(parts_.upper_bound(first));
    auto value = std::optional(of(at->second));
    for (++at; at != parts_.end() && at->first < first + bytes; ++at)
      if (of(at->second) != *value) return decltype(value){};
    return value;
  }

 private:
  using Parts = std::map<std::uint64_t, Part>;  // by their first address
  Parts::iterator divide_at(std::uint64_t address) {
    return parts_.try_emplace(address, std::prev(parts_.upper_bound(address))->second).first;
  }

  mutable std::mutex mutex_;
  Parts parts_{{0, {}}};
};

}  // namespace wm::cuda
