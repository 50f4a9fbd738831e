// Static instruction counts of a function, by the unit that would execute the instructions.
#include "ptx/analysis.h"

namespace wm::ptx {
namespace {

using Counter = std::uint32_t StaticCounts::*;

// Arithmetic goes by its type.
Counter by_type(Type type) {
  if (type == Type::f64) return &StaticCounts::fp64;
  if (type == Type::f32 || type == Type::tf32) return &StaticCounts::fp32;
  return is_float(type) ? &StaticCounts::fp16 : &StaticCounts::integer;
}

Counter kind_of(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::mov:
      return &StaticCounts::moves;
    case Opcode::cvt:
    case Opcode::cvt_pack:
      return &StaticCounts::conversions;
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::ldmatrix:
    case Opcode::cp_async:
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::suld_b:
      return &StaticCounts::loads;
    case Opcode::st:
    case Opcode::stmatrix:
    case Opcode::sust_b:
    case Opcode::sust_p:
      return &StaticCounts::stores;
    case Opcode::atom:
    case Opcode::red:
    case Opcode::sured_b:
      return &StaticCounts::atomics;
    case Opcode::bar:
    case Opcode::bar_warp:
    case Opcode::barrier:
    case Opcode::barrier_cluster:
      return &StaticCounts::barriers;
    case Opcode::bra:
    case Opcode::brx_idx:
    case Opcode::ret:
    case Opcode::exit:
      return &StaticCounts::branches;
    case Opcode::call:
      return &StaticCounts::calls;
    case Opcode::mma:
    case Opcode::wmma_mma:
      return &StaticCounts::tensor;
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::lg2:
    case Opcode::ex2:
    case Opcode::tanh:
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
      return &StaticCounts::special_function;
    case Opcode::set:
      return by_type(instruction.types[1]);  // type of the compared values
    default:
      return instruction.types.empty() ? nullptr : by_type(instruction.type());
  }
}

}  // namespace

StaticCounts static_counts(const Function& function) {
  StaticCounts counts;
  for (const Instruction& instruction : function.body) {
    ++counts.instructions;
    if (const Counter counter = kind_of(instruction)) ++(counts.*counter);
  }
  return counts;
}

}  // namespace wm::ptx
