// Comparisons of the two forms of a kernel: their inputs, their encoding, and, with an OpenCL device, whole comparisons
// with a worker form that is wrong on purpose.
#include "runtime/sandbox/comparison.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <limits>

#include "runtime/sandbox/comparison_inputs.h"
#include "runtime/sandbox/comparisons.h"

namespace wm::runtime::sandbox {
namespace {

using Verdict = ComparisonResult::Verdict;

// One worker's form of `kernel void f(global uint* x, uint n)` with this body for group `g`.
std::string as_workers(const std::string& body) {
  return "typedef struct { uint groups[3]; uint chunk; ulong offset[3]; uint dimensions; uint unused; } range;\n"
         "kernel void f(global uint* x, uint n, global uint* queue, global const volatile uint* control, range r) {\n"
         "  for (uint g = 0; g < r.groups[0]; ++g) {\n" +
         body + "\n    barrier(CLK_LOCAL_MEM_FENCE);\n  }\n}\n";
}

Request compare(const std::string& original, const std::string& workers) {
  Request request;
  request.kind = Request::Kind::comparison;
  request.programs = {{false, original, "", {}}, {false, workers, "", {}}};
  request.comparison.emplace();
  request.comparison->kernel = "f";
  request.comparison->groups = {4, 1, 1};
  request.comparison->local = {8, 1, 1};
  ComparedArgument buffer, value;
  buffer.kind = ComparedArgument::Kind::buffer;
  buffer.size = 32 * 4;
  const std::uint32_t n = 5;
  value.bytes.assign(reinterpret_cast<const char*>(&n), sizeof n);
  request.comparison->arguments = {buffer, value};
  return request;
}

constexpr const char* kOriginal = "kernel void f(global uint* x, uint n) { x[get_global_id(0)] += n; }";
constexpr const char* kRight = "    x[g * 8 + get_local_id(0)] += n;";
constexpr const char* kWrong = "    x[g * 8 + get_local_id(0)] += g < 3 ? n : n + 1;";
constexpr const char* kCrashes = "    ((volatile global uint*)0)[get_local_id(0)] = n;";

class ComparisonsOnADevice : public testing::Test {
 protected:
  ~ComparisonsOnADevice() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] SandboxOptions options() const { return {WM_SANDBOX_PROGRAM, "", "a driver", folder_, {}}; }
  // Whether there is a device that executes kernels on this host.
  static bool is_possible(const ComparisonResult& right) {
    return right.verdict == Verdict::same || right.reason.find("refused") == std::string::npos;
  }

 private:
  std::string folder_ = [] {
    std::string pattern = testing::TempDir() + "wm-comparison-XXXXXX";
    return std::string(::mkdtemp(pattern.data()));
  }();
};

TEST_F(ComparisonsOnADevice, FindAWrongWorkerFormAndKeepTheResult) {
  Comparisons comparisons(options());
  const auto right = comparisons.result(compare(kOriginal, as_workers(kRight)));
  if (!is_possible(right)) GTEST_SKIP() << "no OpenCL device";
  EXPECT_EQ(right.verdict, Verdict::same) << right.reason;
  const auto wrong = comparisons.result(compare(kOriginal, as_workers(kWrong)));
  EXPECT_EQ(wrong.verdict, Verdict::different);
  EXPECT_EQ(wrong.reason, "its worker form gave a different result in a comparison (buffer 0, byte 96)");
  EXPECT_EQ(comparisons.counts().tried, 2U);
  Comparisons later(options());
  EXPECT_EQ(later.result(compare(kOriginal, as_workers(kWrong))).reason, wrong.reason);
  EXPECT_EQ(later.counts().known, 1U);
  EXPECT_EQ(later.counts().tried, 0U);
}

TEST_F(ComparisonsOnADevice, TellWhichFormCrashed) {
  Comparisons comparisons(options());
  const auto workers = comparisons.result(compare(kOriginal, as_workers(kCrashes)));
  if (!is_possible(workers)) GTEST_SKIP() << "no OpenCL device";
  EXPECT_EQ(workers.verdict, Verdict::different);
  EXPECT_NE(workers.reason.find("its worker form crashed: signal 11"), std::string::npos) << workers.reason;
  const auto original = comparisons.result(
      compare("kernel void f(global uint* x, uint n) { ((volatile global uint*)0)[n] = n; }", as_workers(kRight)));
  EXPECT_EQ(original.verdict, Verdict::unverifiable);
  EXPECT_NE(original.reason.find("the unmodified kernel crashed: signal 11"), std::string::npos) << original.reason;
}

// Only values above 3 reach the wrong part.
TEST_F(ComparisonsOnADevice, FindAWorkerFormThatIsWrongForLargerValues) {
  Comparisons comparisons(options());
  const auto body = [](const std::string& index, const std::string& sum) {
    return "if (x[0] < 4) return;\nif (x[" + index + "] > 3) x[" + index + "] " + sum + ";\n";
  };
  const std::string original = "kernel void f(global uint* x, uint n) {\n" + body("get_global_id(0)", "+= n") + "}";
  const auto right = comparisons.result(compare(original, as_workers(body("g * 8 + get_local_id(0)", "+= n"))));
  if (!is_possible(right)) GTEST_SKIP() << "no OpenCL device";
  EXPECT_EQ(right.verdict, Verdict::same) << right.reason;
  const auto wrong = comparisons.result(compare(original, as_workers(body("g * 8 + get_local_id(0)", "+= n + 1"))));
  EXPECT_EQ(wrong.verdict, Verdict::different);
  const auto crash =
      comparisons.result(compare(original, as_workers(body("g * 8 + get_local_id(0)", "/= x[1] / 1000"))));
  EXPECT_EQ(crash.verdict, Verdict::different);
}

// Values as indices: larger ones are no indices of the buffer, and there is nothing to compare with.
TEST_F(ComparisonsOnADevice, IgnoreInputsWithWhichTheUnmodifiedKernelLeavesItsBuffers) {
  Comparisons comparisons(options());
  const std::string body = "[get_local_id(0)] = x[x[get_local_id(0)] * 10];\n";
  const std::string wrong = "if (x[0] > 3) x[1] = 17; else x";
  const auto result = comparisons.result(
      compare("kernel void f(global uint* x, uint n) { if (n != 5) return; x" + body + "}", as_workers(wrong + body)));
  if (!is_possible(result)) GTEST_SKIP() << "no OpenCL device";
  EXPECT_EQ(result.verdict, Verdict::same) << result.reason;
}

// A loop whose length is a value of the buffer takes too long with larger ones.
TEST_F(ComparisonsOnADevice, IgnoreInputsWithWhichTheUnmodifiedKernelTakesLong) {
  Comparisons comparisons(options());
  // The sum of five small values is below 41 in spite of what other items have added to them.
  const std::string loop =
      "if (x[3] + x[4] + x[5] + x[6] + x[7] > 40) for (volatile ulong i = 0; i < (ulong)n << 40; ++i) {}\n";
  const auto result = comparisons.result(compare(
      "kernel void f(global uint* x, uint n) { " + loop + "x[get_global_id(0)] += n; }", as_workers(loop + kRight)));
  if (!is_possible(result)) GTEST_SKIP() << "no OpenCL device";
  EXPECT_EQ(result.verdict, Verdict::same) << result.reason;
}

TEST(ComparisonInputs, AreIntegersBelowTheNumberOfElementsOfTheSmallestArray) {
  const std::vector<ComparedBuffer> buffers{
      {0, 4, 4, 0, false, 4}, {1, 400, 400, 0, false, 4}, {2, 160, 160, 0, false, 8}};
  EXPECT_EQ(element_bound(buffers), 20U) << "one element is no array";
  EXPECT_EQ(element_bound(std::span(buffers).first(1)), 8U);
  std::vector<std::byte> bytes(400);
  fill(buffers[1], InputSet::elements, 20, bytes);
  std::uint32_t largest = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::uint32_t integer = 0;
    std::memcpy(&integer, bytes.data() + at, 4);
    EXPECT_LT(integer, 20U);
    largest = std::max(largest, integer);
  }
  EXPECT_GE(largest, 15U);
}

