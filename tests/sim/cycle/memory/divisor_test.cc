#include "sim/cycle/memory/divisor.h"

#include <gtest/gtest.h>

namespace wm::sim::test {
namespace {

TEST(Divisor, DividesAsTheHostDoes) {
  for (const std::uint32_t d : {1U, 2U, 3U, 5U, 8U, 12U, 80U, 96U, 1U << 31, ~0U}) {
    const Divisor divisor(d);
    EXPECT_EQ(divisor.value(), d);
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{d} - 1, std::uint64_t{d},
                                  std::uint64_t{d} * 7 + 3, ~std::uint64_t{0}}) {
      EXPECT_EQ(n / divisor, n / d) << n << " / " << d;
      EXPECT_EQ(n % divisor, n % d) << n << " % " << d;
    }
  }
}

}  // namespace
}  // namespace wm::sim::test
