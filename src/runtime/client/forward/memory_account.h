// The device memory that this process has allocated, and the limit on it.
//
// Memory is counted by what the program asked for: by address, by array, or, for memory that is created and mapped
// separately, by handle. A handle's memory is in use until it is released and no longer mapped.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace wm::forward {

class MemoryAccount {
 public:
  enum class Kind { address, array, handle };

  // Before an allocation. False: it would exceed `limit` (0: there is none). Otherwise the bytes are reserved until
  // `add` or `cancel`.
  bool reserve(std::uint64_t bytes, std::uint64_t limit);
  void cancel(std::uint64_t bytes);
  // The reserved bytes are now this allocation, of that context.
  void add(Kind kind, std::uint64_t name, std::uint64_t bytes, const void* context);
  void remove(Kind kind, std::uint64_t name);
  // All that a context had is freed with it. Handles belong to none.
  void remove_context(const void* context);

  void mapped(std::uint64_t address, std::uint64_t handle);
  // All mappings that begin in the range end.
  void unmapped(std::uint64_t address, std::uint64_t bytes);
  // Another reference to a handle, which has to be released too.
  void retained(std::uint64_t handle);

  [[nodiscard]] std::uint64_t used() const;

 private:
  struct Allocation {
    std::uint64_t bytes = 0;
    const void* context = nullptr;
    int references = 1;  // the program's, and one per mapping
  };
  using Key = std::pair<Kind, std::uint64_t>;
  void release(const Key& key);

  mutable std::mutex mutex_;
  std::map<Key, Allocation> allocations_;
  std::map<std::uint64_t, std::uint64_t> mappings_;  // handles, by address
  std::uint64_t used_ = 0;                           // reserved bytes included
};

}  // namespace wm::forward
