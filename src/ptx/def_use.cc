#include "ptx/def_use.h"

namespace wm::ptx {

bool has_destination(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::st:
    case Opcode::red:
    case Opcode::prefetch:
    case Opcode::prefetchu:
    case Opcode::applypriority:
    case Opcode::discard:
    case Opcode::cp_async:
    case Opcode::cp_async_commit_group:
    case Opcode::cp_async_wait_group:
    case Opcode::cp_async_wait_all:
    case Opcode::cp_async_mbarrier_arrive:
    case Opcode::mbarrier_init:
    case Opcode::mbarrier_inval:
    case Opcode::mbarrier_expect_tx:
    case Opcode::mbarrier_complete_tx:
    case Opcode::stackrestore:
    case Opcode::sust_b:
    case Opcode::sust_p:
    case Opcode::sured_b:
    case Opcode::setmaxnreg:
    case Opcode::membar:
    case Opcode::fence:
    case Opcode::bar_warp:
    case Opcode::barrier_cluster:
    case Opcode::griddepcontrol:
    case Opcode::stmatrix:
    case Opcode::wmma_store_d:
    case Opcode::bra:
    case Opcode::brx_idx:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
    case Opcode::brkpt:
    case Opcode::nanosleep:
    case Opcode::pmevent:
      return false;
    case Opcode::bar:
    case Opcode::barrier:
      return instruction.has(Suffix::red);
    default:
      return true;
  }
}

}  // namespace wm::ptx
