// fma and mad on f32, and on f64 to nearest.
//
// Plain x86-64 has no fused instruction, and the library's function costs a call a lane: there, rounding to nearest is
// compiled twice and the loader takes the one the machine can run. The results are the same bits.
#include "exec/lane/float32.h"
#include "exec/lane/form.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define WM_FUSED __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define WM_FUSED
#endif

namespace wm::exec {

namespace {

template <bool Ftz, bool Sat>
WM_LANE void nearest(const Operands& operands, const Frame& frame) {
  constexpr auto kFunction = fma32<Rounding::rn, Ftz, Sat>;
  detail::run<kFunction>(operands, frame, kFunction);
}

WM_FUSED void fma_rn(const Operands& operands, const Frame& frame) { nearest<false, false>(operands, frame); }
WM_FUSED void fma_rn_ftz(const Operands& operands, const Frame& frame) { nearest<true, false>(operands, frame); }
WM_FUSED void fma_rn_sat(const Operands& operands, const Frame& frame) { nearest<false, true>(operands, frame); }
WM_FUSED void fma_rn_ftz_sat(const Operands& operands, const Frame& frame) { nearest<true, true>(operands, frame); }

WM_LANE double fma64(double a, double b, double c) { return settled(std::fma(a, b, c), a, c, b); }
WM_FUSED void fma64_rn(const Operands& operands, const Frame& frame) { detail::run<fma64>(operands, frame, fma64); }

}  // namespace

LaneOp float64_fma_nearest() { return fma64_rn; }

LaneOp float32_fma(Form& form) {
  const Rounding rounding = form.take_rounding().value_or(Rounding::rn);
  const bool ftz = form.take(ptx::Suffix::ftz), sat = form.take(ptx::Suffix::sat);
  if (rounding == Rounding::rn) return ftz ? (sat ? fma_rn_ftz_sat : fma_rn_ftz) : (sat ? fma_rn_sat : fma_rn);
  return by_rounding(rounding, [&](auto r) {
    return by_flag(ftz, [&](auto f) {
      return by_flag(sat, [&](auto s) -> LaneOp {
        if constexpr (r() == Rounding::rn) return nullptr;
        return lanes<fma32<r(), f(), s()>>;
      });
    });
  });
}

}  // namespace wm::exec
