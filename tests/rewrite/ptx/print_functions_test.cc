// Kernels that call printf print the same text after the adaptation for the CUDA driver.
#include "rewrite/ptx/print_functions.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

#include "exec/run.h"
#include "rewrite/ptx/rewritten.h"

namespace wm::rewrite {
namespace {

std::string string(const std::string& name, const std::string& value) {
  std::string text = fmt::format(".global .align 1 .b8 {}[{}] = {{", name, value.size() + 1);
  for (const char c : value) text += std::to_string(static_cast<unsigned char>(c)) + ", ";
  return text + "0};\n";
}

// A kernel whose block of arguments is 128 bytes, which `stores` fills. `format` puts the address of a string into
// %rd1.
std::string kernel(const std::string& name, const std::string& format, const std::string& stores) {
  return ".entry " + name + R"((.param .u64 .ptr .global .align 4 out)
{
  .local .align 16 .b8 block[128];
  .reg .pred %p; .reg .b64 %rd<9>; .reg .b32 %r<3>; .reg .b16 %h;
  ld.param.u64 %rd5, [out];
  mov.u64 %rd2, block;
  cvta.local.u64 %rd2, %rd2;
)" + stores +
         format +
         R"(
  { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a+0], %rd1; st.param.b64 [b+0], %rd2;
    call.uni (r), vprintf, (a, b); ld.param.b32 %r1, [r+0]; }
  st.global.u32 [%rd5], %r1;
  ret;
}
)";
}

std::string address(const std::string& of) { return "mov.u64 %rd3, " + of + ";\ncvta.global.u64 %rd1, %rd3;\n"; }

// As NVIDIA's compiler declares vprintf.
constexpr const char* kPrintHeader = R"(.version 7.8
.target sm_75, texmode_independent
.address_size 64
.func (.param .b32 func_retval0) vprintf(.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
)";

AdaptedModule adapted_print(const std::string& text) {
  auto result = adapt_opencl(parsed(text));
  if (!result) throw std::invalid_argument(result.error().to_string());
  return *std::move(result);
}

struct Printed {
  std::string text;
  std::int32_t result = 99;
};

Printed run_print(const ptx::Module& module, const std::string& name) {
  gpu::Application app;
  const auto out = app.add_uninitialized("out", 4);
  app.launch({name, {1}, {1}, {gpu::buffer(out)}, 0});
  app.download(out);
  Printed printed;
  exec::RunOptions options;
  options.print = [&](std::string_view text) { printed.text += text; };
  const auto done = exec::run_application(module, app, options);
  if (!done) throw std::invalid_argument(done.error().to_string());
  std::memcpy(&printed.result, done->buffers[0].data(), 4);
  return printed;
}

TEST(PrintFunctions, ElementsAreReadWhereTheCompilerPutThem) {
  // A number, two integers at 8, a float at 16 as a double, three bytes at 24, four floats at 32, two longs at 48.
  const std::string stores =
      "st.local.b32 [block], 5; st.local.v2.b32 [block+8], {6, -7}; st.local.f64 [block+16], 0d3FF8000000000000;\n"
      "st.local.b32 [block+24], 0x00FF0201; st.local.v4.f32 [block+32], {0f3F800000, 0f40000000, 0fC0400000, "
      "0f00000000};\n"
      "st.local.v2.b64 [block+48], {1099511627776, -1};\n";
  const std::string text = std::string(kPrintHeader) + string("f", "%d\n") +
                           string("g", "%d %v2d %.1f %v3hhd %.0v4hlf|%v2ld\n") + kernel("k", address("g"), stores);
  const AdaptedModule result = adapted_print(text);
  ASSERT_EQ(result.kernels.size(), 1U);
  const Printed printed = run_print(result.module, "k");
  EXPECT_EQ(printed.text, "5 6,-7 1.5 1,2,-1 1,2,-3,0|1099511627776,-1\n");
  EXPECT_EQ(printed.result, 0);
}

