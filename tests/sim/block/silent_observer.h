// An observer that counts nothing. Its presence makes the block machine visit every block.
#pragma once

#include "sim/block/system.h"

namespace wm::sim {

class SilentObserver final : public SystemObserver {
 public:
  void block_began(const ObservedBlock&, std::uint64_t, std::uint64_t, bool) override {}
  void block_left(const ObservedBlock&, std::uint64_t, bool) override {}
  void cpu_phase(std::uint32_t, std::uint64_t, std::uint64_t) override {}
  void transfer(std::uint32_t, bool, std::uint64_t, std::uint64_t, std::uint64_t) override {}
  void launch_began(std::uint32_t, std::uint32_t, const KernelModel&, std::uint64_t) override {}
  void launch_ended(std::uint32_t, std::uint32_t, std::uint64_t) override {}
  void run_ended(std::uint32_t, std::uint64_t, std::uint64_t) override {}
};

}  // namespace wm::sim
