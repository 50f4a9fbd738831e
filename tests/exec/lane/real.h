// A real number of MPFR's with the few operations the references need, and its rounding into a format.
#pragma once

#include <mpfr.h>
#include <string>

#include "exec/lane/reference.h"

namespace wm::exec::test {

class Real {
 public:
  explicit Real(int precision = 256) { mpfr_init2(value_, precision); }
  Real(const Real&) = delete;
  Real& operator=(const Real&) = delete;
  ~Real() { mpfr_clear(value_); }

  static void set(Real& real, double x) { mpfr_set_d(real.value_, x, MPFR_RNDN); }
  [[nodiscard]] mpfr_ptr get() { return value_; }

 private:
  mpfr_t value_;
};

enum class Direction { nearest, zero, down, up };
// rn, rz, rm, rp or their integer forms; nearest where there is none.
Direction direction_of(const Name& name);
mpfr_rnd_t mode_of(Direction direction);

// `operate(result, mode)` computes into a number of the format's precision and returns MPFR's ternary value; the range
// of the format and its subnormals are applied as IEEE has them. The result is a value of the format, or NaN.
// With `flush`, what is below the normal numbers before its range is applied becomes zero.
template <typename Operate>
double rounded(const Format& format, Direction direction, Operate&& operate, bool flush = false) {
  Real result(format.fraction + 1);
  const mpfr_rnd_t mode = mode_of(direction);
  int ternary = operate(result.get(), mode);
  if (flush && mpfr_regular_p(result.get()) != 0 && mpfr_get_exp(result.get()) < 2 - format.bias())
    return mpfr_signbit(result.get()) != 0 ? -0.0 : 0.0;
  const mpfr_exp_t low = mpfr_get_emin(), high = mpfr_get_emax();
  // E4M3 spends no exponent on infinity.
  mpfr_set_emax(format.bias() + (format.exponent == 4 ? 2 : 1));
  mpfr_set_emin(3 - format.bias() - format.fraction - 1);
  ternary = mpfr_check_range(result.get(), ternary, mode);
  mpfr_subnormalize(result.get(), ternary, mode);
  const double value = mpfr_get_d(result.get(), MPFR_RNDN);
  mpfr_set_emin(low), mpfr_set_emax(high);
  return value;
}

// The allowed distance of an approximation from the exact value, and whether `bits` keeps it.
// On failure `why` contains the expected value.
bool within_bound(const Form& form, const Name& name, const Element& in, std::uint64_t bits, std::string& why);

}  // namespace wm::exec::test