TEST(PrintFunctions, HalvesAndShortsAreConverted) {
  const std::string stores =
      "st.local.v2.b16 [block], {0x3C00, 0xC100}; st.local.v2.b16 [block+4], {65535, 3}; st.local.v2.b16 [block+8], "
      "{65535, 3};\n";
  const std::string text =
      std::string(kPrintHeader) + string("f", "%v2hf %v2hd %v2hu\n") + kernel("k", address("f"), stores);
  EXPECT_EQ(run_print(adapted_print(text).module, "k").text, "1.000000,-2.500000 -1,3 65535,3\n");
}

// Stored as integers, of which the low byte counts.
TEST(PrintFunctions, CharactersAndShortsArePrintedAsNumbers) {
  const std::string text = std::string(kPrintHeader) + string("f", "%hhd %hhu %hd %d\n") +
                           kernel("k", address("f"), "st.local.v4.b32 [block], {-3, 456, 65535, 7};\n");
  EXPECT_EQ(run_print(adapted_print(text).module, "k").text, "-3 200 -1 7\n");
}

TEST(PrintFunctions, EveryKernelsPrintfReturnsZero) {
  const std::string text = std::string(kPrintHeader) + string("f", "%d %d\n") +
                           kernel("k", address("f"), "st.local.v2.b32 [block], {1, 2};\n");
  EXPECT_EQ(run_print(parsed(text), "k").result, 2);
  const Printed printed = run_print(adapted_print(text).module, "k");
  EXPECT_EQ(printed.text, "1 2\n");
  EXPECT_EQ(printed.result, 0);
}

TEST(PrintFunctions, TwoKernelsWithOneFormatShareAFunction) {
  const std::string stores = "st.local.v2.b32 [block], {1, 2};\n";
  const std::string text = std::string(kPrintHeader) + string("f", "%v2d\n") + string("g", "%v2d!\n") +
                           kernel("a", address("f"), stores) + kernel("b", address("f"), stores) +
                           kernel("c", address("g"), stores);
  const AdaptedModule result = adapted_print(text);
  EXPECT_EQ(run_print(result.module, "a").text, "1,2\n");
  EXPECT_EQ(run_print(result.module, "b").text, "1,2\n");
  EXPECT_EQ(run_print(result.module, "c").text, "1,2!\n");
  EXPECT_EQ(std::count_if(result.module.functions.begin(), result.module.functions.end(),
                          [](const auto& f) { return f.name.starts_with("wm_print"); }),
            2);
}

// The string depends on a value, or the register has it from two places, or there are too many values for the driver.
TEST(PrintFunctions, KernelsThatCannotBeAdaptedAreRefused) {
  const std::string reason =
      "it prints vectors or characters as numbers, with a format that is not known here or has more than the 32 values "
      "of the CUDA driver";
  const std::string strings =
      string("f", "%v2d\n") + string("g", "%d\n") + string("many", "%v16d%v16d%d\n") + string("star", "%*v2d\n");
  const std::string either = address("f") +
                             "mov.u64 %rd4, g; cvta.global.u64 %rd4, %rd4;\n"
                             "setp.eq.u64 %p, %rd5, 0; selp.b64 %rd1, %rd1, %rd4, %p;\n";
  const std::string joined = address("f") + "setp.eq.u64 %p, %rd5, 0; @%p bra there;\n" + address("g") + "there:\n";
  const std::string guarded = address("f") + "mov.u64 %rd4, g; setp.eq.u64 %p, %rd5, 0; @%p mov.u64 %rd1, %rd4;\n";
  const std::string offset = "mov.u64 %rd3, f+1;\ncvta.global.u64 %rd1, %rd3;\n";
  for (const std::string& format : {either, joined, guarded, offset, address("many"), address("star"),
                                    std::string("ld.global.u64 %rd1, [%rd5];\n")}) {
    const AdaptedModule result =
        adapted_print(std::string(kPrintHeader) + strings + kernel("k", format, "") + kernel("fine", address("g"), ""));
    ASSERT_EQ(result.refused.size(), 1U) << format;
    EXPECT_EQ(result.refused[0].name, "k");
    EXPECT_EQ(result.refused[0].reason, reason);
    ASSERT_EQ(result.kernels.size(), 1U);
    EXPECT_EQ(result.kernels[0].name, "fine");
  }
}

