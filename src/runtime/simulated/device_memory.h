// The memory of the simulated GPU as a driver hands it out: device memory, host memory that kernels can access at the
// same address (pinned and managed), and registered memory of the application.
//
// Any number of threads may use it. Kernels and copies hold a reader lock, in short turns; allocating and freeing wait
// for the end of these turns, not for the end of kernels.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>

#include "base/result.h"
#include "exec/address_space.h"
#include "runtime/simulated/memory_backing.h"

namespace wm::runtime {

enum class MemoryKind : std::uint8_t { device, pinned, managed, registered, heap };

struct MemoryRange {
  std::uint64_t address = 0;  // where kernels see it
  std::uint64_t bytes = 0;
  MemoryKind kind = MemoryKind::device;
  std::uint32_t flags = 0;             // as the application gave them
  std::byte* host_access = nullptr;    // where the application sees it; nullptr: it cannot
  std::uint64_t id = 0;                // counts allocations from 1
  const void* owner = nullptr;         // the context it was allocated in
  std::uint64_t allocation = 0;        // where the executor's allocation starts that holds it
  bool is_claimed = false;             // see DeviceMemory::claim
  std::shared_ptr<void> attachment{};  // see DeviceMemory::attach
};

class DeviceMemory {
 public:
  static constexpr std::uint64_t kDefaultHeapBytes = 8U << 20;  // as CUDA documents

  // `limit`: bytes that may be allocated on the device. `backing`: where the memory lies if kernels run in another
  // process; it outlives this.
  explicit DeviceMemory(std::uint64_t limit, MemoryBacking* backing = nullptr);

  // Fresh device memory holds the executor's poison; a large allocation is zero, so that untouched pages cost nothing.
  Result<std::uint64_t> allocate(std::uint64_t bytes, const std::string& name, const void* owner);
  // Host memory at the address that kernels use too.
  Result<std::uint64_t> allocate_shared(std::uint64_t bytes, MemoryKind kind, std::uint32_t flags, const void* owner);
  // `malloc` in kernels has so many bytes for each of `sms` SMs, and without time in all, until the memory of `owner`
  // is freed. An error: they do not fit, or kernels have used the heap.
  Result<void> set_heap_bytes(std::uint64_t bytes, std::uint32_t sms, const void* owner);
  // Places the heap, if that has not been done.
  Result<void> make_heap(std::uint32_t sms, const void* owner);
  // Makes memory of the application accessible to kernels, at the host's address and at one of its own. If kernels run
  // in another process, the pages that hold it become shared pages until it is freed; no other thread may write to them
  // meanwhile.
  Result<std::uint64_t> register_host(void* host, std::uint64_t bytes, std::uint32_t flags, const void* owner);
  Result<void> free(std::uint64_t address);
  // Claims the allocation that starts at `address` for a free that comes later; false: there is none, or it is claimed.
  [[nodiscard]] bool claim(std::uint64_t address);
  // The object that goes with the allocation that starts at `address`: its first one, else `fresh`, which then lives
  // until the allocation is freed. nullptr: there is no such allocation.
  std::shared_ptr<void> attach(std::uint64_t address, std::shared_ptr<void> fresh);
  void free_all_of(const void* owner);

  // The range that holds `address`, an address of the device or of the host.
  [[nodiscard]] std::optional<MemoryRange> find(std::uint64_t address) const;
  // The same, with the device address that belongs to `address`.
  [[nodiscard]] std::optional<std::uint64_t> device_address(std::uint64_t address) const;

  // Copies between any two of device and host memory; an address that is no device address is the host's.
  Result<void> copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes);
  // Repeats a value of `width` bytes (1, 2, 4) `count` times.
  Result<void> fill(std::uint64_t to, std::uint32_t value, std::uint32_t width, std::uint64_t count);
  // Host memory behind a device address, or the host's own; nullptr where the range is not inside one allocation.
  [[nodiscard]] std::byte* bytes_at(std::uint64_t address, std::uint64_t bytes) const;

  [[nodiscard]] std::uint64_t total_bytes() const { return limit_; }
  [[nodiscard]] std::uint64_t free_bytes() const;

  // Held while kernels execute. A waiting writer is let in between two locks.
  class Reader {
   public:
    explicit Reader(const DeviceMemory& memory) : memory_(memory) { lock(); }
    ~Reader() { memory_.mutex_.unlock_shared(); }
    Reader(const Reader&) = delete;
    Reader& operator=(const Reader&) = delete;
    // Releases the lock for a moment if a writer waits.
    void yield() {
      if (memory_.writers_.load(std::memory_order_relaxed) == 0) return;
      memory_.mutex_.unlock_shared();
      lock();
    }

   private:
    void lock();
    const DeviceMemory& memory_;
  };

  // Calls `use` with the lock of a Reader, without waiting for it; false: a writer has the memory or waits for it.
  template <typename Use>
  bool try_read(Use&& use) const {
    if (writers_.load() != 0) return false;
    const std::shared_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) return false;
    std::forward<Use>(use)();
    return true;
  }

  // The executor's view; the caller holds a Reader, or a Writer to load a module.
  [[nodiscard]] exec::AddressSpace& space() { return space_; }

  class Writer {
   public:
    explicit Writer(DeviceMemory& memory) : memory_(memory) {
      memory_.writers_.fetch_add(1);
      memory_.mutex_.lock();
    }
    ~Writer() {
      memory_.writers_.fetch_sub(1);
      memory_.mutex_.unlock();
    }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

   private:
    DeviceMemory& memory_;
  };

 private:
  Result<std::uint64_t> add(std::uint64_t bytes, const std::string& name, const exec::HostSource& source,
                            MemoryRange range);
  Result<void> free_locked(std::uint64_t address);
  Result<std::uint64_t> register_shared(std::byte* host, std::uint64_t bytes, MemoryRange range);
  Result<std::uint64_t> name_registered(std::uint64_t allocation, std::uint64_t address, std::uint64_t bytes);
  Result<void> make_heap_locked(std::uint32_t sms, const void* owner);
  [[nodiscard]] const MemoryRange* range_at(std::uint64_t address) const;

  // Pages of the backing, or of this process, for the device address `address`; at that address too if `visible`.
  [[nodiscard]] exec::HostBytes pages(std::uint64_t address, std::uint64_t bytes, bool visible) const;

  const std::uint64_t limit_;
  const std::uint64_t shared_limit_;  // bytes of pinned and managed memory at most
  MemoryBacking* const backing_;
  exec::AddressSpace space_;
  std::map<std::uint64_t, MemoryRange> ranges_;        // by device address
  std::map<std::uint64_t, std::uint64_t> registered_;  // by the host's address: device address
  std::uint64_t heap_ = 0;                             // its address; 0: there is none yet
  std::uint64_t heap_bytes_ = kDefaultHeapBytes;
  const void* heap_bytes_owner_ = nullptr;
  std::uint64_t allocations_ = 0;
  std::uint64_t device_bytes_ = 0;  // in use
  std::uint64_t shared_bytes_ = 0;  // in use, pinned and managed
  mutable std::shared_mutex mutex_;
  std::atomic<std::uint32_t> writers_{0};
};

}  // namespace wm::runtime
