#include "exec/instruction_class.h"

namespace wm::exec {

using ptx::Opcode;
using ptx::Suffix;
using ptx::Type;

std::string_view name(Class c) {
  switch (c) {
    case Class::integer:
      return "integer";
    case Class::fp32:
      return "fp32";
    case Class::fp64:
      return "fp64";
    case Class::fp16:
      return "fp16";
    case Class::special_function:
      return "special function";
    case Class::tensor:
      return "tensor";
    case Class::conversion:
      return "conversion";
    case Class::move:
      return "move";
    case Class::load:
      return "load";
    case Class::store:
      return "store";
    case Class::atomic:
      return "atomic";
    case Class::branch:
      return "branch";
    case Class::barrier:
      return "barrier";
    case Class::exchange:
      return "exchange";
    case Class::other:
      return "other";
  }
  return "other";
}

namespace {

Class by_type(Type type) {
  switch (type) {
    case Type::f64:
      return Class::fp64;
    case Type::f32:
    case Type::tf32:
      return Class::fp32;
    case Type::f16:
    case Type::f16x2:
    case Type::bf16:
    case Type::bf16x2:
      return Class::fp16;
    default:
      return Class::integer;
  }
}

}  // namespace

Class classify(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::rcp:
    case Opcode::sqrt:
    case Opcode::rsqrt:
    case Opcode::div:
      if (instruction.type() == Type::f64) return Class::fp64;
      return ptx::is_float(instruction.type()) ? Class::special_function : Class::integer;
    case Opcode::sin:
    case Opcode::cos:
    case Opcode::lg2:
    case Opcode::ex2:
    case Opcode::tanh:
      return Class::special_function;
    case Opcode::set:
      return by_type(instruction.types.size() > 1 ? instruction.types[1] : instruction.type());
    case Opcode::mov:
    case Opcode::movmatrix:
      return Class::move;
    case Opcode::cvt:
    case Opcode::cvt_pack:
      return Class::conversion;
    case Opcode::mma:
    case Opcode::wmma_mma:
      return Class::tensor;
    case Opcode::ld:
    case Opcode::ldu:
    case Opcode::cp_async:
    case Opcode::ldmatrix:
    case Opcode::tex:
    case Opcode::tld4:
    case Opcode::suld_b:
    case Opcode::wmma_load_a:
    case Opcode::wmma_load_b:
    case Opcode::wmma_load_c:
      return Class::load;
    case Opcode::st:
    case Opcode::stmatrix:
    case Opcode::sust_b:
    case Opcode::sust_p:
    case Opcode::wmma_store_d:
      return Class::store;
    case Opcode::atom:
    case Opcode::red:
    case Opcode::sured_b:
    case Opcode::mbarrier_init:
    case Opcode::mbarrier_inval:
    case Opcode::mbarrier_expect_tx:
    case Opcode::mbarrier_complete_tx:
    case Opcode::mbarrier_arrive:
    case Opcode::mbarrier_arrive_drop:
    case Opcode::mbarrier_test_wait:
    case Opcode::mbarrier_try_wait:
    case Opcode::cp_async_mbarrier_arrive:
      return Class::atomic;
    case Opcode::bra:
    case Opcode::brx_idx:
    case Opcode::call:
    case Opcode::ret:
    case Opcode::exit:
    case Opcode::trap:
    case Opcode::brkpt:
      return Class::branch;
    case Opcode::bar:
    case Opcode::bar_warp:
    case Opcode::barrier:
    case Opcode::barrier_cluster:
      return Class::barrier;
    case Opcode::vote:
    case Opcode::match:
    case Opcode::shfl:
    case Opcode::redux:
    case Opcode::activemask:
    case Opcode::elect:
      return Class::exchange;
    case Opcode::cvta:
    case Opcode::isspacep:
    case Opcode::mapa:
    case Opcode::getctarank:
      return Class::integer;
    default:
      // Arithmetic, bits, comparison and selection stand before mov in the list of opcodes.
      return instruction.opcode < Opcode::mov ? by_type(instruction.type()) : Class::other;
  }
}

}  // namespace wm::exec
