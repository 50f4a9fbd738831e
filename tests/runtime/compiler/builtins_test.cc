// Built-in functions of our own compiler beside those of the native driver: integers must be equal, floating-point
// results as near as the standard demands of both.
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fmt/format.h>
#include <limits>
#include <random>
#include <span>

#include "runtime/compiler/compiled_side.h"

namespace wm::runtime::test {
namespace {

constexpr std::size_t kItems = 2048, kLocal = 64;

// Runs kernel `f` over the items of `in`; the result has `words` words of 32 bits for each.
std::vector<std::uint32_t> run(const Side& side, const std::string& source, const std::vector<std::uint32_t>& in,
                               std::size_t words, const char* options = "") {
  cl_program program = build(side, source.c_str(), options);
  cl_int status = 1;
  cl_kernel kernel = clCreateKernel(program, "f", &status);
  EXPECT_EQ(status, CL_SUCCESS) << build_log(side, program) << source;
  std::vector<std::uint32_t> out(kItems * words, 0);
  cl_mem from =
      clCreateBuffer(side.context, CL_MEM_COPY_HOST_PTR, in.size() * 4, const_cast<std::uint32_t*>(in.data()), nullptr);
  cl_mem to = clCreateBuffer(side.context, CL_MEM_COPY_HOST_PTR, out.size() * 4, out.data(), nullptr);
  clSetKernelArg(kernel, 0, sizeof from, &from);
  clSetKernelArg(kernel, 1, sizeof to, &to);
  EXPECT_EQ(clEnqueueNDRangeKernel(side.queue, kernel, 1, nullptr, &kItems, &kLocal, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(clEnqueueReadBuffer(side.queue, to, CL_TRUE, 0, out.size() * 4, out.data(), 0, nullptr, nullptr),
            CL_SUCCESS);
  clReleaseMemObject(from);
  clReleaseMemObject(to);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  return out;
}

// Random words; every eighth is a number at an edge.
std::vector<std::uint32_t> random_words(std::size_t count) {
  constexpr std::array<std::uint32_t, 8> kEdges{0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 0x8000, 0x7f80, 0xff};
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same in every run
  std::vector<std::uint32_t> words(count);
  for (std::size_t i = 0; i < count; ++i) words[i] = i % 8 == 5 ? kEdges[random() % 8] : random();
  return words;
}

struct CompiledBuiltins : CompiledDevice {
  void SetUp() override {
    CompiledDevice::SetUp();
    if (IsSkipped()) return;
    native = open_side(false);
    compiled = open_side(true);
  }
  void TearDown() override {
    close_side(native);
    close_side(compiled);
  }
  // `words` words of output for each item, from eight words of input.
  void expect_equal(const std::string& source, std::size_t words) {
    const std::vector<std::uint32_t> in = random_words(kItems * 8);
    const auto expected = run(native, source, in, words), got = run(compiled, source, in, words);
    std::size_t shown = 0;
    for (std::size_t i = 0; i < expected.size() && shown < 4; ++i) {
      if (expected[i] == got[i]) continue;
      ++shown;
      ADD_FAILURE() << fmt::format("item {}, word {}: {:#x}, natively {:#x}\n", i / words, i % words, got[i],
                                   expected[i])
                    << source;
    }
  }
  Side native, compiled;
};

constexpr std::array kIntegers{"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"};

std::string kernel_of(const std::string& prefix, const std::string& body, std::size_t words) {
  return fmt::format(
      "{}\nkernel void f(global const uint* in, global uint* out) {{\n  size_t i = get_global_id(0);\n"
      "  in += 8 * i;\n  out += {} * i;\n{}}}\n",
      prefix, words, body);
}

TEST_F(CompiledBuiltins, IntegerFunctionsAreExact) {
  constexpr std::array kExpressions{"abs(a)",
                                    "abs_diff(a, b)",
                                    "add_sat(a, b)",
                                    "sub_sat(a, b)",
                                    "hadd(a, b)",
                                    "rhadd(a, b)",
                                    "clz(a)",
                                    "popcount(a)",
                                    "mul_hi(a, b)",
                                    "mad_hi(a, b, c)",
                                    "mad_sat(a, b, c)",
                                    "rotate(a, b)",
                                    "min(a, b)",
                                    "max(a, b)",
                                    "clamp(a, min(b, c), max(b, c))",
                                    "bitselect(a, b, c)"};
  for (const char* type : kIntegers) {
    SCOPED_TRACE(type);
    std::string body = fmt::format(
        "  {0} a = *(global const {0}*)in, b = *(global const {0}*)(in + 2), "
        "c = *(global const {0}*)(in + 4);\n",
        type);
    for (const char* e : kExpressions) body += fmt::format("  *(global ulong*)out = (ulong){}; out += 2;\n", e);
    expect_equal(kernel_of("", body, 2 * kExpressions.size()), 2 * kExpressions.size());
  }
}

TEST_F(CompiledBuiltins, VectorFunctionsOfIntegersAreExact) {
  for (const char* type : {"char4", "ushort4", "int2", "int4", "long2"}) {
    SCOPED_TRACE(type);
    const std::string load = fmt::format("  {0} a = *(global const {0}*)in, b = *(global const {0}*)(in + 4);\n", type);
    std::string body = load;
    for (const char* e : {"add_sat(a, b)", "mul_hi(a, b)", "a * b + (a >> 1)", "rotate(a, b)", "max(a, b) - min(a, b)",
                          "(a > b) ? a : b"}) {
      body += fmt::format("  *(global {}*)out = {}; out += 4;\n", type, e);
    }
    expect_equal(kernel_of("", body, 24), 24);
  }
}

TEST_F(CompiledBuiltins, ConversionsAreExact) {
  for (const char* to : kIntegers) {
    SCOPED_TRACE(to);
    std::string body = "  float x = (float)(int)in[0] * 0.37f; double d = x * 1.7; x = (in[1] & 1) ? x : x * 1e-7f;\n";
    std::size_t count = 0;
    for (const char* from : {"x", "d", "(int)in[2]", "*(global const ulong*)in"}) {
      for (const char* rounding : {"", "_rte", "_rtz", "_rtp", "_rtn"}) {
        body += fmt::format("  *(global ulong*)out = (ulong)convert_{}_sat{}({}); out += 2;\n", to, rounding, from);
        ++count;
      }
    }
    expect_equal(kernel_of("", body, 2 * count), 2 * count);
  }
}

TEST_F(CompiledBuiltins, ConversionsToFloatingPointAreRoundedAsAsked) {
  std::string body;
  std::size_t count = 0;
  for (const char* from : {"(int)in[0]", "in[1]", "*(global const long*)(in + 2)", "*(global const ulong*)(in + 4)"}) {
    for (const char* rounding : {"", "_rte", "_rtz", "_rtp", "_rtn"}) {
      body += fmt::format("  *out++ = as_uint(convert_float{}({}));\n", rounding, from);
      ++count;
    }
  }
  expect_equal(kernel_of("", body, count), count);
}

TEST_F(CompiledBuiltins, MemoryAndRelationalFunctionsAreExact) {
  const std::string body = R"(
  float a = as_float(in[0]), b = as_float(in[1]), c = (float)(int)in[2];
  int4 v = vload4(0, (global const int*)in);
  uchar16 bytes = vload16(0, (global const uchar*)in);
  out[0] = isnan(a) | isinf(a) << 1 | isfinite(a) << 2 | isnormal(a) << 3 | signbit(a) << 4 | isequal(a, b) << 5 |
           isless(a, b) << 6 | isgreaterequal(a, b) << 7 | isordered(a, b) << 8 | islessgreater(a, b) << 9;
  vstore3(v.xyz + v.wzy, 0, (global int*)out + 1);
  out[4] = any(v) | all(v) << 1;
  out[5] = as_uint(shuffle(bytes, (uchar4)(3, 9, 15, 0)));
  out[6] = as_uint(select(c, a, in[3] & 0x80000001u));
  vstore_half(c * 1e-5f, 0, (global half*)(out + 7));
  vstore_half_rtz(c * 3e-6f, 1, (global half*)(out + 7));
  out[8] = as_uint(vload_half(0, (global const half*)(out + 7)));
  out[9] = as_uint(shuffle2(bytes.s0123, bytes.s4567, (uchar4)(7, 1, 4, 2)));
)";
  expect_equal(kernel_of("", body, 10), 10);
}

TEST_F(CompiledBuiltins, GroupsShareLocalMemoryAndAtomics) {
  const std::string source = R"(
kernel void f(global const uint* in, global uint* out) {
  local uint counts[16], copied[64], low;
  local ulong wide;
  size_t l = get_local_id(0), g = get_group_id(0);
  if (l < 16) counts[l] = 0;
  if (l == 0) { low = ~0u; wide = 0; }
  event_t e = async_work_group_copy(copied, in + 64 * g, 64, 0);
  wait_group_events(1, &e);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&counts[copied[63 - l] % 16], copied[l] & 255);
  atomic_min(&low, copied[l]);
  atom_add(&wide, (ulong)copied[l] * 5);
  barrier(CLK_LOCAL_MEM_FENCE);
  out += 4 * get_global_id(0);
  out[0] = counts[l % 16];
  out[1] = low;
  out[2] = (uint)(wide >> 16);
  out[3] = atomic_cmpxchg(out + 2, (uint)(wide >> 16), (uint)l) + atomic_xchg(out + 2, 9u) + atomic_or(out + 2, 6u);
}
)";
  expect_equal(source, 4);
}

struct FloatFunction {
  const char* expression;
  double ulps;  // that the standard allows
};

// Bits of floating-point numbers in their order.
std::int64_t ordered(float x) {
  const auto bits = std::bit_cast<std::int32_t>(x);
  return bits < 0 ? std::int64_t{std::numeric_limits<std::int32_t>::min()} - bits : bits;
}
std::int64_t ordered(double x) {
  const auto bits = std::bit_cast<std::int64_t>(x);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

template <typename T>
bool near(T a, T b, double ulps) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  // Functions of single precision may give 0 for a result that is subnormal: the device does not claim CL_FP_DENORM.
  const bool subnormal = sizeof(T) == 4 && std::fpclassify(b) == FP_SUBNORMAL;
  if (a == b || (subnormal && a == 0)) return true;
  std::int64_t apart = 0;
  if (__builtin_sub_overflow(ordered(a), ordered(b), &apart)) return false;
  return std::abs(static_cast<double>(apart)) <= ulps;
}

// Numbers of many magnitudes, with zeros and infinities among them.
template <typename T>
std::vector<T> numbers(std::size_t count, double largest_power) {
  std::mt19937 random(11);  // NOLINT(cert-msc51-cpp): the same in every run
  std::uniform_real_distribution<double> power(-largest_power, largest_power);
  const std::array<T, 8> edges{T(0),
                               T(-0.0),
                               T(1),
                               T(-1),
                               std::numeric_limits<T>::infinity(),
                               -std::numeric_limits<T>::infinity(),
                               std::numeric_limits<T>::quiet_NaN(),
                               T(0.5)};
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double x = std::exp2(power(random)) * ((random() & 1) != 0 ? 1 : -1);
    values[i] = i % 16 == 3 ? edges[random() % edges.size()] : static_cast<T>(x);
  }
  return values;
}

