// Operands into rows.
#include <fmt/format.h>

#include "exec/decode/function_decoder.h"
#include "exec/special.h"

namespace wm::exec {

using ptx::Space;
using ptx::Type;

Type FunctionDecoder::reg_type(const Operand& operand) const {
  if (operand.kind == Operand::Kind::reg) return function_.registers[operand.index].type;
  if (operand.kind == Operand::Kind::pair) return reg_type(operand.elements[0]);
  return Type::none;
}

RegisterRow FunctionDecoder::destination(const Operand& operand) const {
  return operand.kind == Operand::Kind::reg ? reg(operand.index) : RegisterRow{};
}

RegisterRow FunctionDecoder::source(const Operand& operand, Type type) {
  const int bytes = lane_bytes(type);
  switch (operand.kind) {
    case Operand::Kind::reg:
      return reg(operand.index);
    case Operand::Kind::integer:
    case Operand::Kind::f32:
    case Operand::Kind::f64:
      return bytes == 0 ? pool_.predicate(operand.bits != 0) : pool_.row(bytes, operand.bits);
    case Operand::Kind::special:
      return special_row(operand.special, bytes);
    case Operand::Kind::variable:
      return address_row(operand, bytes);
    case Operand::Kind::function:
      return pool_.row(bytes, function_address(operand.index));
    default:
      return {};
  }
}

RegisterRow FunctionDecoder::special_row(ptx::Special special, int bytes) {
  const auto [at, fresh] = specials_.try_emplace({special, bytes});
  if (fresh) at->second = fresh_row(bytes);
  return at->second;
}

const ptx::Variable& FunctionDecoder::variable(const Operand& operand) const {
  switch (operand.scope) {
    case Operand::Scope::parameter:
      return function_.parameters[operand.index];
    case Operand::Scope::result:
      return function_.results[operand.index];
    case Operand::Scope::local:
      return function_.variables[operand.index];
    default:
      return module_.variables[operand.index];
  }
}

std::uint64_t FunctionDecoder::shared_offset(const Operand& operand) const {
  const std::uint32_t scope = operand.scope == Operand::Scope::module ? ModuleLayout::kModuleScope : index_;
  return layout_.shared.at({scope, operand.index});
}

std::uint64_t FunctionDecoder::parameter_address(const Operand& operand) const {
  switch (operand.scope) {
    case Operand::Scope::parameter:
      return (function_.entry ? 0 : kFrameParameters) + parameter_offsets_[operand.index];
    case Operand::Scope::result:
      return kFrameParameters + result_offsets_[operand.index];
    default:
      return kFrameParameters + variable_offsets_[operand.index];
  }
}

// The address of a variable as a value: known now, when the module is loaded, or when the frame begins.
RegisterRow FunctionDecoder::address_row(const Operand& operand, int bytes) {
  const ptx::Variable& v = variable(operand);
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  switch (v.space) {
    case Space::shared:
      return pool_.row(bytes, shared_offset(operand) + offset);
    case Space::param:
      return pool_.row(bytes, parameter_address(operand) + offset);
    case Space::local: {
      const auto [at, fresh] = local_addresses_.try_emplace({variable_offsets_[operand.index] + offset, bytes});
      if (fresh) at->second = fresh_row(bytes);
      return at->second;
    }
    default:
      return pool_.address(bytes, operand.index, operand.offset);
  }
}

void FunctionDecoder::keep_rows(Op& op, std::vector<RegisterRow> rows) {
  auto& kept = program_.operand_rows.emplace_back(std::make_unique<RegisterRow[]>(rows.size()));
  std::copy(rows.begin(), rows.end(), kept.get());
  op.operands.more = {kept.get(), rows.size()};
}

}  // namespace wm::exec
