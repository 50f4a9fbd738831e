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

template <FmaSigns Signs, bool Ftz, bool Sat>
WM_LANE float signed_fma32(float a, float b, float c) {
  return fma32<Rounding::rn, Ftz, Sat>(Signs.product ? -a : a, b, Signs.addend ? -c : c);
}
template <FmaSigns Signs, bool Ftz, bool Sat>
WM_LANE void nearest(const Operands& operands, const Frame& frame) {
  constexpr auto kFunction = signed_fma32<Signs, Ftz, Sat>;
  detail::run<kFunction>(operands, frame, kFunction);
}

// Every sign, with and without .ftz and .sat. GCC clones no templates, so that each is a function of its own.
#define WM_FMA(name, signs)                                                                             \
  WM_FUSED void name(const Operands& o, const Frame& f) { nearest<signs, false, false>(o, f); }         \
  WM_FUSED void name##_ftz(const Operands& o, const Frame& f) { nearest<signs, true, false>(o, f); }    \
  WM_FUSED void name##_sat(const Operands& o, const Frame& f) { nearest<signs, false, true>(o, f); }    \
  WM_FUSED void name##_ftz_sat(const Operands& o, const Frame& f) { nearest<signs, true, true>(o, f); } \
  LaneOp name##_of(bool ftz, bool sat) { return ftz ? (sat ? name##_ftz_sat : name##_ftz) : (sat ? name##_sat : name); }
WM_FMA(fma_rn, kPlus)
WM_FMA(fma_rn_minus_product, kMinusProduct)
WM_FMA(fma_rn_minus_addend, kMinusAddend)
WM_FMA(fma_rn_minus_both, kMinusBoth)
#undef WM_FMA

// A NaN keeps its sign, negated or not.
template <FmaSigns Signs>
WM_LANE double fma64(double a, double b, double c) {
  return settled(std::fma(Signs.product ? -a : a, b, Signs.addend ? -c : c), a, c, b);
}
WM_FUSED void fma64_rn(const Operands& o, const Frame& f) { detail::run<fma64<kPlus>>(o, f, fma64<kPlus>); }
WM_FUSED void fma64_rn_minus_product(const Operands& o, const Frame& f) {
  detail::run<fma64<kMinusProduct>>(o, f, fma64<kMinusProduct>);
}
WM_FUSED void fma64_rn_minus_addend(const Operands& o, const Frame& f) {
  detail::run<fma64<kMinusAddend>>(o, f, fma64<kMinusAddend>);
}
WM_FUSED void fma64_rn_minus_both(const Operands& o, const Frame& f) {
  detail::run<fma64<kMinusBoth>>(o, f, fma64<kMinusBoth>);
}

}  // namespace

FmaSigns fma_signs(const ptx::Instruction& instruction) {
  const auto negated = [&](std::size_t i) {
    return i < instruction.operands.size() && instruction.operands[i].negated;
  };
  return {negated(1) != negated(2), negated(3)};
}

LaneOp float64_fma_nearest(FmaSigns signs) {
  if (signs.product) return signs.addend ? fma64_rn_minus_both : fma64_rn_minus_product;
  return signs.addend ? fma64_rn_minus_addend : fma64_rn;
}

LaneOp float32_fma(Form& form) {
  const Rounding rounding = form.take_rounding().value_or(Rounding::rn);
  const bool ftz = form.take(ptx::Suffix::ftz), sat = form.take(ptx::Suffix::sat);
  const FmaSigns signs = fma_signs(form.instruction());
  if (rounding == Rounding::rn) {
    if (signs.product) return signs.addend ? fma_rn_minus_both_of(ftz, sat) : fma_rn_minus_product_of(ftz, sat);
    return signs.addend ? fma_rn_minus_addend_of(ftz, sat) : fma_rn_of(ftz, sat);
  }
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