// All functions in one kernel, which PoCL compiles once.
template <typename T>
void expect_near(const CompiledBuiltins& sides, const char* type, std::span<const FloatFunction> functions) {
  constexpr std::size_t kWords = sizeof(T) / 4;
  const std::vector<T> values = numbers<T>(kItems * 4, 12);
  std::vector<std::uint32_t> in(values.size() * kWords);
  std::memcpy(in.data(), values.data(), in.size() * 4);
  std::string source = fmt::format(
      "kernel void f(global const {0}* in, global {0}* out) {{ size_t i = get_global_id(0); out += {1} * i;\n"
      "{0} a = in[4 * i], b = in[4 * i + 1], c = in[4 * i + 2], t = 0; int n = 0;\n",
      type, functions.size());
  for (const FloatFunction& f : functions) source += fmt::format("*out = {}; *out++ += 0 * t + 0 * n;\n", f.expression);
  source += "}\n";
  const std::size_t words = kWords * functions.size();
  const auto expected = run(sides.native, source, in, words), got = run(sides.compiled, source, in, words);
  std::vector<int> shown(functions.size());
  for (std::size_t i = 0; i < kItems * functions.size(); ++i) {
    const std::size_t k = i % functions.size();
    const T* from = &values[4 * (i / functions.size())];
    T x{}, y{};
    std::memcpy(&x, expected.data() + i * kWords, sizeof x);
    std::memcpy(&y, got.data() + i * kWords, sizeof y);
    if (near(y, x, 2 * functions[k].ulps) || shown[k]++ >= 2) continue;
    ADD_FAILURE() << fmt::format("{} {}: a = {:a} b = {:a} c = {:a}: {:a}, natively {:a}", type,
                                 functions[k].expression, from[0], from[1], from[2], y, x);
  }
}

