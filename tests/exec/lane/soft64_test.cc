// f64 arithmetic in integers against the host's, in every rounding that the host has.
#include "exec/lane/soft64.h"

#include <bit>
#include <cfenv>
#include <cmath>
#include <gtest/gtest.h>
#include <vector>

#include "base/random.h"

namespace wm::exec {
namespace {

// Zeros, subnormals, powers of two and their neighbours, the largest, and numbers of any exponent.
std::vector<double> operands() {
  std::vector<double> all{0.0,
                          0x1p-1074,
                          0x3p-1074,
                          0x1.fffffffffffffp-1023,
                          0x1p-1022,
                          0x1.0000000000001p-1022,
                          1.0,
                          0x1.0000000000001p0,
                          0x1.fffffffffffffp-1,
                          3.0,
                          0x1p53,
                          0x1.fffffffffffffp1023,
                          0x1p1023};
  Random random(5);
  for (int i = 0; i < 60; ++i) {
    const std::uint64_t exponent = i % 2 == 0 ? 1023 - 30 + random.below(60) : random.below(2047);
    const std::uint64_t fraction = std::uint64_t{random.below(1U << 26)} << 26 | random.below(1U << 26);
    all.push_back(std::bit_cast<double>(exponent << 52 | fraction));
  }
  const std::size_t count = all.size();
  for (std::size_t i = 0; i < count; ++i) all.push_back(-all[i]);
  return all;
}

struct HostRounding {
  explicit HostRounding(int mode) { std::fesetround(mode); }
  ~HostRounding() { std::fesetround(FE_TONEAREST); }
  HostRounding(const HostRounding&) = delete;
  HostRounding& operator=(const HostRounding&) = delete;
};

// The operands are volatile, so that the compiler computes nothing before the mode is set.
template <typename F>
std::uint64_t host(int mode, F&& compute) {
  const HostRounding set(mode);
  const volatile double result = compute();
  return std::bit_cast<std::uint64_t>(static_cast<double>(result));
}

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

class Soft64 : public testing::TestWithParam<std::pair<Rounding, int>> {};

TEST_P(Soft64, GivesTheHostsSumsProductsQuotientsAndRoots) {
  const auto [rounding, mode] = GetParam();
  const std::vector<double> all = operands();
  for (const double a : all) {
    const volatile double x = a;
    if (a > 0) {
      ASSERT_EQ(bits(round_to_double(exact_root(a), rounding)), host(mode, [&] { return std::sqrt(x); })) << a;
    }
    for (const double b : all) {
      const volatile double y = b;
      SCOPED_TRACE(testing::Message() << std::hexfloat << a << " and " << b);
      ASSERT_EQ(bits(round_to_double(exact_sum(exact(a), exact(b), rounding), rounding)),
                host(mode, [&] { return x + y; }));
      ASSERT_EQ(bits(round_to_double(exact_product(a, b), rounding)), host(mode, [&] { return x * y; }));
      if (b != 0) {
        ASSERT_EQ(bits(round_to_double(exact_quotient(a, b), rounding)), host(mode, [&] { return x / y; }));
      }
    }
  }
}

TEST_P(Soft64, GivesTheHostsFusedProducts) {
  const auto [rounding, mode] = GetParam();
  const std::vector<double> all = operands();
  Random random(9);
  const auto any = [&] { return all[random.below(static_cast<std::uint32_t>(all.size()))]; };
  for (int i = 0; i < 20000; ++i) {
    const double a = any(), b = any();
    // Every third addend nearly cancels the product.
    const double c = i % 3 == 0 && std::isfinite(a * b) ? -std::nextafter(a * b, any()) : any();
    const volatile double x = a, y = b, z = c;
    SCOPED_TRACE(testing::Message() << std::hexfloat << a << " * " << b << " + " << c);
    ASSERT_EQ(bits(round_to_double(exact_sum(exact_product(a, b), exact(c), rounding), rounding)),
              host(mode, [&] { return std::fma(x, y, z); }));
  }
}

INSTANTIATE_TEST_SUITE_P(Roundings, Soft64,
                         testing::Values(std::pair{Rounding::rn, FE_TONEAREST}, std::pair{Rounding::rz, FE_TOWARDZERO},
                                         std::pair{Rounding::rm, FE_DOWNWARD}, std::pair{Rounding::rp, FE_UPWARD}));

}  // namespace
}  // namespace wm::exec