TEST(ComparisonInputs, AreIntegersOfEveryMagnitude) {
  for (const std::uint32_t width : {1U, 2U, 4U, 8U}) {
    std::vector<std::byte> bytes(4096);
    fill({0, 4096, 4096, 0, false, width}, InputSet::any, 8, bytes);
    std::vector<int> of_magnitude(65);
    for (std::size_t at = 0; at < bytes.size(); at += width) {
      std::uint64_t integer = 0;
      std::memcpy(&integer, bytes.data() + at, width);
      ++of_magnitude[std::bit_width(integer)];
    }
    EXPECT_GT(of_magnitude[8 * width], 0) << width;
    EXPECT_GT(of_magnitude[4 * width], 0) << width;
  }
}

TEST(ComparisonInputs, AreSmallIntegersOrNumbersNearOne) {
  std::vector<std::byte> bytes(64);
  fill({0, 64, 64, 0, false, 8}, InputSet::small, 8, bytes);
  std::uint64_t integer = 99, all = 0;
  for (std::size_t at = 0; at < 64; at += 8) {
    std::memcpy(&integer, bytes.data() + at, 8);
    EXPECT_LT(integer, 4U);
    all += integer;
  }
  EXPECT_NE(all, 0U);
  fill({0, 64, 64, 0, true, 4}, InputSet::small, 8, bytes);
  for (std::size_t at = 0; at < 64; at += 4) {
    float number = 0;
    std::memcpy(&number, bytes.data() + at, 4);
    EXPECT_GE(number, 0.5F);
    EXPECT_LT(number, 1.5F);
  }
}

TEST(ComparisonInputs, FloatingPointNumbersMayDifferByAThousandth) {
  const auto differ = [](float a, float b, bool floating) {
    return difference({0, 4, 4, 0, floating, 4}, std::as_bytes(std::span(&a, 1)), std::as_bytes(std::span(&b, 1)))
        .has_value();
  };
  EXPECT_FALSE(differ(1.0F, 1.0009F, true));
  EXPECT_TRUE(differ(1.0F, 1.0011F, true));
  EXPECT_TRUE(differ(1.0F, 1.0009F, false));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(differ(nan, -nan, true));
  EXPECT_TRUE(differ(nan, 1.0F, true));
}

TEST(ComparisonRequests, AreDecodedAsTheyWereEncoded) {
  Request request = compare(kOriginal, as_workers(kRight));
  request.comparison->offset = {1, 2, 3};
  request.comparison->arguments[0].floating = true;
  request.comparison->arguments[0].width = 8;
  const auto decoded = decode(encode(request));
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(encode(*decoded), encode(request));
  ASSERT_TRUE(decoded->comparison);
  EXPECT_EQ(decoded->comparison->offset[2], 3U);
  EXPECT_EQ(decoded->comparison->arguments[0].width, 8U);
  EXPECT_FALSE(decode(encode(request).substr(0, encode(request).size() - 1)).ok());
  const ComparisonResult result = decode_result(encode(ComparisonResult{Verdict::different, "why"}));
  EXPECT_EQ(result.verdict, Verdict::different);
  EXPECT_EQ(result.reason, "why");
  EXPECT_EQ(decode_result("x").verdict, Verdict::unverifiable);
}

}  // namespace
}  // namespace wm::runtime::sandbox
