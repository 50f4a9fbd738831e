// The heap behind malloc and free in kernels: one allocation of a client's memory, divided into an arena for each SM.
//
// Blocks of one SM never run at the same time on two threads of the host, so that an arena needs no lock and hands out
// the same addresses on every run. Memory that a block of another SM frees is not handed out again.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace wm::exec {

class DeviceHeap {
 public:
  static constexpr std::uint64_t kBytes = 32U << 20;

  // `sm_bytes`: the largest arena of an SM.
  explicit DeviceHeap(std::uint64_t base, std::uint64_t bytes = kBytes, std::uint64_t sm_bytes = ~std::uint64_t{0})
      : base_(base), bytes_(bytes), sm_bytes_(sm_bytes) {}

  [[nodiscard]] std::uint64_t base() const { return base_; }
  // Whether a kernel has allocated memory, freed since or not.
  [[nodiscard]] bool is_used() const;

  // An address aligned to 16 bytes, or 0 if the arena of `sm` is full. `sms`: of the machine.
  std::uint64_t allocate(std::uint64_t bytes, std::uint32_t sm, std::uint32_t sms);
  // Returns false for an address outside of the heap; 0 is allowed.
  bool free(std::uint64_t address, std::uint32_t sm);

 private:
  static constexpr std::uint32_t kArenas = 1024;
  struct Arena {
    std::uint64_t used = 0;                                     // bytes from its beginning
    std::map<std::uint64_t, std::uint64_t> allocated;           // sizes by address
    std::map<std::uint64_t, std::vector<std::uint64_t>> spare;  // addresses by size
  };

  std::uint64_t base_, bytes_, sm_bytes_;
  std::array<Arena, kArenas> arenas_;
};

}  // namespace wm::exec
