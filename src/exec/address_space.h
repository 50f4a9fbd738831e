// The device memory of one client: allocations with names and bounds, and the generic address map.
//
// An allocation starts on a page of its own (64 KiB of virtual addresses), so finding it is one table look-up, and an
// access past its end is never inside a neighbour. Fresh memory holds poison (0xa5), the same on every run. Two clients
// are two address spaces: the same address means different memory in each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace wm::exec {

// Generic addresses: global (and constant) memory below, then windows onto the memory a thread cannot share further.
// Copies tell host from device memory by the address, and Linux on x86_64 maps a program's memory downwards from a
// random place above 0x7ef0…: device memory ends a tebibyte below.
#if defined(__SANITIZE_THREAD__)  // ThreadSanitizer on x86_64 lets a program map 0x7e80… to 0x8000… only
inline constexpr std::uint64_t kGlobalBase = 0x7e8000000000ULL;
inline constexpr std::uint64_t kGlobalEnd = 0x7f0000000000ULL;
#else
inline constexpr std::uint64_t kGlobalBase = 0x700000000000ULL;
inline constexpr std::uint64_t kGlobalEnd = 0x7e0000000000ULL;
#endif
inline constexpr std::uint64_t kWindowBytes = 0x1000000ULL;  // 16 MiB each
inline constexpr std::uint64_t kParamWindow = 0x7ffd00000000ULL;
inline constexpr std::uint64_t kSharedWindow = 0x7ffe00000000ULL;
inline constexpr std::uint64_t kLocalWindow = 0x7fff00000000ULL;
inline constexpr std::byte kPoison{0xa5};

// Releases the host memory behind an allocation. Without a function the memory came from new[].
struct HostRelease {
  std::function<void(std::byte*)> release;
  void operator()(std::byte* bytes) const;
};
using HostBytes = std::unique_ptr<std::byte[], HostRelease>;
// Provides the host memory for the device address that an allocation gets; nullptr: there is none.
using HostSource = std::function<HostBytes(std::uint64_t address, std::uint64_t bytes)>;

// Memory of the host behind `bytes` bytes at `base`.
struct Allocation {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  HostBytes host;
  std::string name;
  bool read_only = false;

  [[nodiscard]] bool holds(std::uint64_t address, std::uint64_t size) const {
    return address - base <= bytes && size <= bytes - (address - base);
  }
};

class DeviceHeap;

class AddressSpace {
 public:
  // `limit`: how many bytes may be allocated in all (an allocation past it is refused, as on a device that is full).
  explicit AddressSpace(std::uint64_t limit = std::uint64_t{1} << 36);
  AddressSpace(AddressSpace&&) noexcept;
  AddressSpace& operator=(AddressSpace&&) noexcept;
  ~AddressSpace();

  // Later allocations begin at multiples of `bytes`, a power of two of 512 or more.
  void align_to(std::uint64_t bytes) { alignment_ = bytes; }

  // The address of `bytes` bytes of poison, a multiple of 512; an allocation of no bytes has an address too.
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::string name);
  // An allocation in host memory of the caller's, with the contents that it has.
  Result<std::uint64_t> allocate(std::uint64_t bytes, std::string name, const HostSource& source);
  // An allocation at an address that another address space gave out: behind all allocations, with a page between.
  Result<void> allocate_at(std::uint64_t address, std::uint64_t bytes, std::string name, const HostSource& source);
  // Forgets the allocation that starts at `address`; its addresses are not given out again.
  Result<void> free(std::uint64_t address);
  // Kernels may use the addresses from `alias` on too for `bytes` bytes of an allocation at `address`, until it is
  // freed.
  Result<void> add_alias(std::uint64_t alias, std::uint64_t address, std::uint64_t bytes);
  // The address in its allocation of memory that kernels may use by another address; other addresses stay as they are.
  [[nodiscard]] std::uint64_t without_alias(std::uint64_t address) const {
    return aliases_.empty() ? address : resolve(address);
  }
  [[nodiscard]] bool has_aliases() const { return !aliases_.empty(); }
  // Stores from kernels into the allocation that starts at `address` are faults from now on.
  void make_read_only(std::uint64_t address);

  // The allocation on `address`'s page, or nullptr; the caller checks that it holds the bytes.
  [[nodiscard]] const Allocation* find(std::uint64_t address) const {
    const std::uint64_t page = (address - kGlobalBase) >> kPageBits;
    if (page >= pages_.size()) return nullptr;
    const std::uint32_t index = pages_[page];
    return index == kFree ? nullptr : &allocations_[index];
  }
  // Host memory of `size` bytes at `address`, or nullptr where they are not all inside one allocation.
  [[nodiscard]] std::byte* at(std::uint64_t address, std::uint64_t size) const {
    const Allocation* a = find(address);
    return a != nullptr && a->holds(address, size) ? a->host.get() + (address - a->base) : nullptr;
  }

  // Accesses by the host: copies in and out, fills. An error names the range that is not inside one allocation.
  Result<void> write(std::uint64_t address, const std::byte* from, std::uint64_t bytes);
  Result<void> read(std::uint64_t address, std::byte* to, std::uint64_t bytes) const;
  Result<void> fill(std::uint64_t address, std::byte value, std::uint64_t bytes);

  // "nearest allocation 'x' [0x…, 0x…) of 16 bytes ends 4 bytes before"; "no allocation" where there is none.
  [[nodiscard]] std::string nearest(std::uint64_t address) const;

  [[nodiscard]] std::uint64_t allocated_bytes() const { return used_; }

  // The heap of kernels; nullptr before make_heap().
  [[nodiscard]] DeviceHeap* heap() const { return heap_.get(); }
  Result<void> make_heap();
  // The same in host memory of the caller's.
  Result<void> make_heap(const HostSource& source);
  // The allocation that starts at `address` becomes the heap until it is freed, with at most `sm_bytes` for the blocks
  // of an SM. An error: kernels use the present heap.
  Result<void> use_as_heap(std::uint64_t address, std::uint64_t sm_bytes);
  // The address of zeros that the blocks of a cooperative launch synchronise with; one launch uses them at a time.
  Result<std::uint64_t> clear_workspace();

 private:
  static constexpr int kPageBits = 16;
  static constexpr std::uint32_t kFree = 0xffffffffU;

  Result<void> add(std::uint64_t address, std::uint64_t bytes, std::string name, const HostSource& source);
  [[nodiscard]] std::uint64_t resolve(std::uint64_t address) const;

  struct Alias {
    std::uint64_t bytes = 0;
    std::uint64_t address = 0;
  };

  std::vector<Allocation> allocations_;  // in the order of their addresses; a freed one keeps its place, without host
  std::vector<std::uint32_t> pages_;     // by page: index into allocations_
  std::map<std::uint64_t, Alias> aliases_;  // by their first address
  std::uint64_t limit_;
  std::uint64_t alignment_ = 512;
  std::uint64_t used_ = 0;
  std::unique_ptr<DeviceHeap> heap_;
  std::uint64_t workspace_ = 0;
};

}  // namespace wm::exec
