// The warp slots of an SM: the free ones, and the warp and block in each of the others.
//
// Slot i belongs to scheduler i % schedulers and is that scheduler's warp i / schedulers. Slots are claimed round
// robin, so that the warps of a block are spread over the schedulers. Room is reserved when a block is accepted; its
// slots are claimed when it begins.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/cycle/sm/warp_slot.h"

namespace wm::sim {

class WarpTable {
 public:
  WarpTable(std::uint32_t slots, std::uint32_t schedulers);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }
  [[nodiscard]] std::uint32_t schedulers() const { return schedulers_; }
  [[nodiscard]] std::uint32_t free() const { return free_; }
  void reserve(std::uint32_t warps) { free_ -= warps; }

  // Takes a free slot, for which there must be room, for warp `index` of the block. The warp is in state `done` until
  // a caller says otherwise.
  WarpSlot& claim(ResidentBlock& block, std::uint32_t index);
  // Empties the slot; operations that its warp executed ahead stay with the block.
  void release(WarpSlot& slot);

  [[nodiscard]] WarpSlot& operator[](std::uint32_t number) { return slots_[number]; }
  [[nodiscard]] const WarpSlot& operator[](std::uint32_t number) const { return slots_[number]; }
  [[nodiscard]] WarpSlot& of(std::uint32_t scheduler, std::uint32_t warp) {
    return slots_[warp * schedulers_ + scheduler];
  }
  [[nodiscard]] const WarpSlot& of(std::uint32_t scheduler, std::uint32_t warp) const {
    return slots_[warp * schedulers_ + scheduler];
  }
  [[nodiscard]] std::uint32_t number_of(const WarpSlot& slot) const {
    return static_cast<std::uint32_t>(&slot - slots_.data());
  }
  // The slot's number among the warps of its scheduler.
  [[nodiscard]] std::uint32_t index_of(const WarpSlot& slot) const { return number_of(slot) / schedulers_; }

 private:
  std::vector<WarpSlot> slots_;
  std::uint32_t schedulers_;
  std::uint32_t free_;
  std::uint32_t search_from_ = 0;
  std::uint64_t ages_ = 0;
};

}  // namespace wm::sim
