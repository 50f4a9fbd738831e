#include "exec/lane/compare.h"

namespace wm::exec {

using ptx::Suffix;

std::optional<Comparison> take_comparison(Form& form) {
  using enum Comparison;
  static constexpr std::pair<Suffix, Comparison> kNames[] = {
      {Suffix::eq, eq},   {Suffix::ne, ne},   {Suffix::lt, lt},   {Suffix::le, le},   {Suffix::gt, gt},
      {Suffix::ge, ge},   {Suffix::lo, lt},   {Suffix::ls, le},   {Suffix::hi, gt},   {Suffix::hs, ge},
      {Suffix::equ, equ}, {Suffix::neu, neu}, {Suffix::ltu, ltu}, {Suffix::leu, leu}, {Suffix::gtu, gtu},
      {Suffix::geu, geu}, {Suffix::num, num}, {Suffix::nan, nan},
  };
  for (const auto& [suffix, comparison] : kNames)
    if (form.take(suffix)) return comparison;
  return std::nullopt;
}

Join join_of(const ptx::Instruction& instruction) {
  if (instruction.has(Suffix::and_)) return Join::and_;
  if (instruction.has(Suffix::or_)) return Join::or_;
  return instruction.has(Suffix::xor_) ? Join::xor_ : Join::none;
}

Mask joined(const Operands& operands, const Frame& frame, Mask compared) {
  const auto join = static_cast<Join>(operands.immediate & 0xffU);
  if (join == Join::none) return compared;
  const Mask third = Source<Flag>(operands, frame, 2).mask;
  if (join == Join::and_) return compared & third;
  return join == Join::or_ ? compared | third : compared ^ third;
}

void write_setp(const Operands& operands, const Frame& frame, Mask compared) {
  const Mask p = joined(operands, frame, compared);
  const Mask q = operands.destination[1].none() ? 0 : joined(operands, frame, ~compared);
  write_mask(frame, operands.destination[0], p);
  write_mask(frame, operands.destination[1], q);
}

}  // namespace wm::exec
