// add, sub, mul on f32.
#include "exec/lane/float32.h"

#include "exec/lane/form.h"

namespace wm::exec {

LaneOp float32_arithmetic(Form& form) {
  const Rounding rounding = form.take_rounding().value_or(Rounding::rn);
  const bool ftz = form.take(ptx::Suffix::ftz), sat = form.take(ptx::Suffix::sat);
  return by_rounding(rounding, [&](auto r) {
    return by_flag(ftz, [&](auto f) {
      return by_flag(sat, [&](auto s) -> LaneOp {
        switch (form.opcode()) {
          case ptx::Opcode::add:
            return lanes<add32<r(), f(), s()>>;
          case ptx::Opcode::sub:
            return lanes<sub32<r(), f(), s()>>;
          case ptx::Opcode::mul:
            return lanes<mul32<r(), f(), s()>>;
          default:
            return nullptr;
        }
      });
    });
  });
}

}  // namespace wm::exec
