// Decodes operations across warps and blocks, and the few instructions that are executed as a move.
#include <algorithm>

#include "exec/decode/function_decoder.h"

namespace wm::exec {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

namespace {

Mode mode_of(const ptx::Instruction& i) {
  for (const Suffix s : i.suffixes) {
    switch (s) {
      case Suffix::all:
        return Mode::all;
      case Suffix::any:
        return Mode::any;
      case Suffix::uni:
        return Mode::uni;
      case Suffix::ballot:
        return Mode::ballot;
      case Suffix::up:
        return Mode::up;
      case Suffix::down:
        return Mode::down;
      case Suffix::bfly:
        return Mode::bfly;
      case Suffix::idx:
        return Mode::idx;
      case Suffix::add:
        return Mode::add;
      case Suffix::min:
        return Mode::min;
      case Suffix::max:
        return Mode::max;
      case Suffix::and_:
        return Mode::and_;
      case Suffix::or_:
        return Mode::or_;
      case Suffix::xor_:
        return Mode::xor_;
      default:
        break;
    }
  }
  return Mode::none;
}

Mode barrier_mode(const ptx::Instruction& i) {
  if (i.has(Suffix::arrive)) return Mode::arrive;
  if (!i.has(Suffix::red)) return Mode::sync;
  if (i.has(Suffix::popc)) return Mode::red_popc;
  return i.has(Suffix::and_) ? Mode::red_and : Mode::red_or;
}

}  // namespace

bool FunctionDecoder::cooperation(const Instruction& instruction, Op& op) {
  const auto& operands = instruction.operands;
  const auto take = [&](std::size_t to, std::size_t from, Type type) {
    op.operands.source[to] = source(operands[from], type);
    op.operands.negated[to] = operands[from].negated;
  };
  const auto give = [&] {
    if (operands[0].kind == Operand::Kind::pair)
      op.operands.destination = {destination(operands[0].elements[0]), destination(operands[0].elements[1])};
    else
      op.operands.destination[0] = destination(operands[0]);
  };
  op.mode = mode_of(instruction);
  op.synchronous = instruction.has(Suffix::sync);
  op.memory.bytes = 4;
  switch (instruction.opcode) {
    case Opcode::bar:
    case Opcode::barrier: {
      op.kind = Kind::barrier;
      op.mode = barrier_mode(instruction);
      const bool reduces = instruction.has(Suffix::red);
      const std::size_t first = reduces ? 1 : 0;
      const std::size_t last = operands.size() - (reduces ? 1 : 0);  // one past id and count
      if (reduces) give();
      take(0, first, Type::u32);
      if (last - first > 1) take(1, first + 1, Type::u32);
      if (reduces) take(2, last, Type::pred);
      return true;
    }
    case Opcode::bar_warp:
      op.kind = Kind::warp_barrier;
      take(0, 0, Type::b32);
      return true;
    case Opcode::vote:
      op.kind = Kind::vote;
      give();
      take(0, 1, Type::pred);
      if (op.synchronous) take(1, 2, Type::b32);
      return true;
    case Opcode::match:
      op.kind = Kind::match;
      op.memory.bytes = static_cast<std::uint8_t>(lane_bytes(instruction.type()));
      give();
      take(0, 1, instruction.type());
      take(1, 2, Type::b32);
      return true;
    case Opcode::shfl:
      op.kind = Kind::shuffle;
      give();
      take(0, 1, Type::b32);
      take(1, 2, Type::b32);
      take(2, 3, Type::b32);
      if (op.synchronous) take(3, 4, Type::b32);
      return true;
    case Opcode::redux:
      op.kind = Kind::warp_reduce;
      op.memory.sign_extend = ptx::is_signed(instruction.type());
      give();
      take(0, 1, Type::b32);
      take(1, 2, Type::b32);
      return true;
    case Opcode::activemask:
      op.kind = Kind::active_mask;
      give();
      return true;
    case Opcode::elect:
      op.kind = Kind::elect;
      give();
      take(0, 1, Type::b32);
      return true;
    case Opcode::movmatrix:
      op.kind = Kind::matrix_move;
      give();
      take(0, 1, Type::b32);
      return true;
    case Opcode::createpolicy:
    case Opcode::getctarank:
    case Opcode::mapa: {
      // A cache policy is an unused number; a block is the only one of its cluster, so its rank is 0 and its
      // shared addresses are the cluster's.
      Instruction move;
      move.opcode = Opcode::mov;
      move.types = {instruction.opcode == Opcode::getctarank ? Type::b32 : instruction.type()};
      move.operands = {operands[0], instruction.opcode == Opcode::mapa ? operands[1] : Operand{}};
      move.position = instruction.position;
      return lane(move, op);
    }
    default:
      return false;
  }
}

namespace {

Mode mbarrier_mode(const ptx::Instruction& i) {
  switch (i.opcode) {
    case Opcode::mbarrier_init:
      return Mode::mbarrier_init;
    case Opcode::mbarrier_inval:
      return Mode::mbarrier_inval;
    case Opcode::mbarrier_expect_tx:
      return Mode::mbarrier_expect;
    case Opcode::mbarrier_complete_tx:
      return Mode::mbarrier_complete;
    case Opcode::mbarrier_arrive:
      return i.has(Suffix::expect_tx) ? Mode::mbarrier_arrive_expect : Mode::mbarrier_arrive;
    case Opcode::mbarrier_arrive_drop:
      return i.has(Suffix::expect_tx) ? Mode::mbarrier_drop_expect : Mode::mbarrier_drop;
    case Opcode::cp_async_mbarrier_arrive:
      return Mode::mbarrier_arrive;
    case Opcode::mbarrier_pending_count:
      return Mode::mbarrier_pending;
    default:
      return i.has(Suffix::parity) ? Mode::mbarrier_wait_parity : Mode::mbarrier_wait;
  }
}

}  // namespace

bool FunctionDecoder::mbarrier(const Instruction& instruction, Op& op) {
  const auto& operands = instruction.operands;
  const bool listed =
      (instruction.opcode >= Opcode::mbarrier_init && instruction.opcode <= Opcode::mbarrier_pending_count);
  const bool copies = instruction.opcode == Opcode::cp_async_mbarrier_arrive;
  if (!listed && !copies) return false;
  op.kind = Kind::mbarrier;
  op.mode = mbarrier_mode(instruction);
  if (op.mode == Mode::mbarrier_pending) {
    op.operands.destination[0] = destination(operands[0]);
    op.operands.source[0] = source(operands[1], Type::b64);
    return true;
  }
  // Copies are complete when they are issued. Without .noinc the arrival they cause is announced and made at once.
  if (copies && !instruction.has(Suffix::noinc)) {
    op.kind = Kind::nothing;
    return true;
  }
  const auto at =
      static_cast<std::size_t>(std::find_if(operands.begin(), operands.end(),
                                            [](const Operand& o) { return o.kind == Operand::Kind::address; }) -
                               operands.begin());
  op.memory = access(instruction, operands[at], instruction.space(), Type::b64);
  const bool waits = op.mode == Mode::mbarrier_wait || op.mode == Mode::mbarrier_wait_parity;
  op.memory.spins = waits;
  if (at == 1) op.operands.destination[0] = destination(operands[0]);
  if (operands.size() > at + 1)
    op.operands.source[0] = source(operands[at + 1], op.mode == Mode::mbarrier_wait ? Type::b64 : Type::u32);
  return true;
}

}  // namespace wm::exec
