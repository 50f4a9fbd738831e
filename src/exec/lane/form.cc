#include "exec/lane/form.h"

namespace wm::exec {

using ptx::Suffix;
using ptx::Type;

Type Form::type(std::size_t index) const {
  return index < instruction_.types.size() ? instruction_.types[index] : Type::none;
}

int Form::row_bytes(std::size_t operand, Type type) const {
  if (operand < operand_types_.size() && operand_types_[operand] != Type::none)
    return ptx::bytes(operand_types_[operand]);
  return ptx::bytes(type);
}

bool Form::take(Suffix suffix) {
  for (std::size_t i = 0; i < taken_.size(); ++i) {
    if (instruction_.suffixes[i] != suffix || taken_[i]) continue;
    taken_[i] = true;
    return true;
  }
  return false;
}

std::optional<Rounding> Form::take_rounding() {
  if (take(Suffix::rn)) return Rounding::rn;
  if (take(Suffix::rz)) return Rounding::rz;
  if (take(Suffix::rm)) return Rounding::rm;
  if (take(Suffix::rp)) return Rounding::rp;
  if (take(Suffix::rna)) return Rounding::rna;
  return std::nullopt;
}

std::optional<Rounding> Form::take_integer_rounding() {
  if (take(Suffix::rni)) return Rounding::rn;
  if (take(Suffix::rzi)) return Rounding::rz;
  if (take(Suffix::rmi)) return Rounding::rm;
  if (take(Suffix::rpi)) return Rounding::rp;
  return std::nullopt;
}

std::optional<Suffix> Form::left_over() const {
  for (std::size_t i = 0; i < taken_.size(); ++i)
    if (!taken_[i]) return instruction_.suffixes[i];
  return std::nullopt;
}

}  // namespace wm::exec
