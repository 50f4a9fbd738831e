// These kernels were compiled to wrong code by LLVM 19 or libclc; each leaves 1 in its buffer where it is right.
#include <gmock/gmock.h>

#include "runtime/compiler/compiled_side.h"

namespace wm::runtime::test {
namespace {

using testing::HasSubstr;

struct CompiledRepairs : CompiledContext {
  using CompiledContext::result_of;
  int result_of(const char* text) {
    cl_program program = build(side, text);
    const int value = result_of(program);
    EXPECT_NE(value, -1) << build_log(side, program);
    clReleaseProgram(program);
    return value;
  }
  std::string refusal(const char* text) {
    cl_program program = clCreateProgramWithSource(side.context, 1, &text, nullptr, nullptr);
    EXPECT_EQ(clBuildProgram(program, 1, &side.device, "", nullptr, nullptr), CL_BUILD_PROGRAM_FAILURE);
    const std::string log = build_log(side, program);
    clReleaseProgram(program);
    return log;
  }
};

TEST_F(CompiledRepairs, SixteenBytesNeedNoAlignment) {
  EXPECT_EQ(result_of(R"(
kernel void f(global int* x) {
  global uchar* bytes = (global uchar*)x;
  vstore16(vload16(0, bytes + 3), 0, bytes + 33);
  x[0] = bytes[33] == 3 && bytes[40] == 10 && bytes[48] == 18 && bytes[49] == 49;
})"),
            1);
}

TEST_F(CompiledRepairs, SaturatingConversionsGiveZeroForNan) {
  EXPECT_EQ(result_of(R"(
kernel void f(global int* x) {
  double d = as_double((ulong)x[1] << 32 | 0x7ff8000000000000ul);
  float s = as_float(x[2] | 0x7fc00000);
  long wide = convert_long_sat(s) | convert_long_sat_rte(d) | (long)convert_ulong_sat_rtp(s);
  int narrow = convert_int_sat(d) | convert_uchar_sat(d) | convert_short_sat_rtn(d) | convert_ushort_sat(d);
  x[0] = wide == 0 && narrow == 0 && all(convert_int3_sat((double3)(d)) == 0) && convert_int_sat(-2.5 - x[3] * 1e9) < -9;
})"),
            1);
}

TEST_F(CompiledRepairs, HalvesAreRoundedUpAndDownAroundZero) {
  EXPECT_EQ(result_of(R"(
kernel void f(global int* x) {
  float tiny = as_float(x[1] & 1) + 1e-12f;
  ushort h[8];
  vstore_half_rtp(tiny, 0, (half*)h);
  vstore_half_rtn(-tiny, 1, (half*)h);
  vstore_half2_rtn((double2)(tiny, -70000.0), 1, (half*)h);
  vstorea_half3_rtp((float3)(-tiny, 65505.0f, 1.0f), 1, (half*)h);
  x[0] = h[0] == 1 && h[1] == 0x8001 && h[2] == 0 && h[3] == 0xfc00 && h[4] == 0x8000 && h[5] == 0x7c00 &&
         h[6] == 0x3c00;
})"),
            1);
}

TEST_F(CompiledRepairs, SinesOfLargeNumbersStayWithinTheirTable) {
  EXPECT_EQ(result_of(R"(
constant char before[3] = {1, 2, 3};
kernel void f(global int* x) {
  double large = 1e20 + (x[1] - 0x07060504) * before[x[2] & 1];
  x[0] = fabs(sin(large) - -0.6452512852657808) < 1e-15;
})"),
            1);
}

TEST_F(CompiledRepairs, PrintingReturnsZero) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(result_of("kernel void f(global int* x) { x[0] = printf(\"%d %d\\n\", x[0], 2) + 1; }"), 1);
  clFinish(side.queue);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "50462976 2\n");
}

TEST_F(CompiledRepairs, RecursionIsRefusedByName) {
  EXPECT_THAT(refusal("int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
                      "kernel void f(global int* x) { x[0] = fib(x[1]); }"),
              HasSubstr("the function 'fib' calls itself"));
  const std::string both = refusal(
      "int b(int n);\nint a(int n) { return n ? b(n - 1) * 3 : 1; }\nint b(int n) { return n ? a(n / 2) : 2; }\n"
      "kernel void f(global int* x) { x[0] = a(x[1]); }");
  EXPECT_THAT(both, HasSubstr("the function 'a' calls itself"));
  EXPECT_THAT(both, HasSubstr("the function 'b' calls itself"));
}

}  // namespace
}  // namespace wm::runtime::test