TEST(PrintFunctions, OnlyStringsOfTheKernelMatter) {
  const std::string either = address("f") +
                             "mov.u64 %rd4, g; cvta.global.u64 %rd4, %rd4;\n"
                             "setp.eq.u64 %p, %rd5, 0; selp.b64 %rd1, %rd1, %rd4, %p;\n";
  const std::string text = std::string(kPrintHeader) + string("f", "%d a\n") + string("g", "%d b\n") +
                           string("v", "%v2d\n") + kernel("k", either, "st.local.b32 [block], 7;\n") +
                           kernel("l", address("v"), "st.local.v2.b32 [block], {1, 2};\n");
  const AdaptedModule result = adapted_print(text);
  EXPECT_TRUE(result.refused.empty());
  EXPECT_EQ(run_print(result.module, "k").text, "7 b\n");
  EXPECT_EQ(run_print(result.module, "l").text, "1,2\n");
}

// The second string of an array, and one that a table of addresses names.
TEST(PrintFunctions, StringsInArraysAndTablesAreFound) {
  const std::string both = ".global .align 1 .b8 both[9] = {37, 100, 10, 0, 37, 118, 50, 100, 0};\n";
  const std::string table = string("f", "%v2d\n") + ".global .align 8 .u64 table[1] = {f};\n";
  const AdaptedModule array = adapted_print(std::string(kPrintHeader) + both + string("g", "%d\n") +
                                            kernel("k", "mov.u64 %rd3, both+4;\ncvta.global.u64 %rd1, %rd3;\n", "") +
                                            kernel("fine", address("g"), ""));
  ASSERT_EQ(array.refused.size(), 1U);
  EXPECT_EQ(array.refused[0].name, "k");
  const AdaptedModule listed = adapted_print(std::string(kPrintHeader) + table + string("g", "%d\n") +
                                             kernel("k", "mov.u64 %rd3, table; ld.global.u64 %rd1, [%rd3];\n", "") +
                                             kernel("fine", address("g"), ""));
  ASSERT_EQ(listed.refused.size(), 1U);
  EXPECT_EQ(listed.refused[0].name, "k");
}

TEST(PrintFunctions, NamesOfTheProgramAreItsOwn) {
  const std::string text = std::string(kPrintHeader) + string("f", "%v2d\n") + string("wm_print_0_format", "x") +
                           kernel("wm_print", address("f"), "st.local.v2.b32 [block], {1, 2};\n") +
                           kernel("wm_printer", "ld.global.u64 %rd1, [%rd5];\nmov.u64 %rd3, f;\n", "");
  const AdaptedModule result = adapted_print(text);
  ASSERT_EQ(result.refused.size(), 1U);
  EXPECT_EQ(result.refused[0].name, "wm_printer");
  EXPECT_EQ(run_print(result.module, "wm_print").text, "1,2\n");
}

TEST(PrintFunctions, AFormatWithoutArgumentsIsPrinted) {
  const std::string text = std::string(kPrintHeader) + string("f", "100%hh%\n") + kernel("k", address("f"), "");
  EXPECT_EQ(run_print(adapted_print(text).module, "k").text, "100%\n");
}

// Without a vector in any string, it does not matter which one is printed.
TEST(PrintFunctions, UnknownFormatsAreFineWhereNoStringHasVectors) {
  const std::string either = address("f") +
                             "mov.u64 %rd4, g; cvta.global.u64 %rd4, %rd4;\n"
                             "setp.eq.u64 %p, %rd5, 0; selp.b64 %rd1, %rd1, %rd4, %p;\n";
  const std::string text = std::string(kPrintHeader) + string("f", "%d\n") + string("g", "%d!\n") +
                           kernel("k", either, "st.local.b32 [block], 7;\n");
  EXPECT_EQ(run_print(adapted_print(text).module, "k").text, "7!\n");
}

}  // namespace
}  // namespace wm::rewrite