constexpr std::array kBothPrecisions{FloatFunction{"sqrt(a)", 3},
                                     FloatFunction{"a / b", 2.5},
                                     FloatFunction{"exp(a)", 3},
                                     FloatFunction{"exp2(a)", 3},
                                     FloatFunction{"exp10(a)", 3},
                                     FloatFunction{"expm1(a)", 3},
                                     FloatFunction{"log(a)", 3},
                                     FloatFunction{"log2(a)", 3},
                                     FloatFunction{"log10(a)", 3},
                                     FloatFunction{"log1p(a)", 2},
                                     FloatFunction{"sin(a)", 4},
                                     FloatFunction{"cos(a)", 4},
                                     FloatFunction{"tan(a)", 5},
                                     FloatFunction{"asin(a)", 4},
                                     FloatFunction{"acos(a)", 4},
                                     FloatFunction{"atan(a)", 5},
                                     FloatFunction{"atan2(a, b)", 6},
                                     FloatFunction{"sinh(a)", 4},
                                     FloatFunction{"cosh(a)", 4},
                                     FloatFunction{"tanh(a)", 5},
                                     FloatFunction{"asinh(a)", 4},
                                     FloatFunction{"acosh(a)", 4},
                                     FloatFunction{"atanh(a)", 5},
                                     FloatFunction{"sinpi(a)", 4},
                                     FloatFunction{"cospi(a)", 4},
                                     FloatFunction{"pow(a, b)", 16},
                                     FloatFunction{"pown(a, (int)(b) % 9)", 16},
                                     FloatFunction{"powr(fabs(a), b)", 16},
                                     FloatFunction{"rootn(a, 3)", 16},
                                     FloatFunction{"cbrt(a)", 2},
                                     FloatFunction{"hypot(a, b)", 4},
                                     FloatFunction{"rsqrt(a)", 2},
                                     FloatFunction{"erf(a)", 16},
                                     FloatFunction{"erfc(a)", 16},
                                     FloatFunction{"tgamma(a)", 16},
                                     FloatFunction{"fma(a, b, c)", 0},
                                     FloatFunction{"fmod(a, b)", 0},
                                     FloatFunction{"remainder(a, b)", 0},
                                     FloatFunction{"floor(a)", 0},
                                     FloatFunction{"ceil(a)", 0},
                                     FloatFunction{"trunc(a)", 0},
                                     FloatFunction{"rint(a)", 0},
                                     FloatFunction{"round(a)", 0},
                                     FloatFunction{"fmin(a, b)", 0},
                                     FloatFunction{"fmax(a, b)", 0},
                                     FloatFunction{"fdim(a, b)", 0},
                                     FloatFunction{"copysign(a, b)", 0},
                                     FloatFunction{"nextafter(a, b)", 0},
                                     FloatFunction{"ldexp(a, 3)", 0},
                                     FloatFunction{"frexp(a, &n) + n", 0},
                                     FloatFunction{"modf(a, &t) + t", 1},
                                     FloatFunction{"fract(a, &t)", 0},
                                     FloatFunction{"logb(a)", 0},
                                     FloatFunction{"maxmag(a, b)", 0},
                                     FloatFunction{"sign(a)", 0},
                                     FloatFunction{"step(a, b)", 0},
                                     FloatFunction{"degrees(a)", 2},
                                     FloatFunction{"radians(a)", 2},
                                     FloatFunction{"sincos(a, &t) + t", 16}};

TEST_F(CompiledBuiltins, FunctionsOfFloatsAreAsNearToNativeAsTheStandardDemands) {
  expect_near<float>(*this, "float", kBothPrecisions);
}

TEST_F(CompiledBuiltins, FunctionsOfDoublesAreAsNearToNativeAsTheStandardDemands) {
  expect_near<double>(*this, "double", kBothPrecisions);
}

}  // namespace
}  // namespace wm::runtime::test
