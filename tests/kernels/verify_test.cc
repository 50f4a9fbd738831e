#include <cmath>
#include <gtest/gtest.h>

#include "kernels/benchmark.h"

namespace wm::zoo {

namespace {

// The message of verify for a buffer "out" that should hold `expected` and holds `got`.
template <typename T>
std::string verdict(const std::vector<T>& expected, const std::vector<T>& got, double absolute = 0,
                    double relative = 0) {
  Case c;
  const gpu::BufferId out = c.application.add_uninitialized("out", expected.size() * sizeof(T));
  c.expect(out, expected, absolute, relative);
  std::vector<std::byte> bytes(got.size() * sizeof(T));
  std::memcpy(bytes.data(), got.data(), bytes.size());
  const Result<void> r = verify(c, [&](gpu::BufferId) -> const std::vector<std::byte>& { return bytes; });
  return r.ok() ? "passed" : r.error().to_string();
}

}  // namespace

TEST(Verify, IntegersMustBeEqual) {
  EXPECT_EQ(verdict<std::uint32_t>({1, 2, 3}, {1, 2, 3}), "passed");
  EXPECT_EQ(verdict<std::uint32_t>({1, 2, 3}, {1, 7, 4}), "out[1] is 7, expected 2 (2 of 3 elements wrong)");
  EXPECT_EQ(verdict<std::int32_t>({-1}, {1}), "out[0] is 1, expected -1 (1 of 1 elements wrong)");
  EXPECT_EQ(verdict<std::uint8_t>({200}, {201}), "out[0] is 201, expected 200 (1 of 1 elements wrong)");
}

TEST(Verify, FloatsMayDifferByTheToleranceAndNoMore) {
  EXPECT_EQ(verdict<float>({1}, {1.5F}, 0.5), "passed");
  EXPECT_NE(verdict<float>({1}, {1.5001F}, 0.5), "passed");
  EXPECT_EQ(verdict<float>({-100}, {-101}, 0, 0.01), "passed");
  EXPECT_NE(verdict<float>({-100}, {-101.01F}, 0, 0.01), "passed");
}

TEST(Verify, NanAndInfinityPassOnlyWhereExpected) {
  EXPECT_NE(verdict<float>({1}, {std::nanf("")}, 1e30), "passed");
  EXPECT_EQ(verdict<float>({std::nanf("")}, {-std::nanf("1")}), "passed");
  EXPECT_NE(verdict<float>({std::nanf("")}, {1}, 1e30), "passed");
  EXPECT_EQ(verdict<double>({std::nan("")}, {std::nan("")}), "passed");
  EXPECT_NE(verdict<float>({INFINITY}, {1}, 0, 0.5), "passed");
  EXPECT_NE(verdict<float>({INFINITY}, {-INFINITY}, 0, 0.5), "passed");
  EXPECT_EQ(verdict<float>({INFINITY}, {INFINITY}), "passed");
  EXPECT_NE(verdict<float>({1}, {INFINITY}, 1), "passed");
}

TEST(Verify, AShortBufferIsNamed) {
  EXPECT_EQ(verdict<float>({1, 2}, {1}), "buffer 'out' holds 4 bytes, 8 are expected");
}

TEST(Verify, ACaseThatExpectsNothingFails) {
  const std::vector<std::byte> none;
  const Result<void> r = verify(Case{}, [&](gpu::BufferId) -> const std::vector<std::byte>& { return none; });
  EXPECT_EQ(r.error().to_string(), "the benchmark expects nothing");
}

TEST(Verify, TheReferenceIsComputedOnDemandAndTheCheckRunsLast) {
  Case c;
  const gpu::BufferId out = c.application.add_uninitialized("out", 1);
  std::string order;
  c.reference = [&](Case& late) {
    order += "reference ";
    late.expect(out, std::vector<std::uint8_t>{1});
  };
  c.check = [&](const Contents&) -> Result<void> {
    order += "check";
    return Error{"not so"};
  };
  EXPECT_EQ(order, "");
  std::vector<std::byte> bytes{std::byte{1}};
  const Contents contents = [&](gpu::BufferId) -> const std::vector<std::byte>& { return bytes; };
  EXPECT_EQ(verify(c, contents).error().to_string(), "not so");
  EXPECT_EQ(order, "reference check");
  bytes[0] = std::byte{2};
  order.clear();
  EXPECT_EQ(verify(c, contents).error().to_string(), "out[0] is 2, expected 1 (1 of 1 elements wrong)");
  EXPECT_EQ(order, "reference ");
}

}  // namespace wm::zoo
