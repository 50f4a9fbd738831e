#include "sim/cycle/sm/warp_table.h"

namespace wm::sim {

WarpTable::WarpTable(std::uint32_t slots, std::uint32_t schedulers)
    : slots_(slots), schedulers_(schedulers), free_(slots) {
  for (std::uint32_t i = 0; i < slots; ++i) {
    slots_[i].scheduler = static_cast<std::uint8_t>(i % schedulers);
    slots_[i].bit = WarpMask{1} << (i / schedulers);
  }
}

WarpSlot& WarpTable::claim(ResidentBlock& block, std::uint32_t index) {
  while (slots_[search_from_].state != WarpState::empty) search_from_ = (search_from_ + 1) % size();
  WarpSlot& w = slots_[search_from_];
  const TimedProgram& program = *block.run->kernel.program;
  w.warp = &block.run->block.warp(index);
  w.ahead = &block.run->ahead[index];
  w.front = w.ahead->begin();
  w.back = w.ahead->end();
  w.ops = program.ops.data();
  w.registers = program.program->registers.data();
  w.resident = &block;
  w.kernel = block.run->kernel.kernel_index;
  w.loads = 0;
  w.atomics = 0;
  w.copies.clear();
  w.age = ++ages_;
  w.line = ~0U;
  w.state = WarpState::done;
  block.warps[index] = static_cast<std::uint16_t>(search_from_);
  return w;
}

void WarpTable::release(WarpSlot& slot) {
  slot.ahead->go_to(slot.front);
  slot.state = WarpState::empty;
  slot.resident = nullptr;
  ++free_;
}

}  // namespace wm::sim
