#include "ptx/memory_effect.h"

#include <algorithm>

namespace wm::ptx {
namespace {

bool is_strong(const Instruction& i) {
  return i.has(Suffix::volatile_) || i.has(Suffix::relaxed) || i.has(Suffix::acquire) || i.has(Suffix::release);
}

}  // namespace

MemoryEffect memory_effect(const Instruction& instruction) {
  MemoryEffect effect{.fence = is_strong(instruction), .space = instruction.space()};
  switch (instruction.opcode) {
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::ldmatrix:
    case Opcode::wmma_load_a:
    case Opcode::wmma_load_b:
    case Opcode::wmma_load_c:
      effect.reads = true;
      effect.constant = instruction.has(Suffix::nc) || effect.space == Space::constant || effect.space == Space::param;
      return effect;
    case Opcode::st:
    case Opcode::stmatrix:
    case Opcode::wmma_store_d:
      effect.writes = true;
      return effect;
    case Opcode::tex:
    case Opcode::tld4:
      effect.reads = effect.constant = true;
      return effect;
    case Opcode::suld_b:
      effect.reads = true;
      return effect;
    case Opcode::sust_b:
    case Opcode::sust_p:
      effect.writes = true;
      return effect;
    case Opcode::atom:
    case Opcode::red:
    case Opcode::sured_b:
    case Opcode::cp_async:
    case Opcode::discard:
      effect.reads = effect.writes = effect.fence = true;
      effect.space = Space::generic;
      return effect;
    case Opcode::activemask:
    case Opcode::bar:
    case Opcode::bar_warp:
    case Opcode::barrier:
    case Opcode::barrier_cluster:
    case Opcode::brkpt:
    case Opcode::call:
    case Opcode::cp_async_commit_group:
    case Opcode::cp_async_wait_all:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_mbarrier_arrive:
    case Opcode::mbarrier_init:
    case Opcode::mbarrier_inval:
    case Opcode::mbarrier_expect_tx:
    case Opcode::mbarrier_complete_tx:
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_drop:
    case Opcode::mbarrier_test_wait:
    case Opcode::mbarrier_try_wait:
    case Opcode::alloca_:
    case Opcode::stacksave:
    case Opcode::stackrestore:
    case Opcode::setmaxnreg:
    case Opcode::elect:
    case Opcode::fence:
    case Opcode::griddepcontrol:
    case Opcode::match:
    case Opcode::membar:
    case Opcode::nanosleep:
    case Opcode::pmevent:
    case Opcode::redux:
    case Opcode::shfl:
    case Opcode::vote:
      effect.fence = true;
      return effect;
    default:
      return effect;
  }
}

bool may_overlap(Space a, Space b) { return a == b || a == Space::generic || b == Space::generic; }

bool reads_clock(const Instruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(), [](const Operand& o) {
    return o.kind == Operand::Kind::special &&
           (o.special == Special::clock || o.special == Special::clock_hi || o.special == Special::clock64 ||
            o.special == Special::globaltimer || o.special == Special::globaltimer_lo ||
            o.special == Special::globaltimer_hi);
  });
}

bool ends_block(const Instruction& i) {
  return i.opcode == Opcode::bra || i.opcode == Opcode::brx_idx || i.opcode == Opcode::ret ||
         i.opcode == Opcode::exit || i.opcode == Opcode::trap;
}

bool writes_carry(const Instruction& i) { return i.has(Suffix::cc); }

bool reads_carry(const Instruction& i) {
  return i.opcode == Opcode::addc || i.opcode == Opcode::subc || i.opcode == Opcode::madc;
}

}  // namespace wm::ptx
