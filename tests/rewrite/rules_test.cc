// The rewriting rules, one by one. Other tests run the programs and compare results.
#include <gmock/gmock.h>

#include "rewrite/ask.h"

namespace wm::rewrite {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Ids, AreThoseOfTheVirtualGroup) {
  const std::string text = ask("kernel void k(global ulong* x) {\n"
                               "  x[0] = get_group_id(1); x[1] = get_global_id(0); x[2] = get_num_groups(2);\n"
                               "  x[3] = get_global_size(0); x[4] = get_global_offset(1); x[5] = get_work_dim();\n"
                               "  x[6] = get_local_id(0) + get_local_size(1);\n}\n")
                               .source;
  EXPECT_THAT(text, HasSubstr("x[0] = ((size_t)wm__g1);"));
  EXPECT_THAT(text, HasSubstr("x[1] = ((size_t)wm__g0 * get_local_size(0) + get_local_id(0) + (size_t)wm__o0);"));
  EXPECT_THAT(text, HasSubstr("x[2] = ((size_t)wm__n2);"));
  EXPECT_THAT(text, HasSubstr("x[3] = ((size_t)wm__n0 * get_local_size(0));"));
  EXPECT_THAT(text, HasSubstr("x[4] = ((size_t)wm__o1);"));
  EXPECT_THAT(text, HasSubstr("x[5] = wm__dim;"));
  EXPECT_THAT(text, HasSubstr("x[6] = get_local_id(0) + get_local_size(1);"));
}

TEST(Ids, OnlyThoseThatAreAskedForArePassed) {
  EXPECT_THAT(ask("kernel void k(global uint* x) { x[get_group_id(2)] = 1; }").source,
              HasSubstr("wm__body_k(global uint* x, uint wm__g2) {"));
}

TEST(Ids, ADimensionPastTheThirdIsTheDevicesOwnBusiness) {
  const std::string text =
      ask("kernel void k(global ulong* x) { x[0] = get_global_id(3) + get_num_groups(7); }").source;
  EXPECT_THAT(text, HasSubstr("x[0] = get_global_id(3) + get_num_groups(7);"));
}

TEST(Ids, AComputedDimensionIsEvaluatedOnce) {
  const std::string text = ask("kernel void k(global ulong* x, uint d) { x[0] = get_group_id(d++); }").source;
  EXPECT_THAT(text,
              ::testing::ContainsRegex("x\\[0\\] = wm__group_id_[0-9a-f]+\\(d\\+\\+, wm__g0, wm__g1, wm__g2\\);"));
}

TEST(Ids, AComputedDimensionOfTheLocalRangeIsChosenWithoutATable) {
  const std::string text = ask("size_t size(uint d) { return get_local_size(d); }\n"
                               "size_t outer(uint d) { return size(d) + 1; }\n"
                               "kernel void k(global ulong* x, uint d) { x[0] = get_local_id(d++) + outer(d); }")
                               .source;
  EXPECT_THAT(text, ::testing::ContainsRegex("x\\[0\\] = wm__local_id_[0-9a-f]+\\(d\\+\\+\\) \\+ wm__outer\\(d\\);"));
  EXPECT_THAT(text, ::testing::ContainsRegex("wm__size\\(uint d\\) \\{ return wm__local_size_[0-9a-f]+\\(d\\); \\}"));
  EXPECT_THAT(text, HasSubstr("wm__outer(uint d) { return wm__size(d) + 1; }"));
}

TEST(Ids, TheLinearIdOfOpenCl2LeavesTheOffsetOut) {
  const Reply reply = ask("kernel void k(global ulong* x) { x[0] = get_global_linear_id(); }", "-cl-std=CL2.0");
  ASSERT_TRUE(kernel_of(reply).rewritten) << kernel_of(reply).reason;
  EXPECT_THAT(reply.source,
              HasSubstr("wm__g2 * get_local_size(2) + get_local_id(2)) * ((size_t)wm__n1 * get_local_size(1))"));
  EXPECT_THAT(reply.source,
              HasSubstr("wm__body_k(x, wm__g0, wm__g1, wm__g2, wm__r.groups[0], wm__r.groups[1], wm__r.groups[2])"));
}

TEST(Helpers, GetTheIdsTheyAndTheirCalleesAskFor) {
  const std::string text = ask("uint inner(uint a);\n"
                               "uint plain(uint a) { return a + 1; }\n"
                               "uint outer(void) { return inner(plain(2)); }\n"
                               "uint inner(uint a) { return a + get_group_id(0); }\n"
                               "kernel void k(global uint* x) { x[0] = outer(); }\n")
                               .source;
  EXPECT_THAT(text, HasSubstr("uint wm__inner(uint a, uint wm__g0);"));
  EXPECT_THAT(text, HasSubstr("uint plain(uint a) { return a + 1; }"));
  EXPECT_THAT(text, HasSubstr("uint wm__outer(uint wm__g0) { return wm__inner(plain(2), wm__g0); }"));
  EXPECT_THAT(text, HasSubstr("x[0] = wm__outer(wm__g0);"));
  EXPECT_THAT(text, Not(HasSubstr(" outer(")));
}

TEST(Helpers, KeepTheirOldFormForAKernelThatIsNotRewritten) {
  const Reply reply = ask(
      "uint help(void) { return get_group_id(0); }\n"
      "kernel void k(global uint* x) { x[0] = help(); }\n"
      "kernel void lock(global int* l, global uint* x) { while (atomic_cmpxchg(l, 0, 1) != 0) ; x[1] = help(); }\n");
  EXPECT_TRUE(kernel_of(reply).rewritten);
  EXPECT_FALSE(kernel_of(reply, "lock").rewritten);
  EXPECT_THAT(reply.source, HasSubstr("uint help(void) { return get_group_id(0); }"));
  EXPECT_THAT(reply.source, HasSubstr("uint wm__help(uint wm__g0) { return ((size_t)wm__g0); }"));
  EXPECT_THAT(reply.source, HasSubstr("while (atomic_cmpxchg(l, 0, 1) != 0) ; x[1] = help(); }"));
}

TEST(Helpers, ThatNoKernelCallsStayWithWhatTheyCall) {
  const std::string text = ask("uint a(void) { return get_group_id(0); }\n"
                               "uint b(void) { return a(); }\n"
                               "kernel void k(global uint* x) { x[0] = a(); }\n")
                               .source;
  EXPECT_THAT(text, HasSubstr("uint a(void) { return get_group_id(0); }"));
  EXPECT_THAT(text, HasSubstr("uint b(void) { return a(); }"));
}

TEST(Helpers, OverloadsStayApart) {
  const std::string text = ask("__attribute__((overloadable)) uint f(uint a) { return a + get_group_id(0); }\n"
                               "__attribute__((overloadable)) float f(float a) { return a; }\n"
                               "kernel void k(global float* x) { x[0] = f(1u) + f(1.0f); }\n")
                               .source;
  EXPECT_THAT(text, HasSubstr("__attribute__((overloadable)) uint wm__f(uint a, uint wm__g0)"));
  EXPECT_THAT(text, HasSubstr("__attribute__((overloadable)) float f(float a) { return a; }"));
  EXPECT_THAT(text, HasSubstr("x[0] = wm__f(1u, wm__g0) + f(1.0f);"));
}

TEST(LocalMemory, MovesToTheSchedulingKernel) {
  const Reply reply =
      ask("kernel void k(global uint* x) {\n"
          "  __attribute__((aligned(16))) local float tile[4][8], one;\n"
          "  local uint4 v;\n"
          "  x[0] = sizeof(tile) + tile[1][2] + (uint)one + v.x;\n}\n");
  EXPECT_THAT(reply.source, HasSubstr("__local float (*wm__local_k_tile)[4][8], __local float *wm__local_k_one, "
                                      "__local uint4 *wm__local_k_v)"));
  EXPECT_THAT(reply.source, HasSubstr("  __local float wm__local_k_tile[4][8] __attribute__((aligned(16)));\n"));
  EXPECT_THAT(reply.source, HasSubstr("  __local uint4 wm__local_k_v;\n"));
  EXPECT_THAT(reply.source,
              HasSubstr("sizeof((*wm__local_k_tile)) + (*wm__local_k_tile)[1][2] + (uint)(*wm__local_k_one) "
                        "+ (*wm__local_k_v).x;"));
  EXPECT_EQ(kernel_of(reply).local_bytes, 4U * 8 * 4 + 16 + 16);
  EXPECT_EQ(kernel_of(reply).extra_local_bytes, 20U);
}

TEST(LocalMemory, OfTypesKnownOnlyInsideTheKernelIsRefused) {
  EXPECT_THAT(reason("kernel void k(global int* x) { typedef struct { int a; } T; local T t; t.a = 1; x[0] = t.a; }"),
              HasSubstr("of a type declared in the kernel ('t')"));
}

TEST(Kernels, KeepNameArgumentsAndAttributes) {
  const std::string text =
      ask("__kernel __attribute__((reqd_work_group_size(8, 4, 1))) __attribute__((vec_type_hint(float4)))\n"
          "void k(__global const float* restrict a, __local int* l, image2d_t i, sampler_t s) {\n"
          "  if (a[0] > 1) return;\n  l[0] = 1;\n}\n")
          .source;
  EXPECT_THAT(
      text, HasSubstr("__kernel __attribute__((reqd_work_group_size(8, 4, 1))) __attribute__((vec_type_hint(float4)))\n"
                      "void k(__global const float* restrict a, __local int* l, image2d_t i, sampler_t s, __global "
                      "uint* wm__queue, __global const volatile uint* wm__control, wm__range wm__r) {"));
  EXPECT_THAT(text, HasSubstr("wm__body_k(a, l, i, s);"));
  EXPECT_THAT(text, HasSubstr("if (a[0] > 1) return;"));
}

TEST(Kernels, WithoutArguments) {
  const std::string text = ask("kernel void k(void) { }").source;
  EXPECT_THAT(text, HasSubstr("void wm__body_k(void) { }"));
  EXPECT_THAT(text, HasSubstr("kernel void k(__global uint* wm__queue,"));
}

TEST(Kernels, CallKernelsWithTheirLocalMemory) {
  const std::string text =
      ask("kernel void inner(global uint* x);\n"
          "kernel void k(global uint* x) { inner(x); }\n"
          "kernel void inner(global uint* x) { local uint t[2]; t[0] = get_group_id(0); x[0] = t[0]; }\n")
          .source;
  EXPECT_THAT(text,
              HasSubstr("void wm__body_inner(global uint* x, uint wm__g0, __local uint (*wm__local_inner_t)[2]);"));
  EXPECT_THAT(text, HasSubstr("{ wm__body_inner(x, wm__g0, wm__local_inner_t); }"));
  EXPECT_THAT(text, HasSubstr("wm__body_k(x, wm__g0, &wm__local_inner_t);"));
}

TEST(Kernels, ThatARefusedKernelCallsStay) {
  const Reply reply =
      ask("kernel void k(global int* x) { x[0] = 1; }\n"
          "kernel void outer(global int* x) { while (atomic_xchg(x, 1) != 0) ; k(x); }\n");
  EXPECT_EQ(kernel_of(reply).reason, "is called by 'outer', which is not rewritten");
  EXPECT_EQ(reply.source, "");
}

TEST(Macros, OfTheProgramAreSpentThoseOfOpenClKept) {
  const Reply reply =
      ask("#define GID get_global_id(0)\n#define WAIT(f) barrier(f)\n#define SIZE (N * 2)\n"
          "kernel void k(global float* x) { local float t[SIZE]; t[0] = M_PI_F; WAIT(CLK_LOCAL_MEM_FENCE); x[GID] = "
          "as_float(t[0]); }\n",
          "-DN=32 -I /nowhere -cl-mad-enable -U NOTHING");
  EXPECT_THAT(reply.source, HasSubstr("= M_PI_F; (barrier(CLK_LOCAL_MEM_FENCE), "));
  EXPECT_THAT(reply.source, HasSubstr("as_float((*wm__local_k_t)[0])"));
  EXPECT_THAT(reply.source, HasSubstr("__local float wm__local_k_t[64];"));
  EXPECT_EQ(reply.options, "-cl-mad-enable");
}

TEST(Macros, OfOpenClHaveTheirValueInConditions) {
  const std::string text =
      ask("#ifndef M_PI_F\n#error no pi\n#endif\n#if INT_MAX > 100000 && CHAR_BIT == 8\n"
          "kernel void k(global int* x) { x[0] = INT_MIN; }\n#else\nkernel void wrong(void) {}\n#endif\n")
          .source;
  EXPECT_THAT(text, HasSubstr("kernel void k("));
  EXPECT_THAT(text, HasSubstr("x[0] = INT_MIN;"));
  EXPECT_THAT(text, Not(HasSubstr("wrong")));
}

TEST(Macros, OfTheDeviceDecideConditions) {
  Request request{.source =
                      "#if defined(cl_khr_fp64) && OURS == 3\nkernel void k(global double* x) { x[0] = 1; }\n#endif\n"};
  EXPECT_EQ(ask(request).kernels.size(), 0U);
  request.device.macros = {"OURS=3"};
  request.device.extensions = {"cl_khr_fp64"};
  EXPECT_EQ(ask(request).kernels.size(), 1U);
  request.device.extensions = {"cl_khr_byte_addressable_store"};
  EXPECT_EQ(ask(request).kernels.size(), 0U);
}

std::string assumed(const Reply& reply) {
  std::string all;
  for (const Assumption& a : reply.assumptions) {
    all += a.name + (a.defined ? " is " + a.value : " is not") + (a.valued ? "! " : " ");
  }
  return all;
}

TEST(Macros, OfOthersAreToldOfWhereTheyDecide) {
  EXPECT_EQ(assumed(ask("#define MINE 1\n#if MINE && GIVEN\nkernel void k(global int* x) { x[0] = CLK_LOCAL_MEM_FENCE; "
                        "x[1] = __LINE__; }\n#endif\n#ifndef TAKEN\n#endif\n",
                        "-DGIVEN -UTAKEN")),
            "")
      << "its own, and what is kept as a name";
  EXPECT_EQ(assumed(ask("#ifdef cl_khr_fp64\n#endif\n#ifndef cl_none_such\n#endif\n#if defined(cl_khr_fp16)\n#elif "
                        "defined(never_asked)\n#endif\nkernel void k(global int* x) { x[0] = 1; }\n")),
            "cl_khr_fp16 is 1 cl_khr_fp64 is 1 cl_none_such is not ");
  EXPECT_EQ(assumed(ask("#if __OPENCL_VERSION__ >= 200 || CHAR_BIT != 8\n#endif\n"
                        "kernel void k(global int* x) { x[0] = __OPENCL_C_VERSION__; }\n")),
            "CHAR_BIT is 8! __OPENCL_C_VERSION__ is 120! __OPENCL_VERSION__ is not! ");
  EXPECT_EQ(assumed(ask("#define NEWER(n) (OTHERS >= n)\n#define OTHERS __NV_CL_C_VERSION\n#if NEWER(2)\n#endif\n"
                        "kernel void k(global int* x) { x[0] = 1; }\n")),
            "__NV_CL_C_VERSION is not! ")
      << "through macros of its own";
  EXPECT_EQ(assumed(ask("#ifndef __OPENCL_VERSION__\n#error too old\n#endif\n")), "__OPENCL_VERSION__ is not ")
      << "where that is why it does not read";
}

TEST(Macros, OfTheDeviceReplaceClangsOwn) {
  Request request{.source =
                      "#if __OPENCL_C_VERSION__ == 300 && !defined(cl_khr_fp16)\nkernel void k(global int* x) { x[0] = "
                      "__OPENCL_C_VERSION__; }\n#endif\n"};
  EXPECT_EQ(ask(request).kernels.size(), 0U);
  request.device.macros = {"__OPENCL_C_VERSION__=300"};
  request.device.undefined = {"cl_khr_fp16"};
  const Reply reply = ask(request);
  EXPECT_THAT(reply.source, HasSubstr("x[0] = 300;"));
  EXPECT_EQ(assumed(reply), "__OPENCL_C_VERSION__ is 300! cl_khr_fp16 is not ");
}

TEST(Text, KeepsItsLinesAndPragmas) {
  const std::string text = ask("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                               "\n\n\n\n\n\n\n\n\n\n\n\nkernel void k(global int* x) {\n#pragma unroll 4\n"
                               "  for (int i = 0; i < 8; ++i) x[i] = i;\n}\n")
                               .source;
  EXPECT_THAT(text, HasSubstr("#pragma OPENCL EXTENSION cl_khr_fp64 : enable"));
  EXPECT_THAT(text, HasSubstr("#line 14 \"program.cl\""));
  EXPECT_THAT(text, HasSubstr("#pragma unroll 4\n"));
}

TEST(Text, HasNothingStaticOrInlineOfOurs) {
  const std::string text =
      ask("kernel void k(global ulong* x, uint d) { local int t; t = 1; x[0] = get_global_id(d); }").source;
  EXPECT_THAT(text, Not(HasSubstr("static")));
  EXPECT_THAT(text, Not(HasSubstr("inline")));
}

TEST(Headers, OfCompileProgramAreFound) {
  const Reply reply = ask(Request{.source = "#include \"sizes.h\"\nkernel void k(global int* x) { x[0] = SIZE; }",
                                  .options = "",
                                  .headers = {{"sizes.h", "#define SIZE 77\n"}}});
  EXPECT_THAT(reply.source, HasSubstr("x[0] = 77;"));
  EXPECT_TRUE(reply.dependencies.empty());
}

TEST(Chunks, FollowTheInstructions) {
  const auto chunk = [](const std::string& body) {
    const KernelReply kernel = kernel_of(ask("kernel void k(global float* a, uint n) { " + body + " }"));
    return std::pair(kernel.instructions, kernel.chunk);
  };
  const auto [few, many] = chunk("a[get_global_id(0)] = 1.0f;");
  EXPECT_LT(few, 10U);
  EXPECT_EQ(many, 8U);
  std::uint32_t last = 8;
  std::string body;
  for (int i = 0; i < 16; ++i) {
    body += "a[n + " + std::to_string(i) + "] *= 3.0f; ";
    const auto [count, size] = chunk(body);
    const std::uint32_t expected = count < 10 ? 8 : count < 20 ? 6 : count < 30 ? 4 : count < 40 ? 2 : 1;
    EXPECT_EQ(size, expected) << count;
    EXPECT_LE(size, last);
    last = size;
  }
  EXPECT_EQ(last, 1U);
}

TEST(Chunks, CountHelpersWhereTheyAreCalled) {
  const std::string helper = "float f(float x) { return x * x + x * 3.0f - 1.0f; }\n";
  const auto once = kernel_of(ask(helper + "kernel void k(global float* a) { a[0] = f(a[1]); }")).instructions;
  const auto twice =
      kernel_of(ask(helper + "kernel void k(global float* a) { a[0] = f(a[1]) + f(a[2]); }")).instructions;
  EXPECT_GE(twice, once + 5);
}

TEST(ArgumentInfo, IsThatOfTheOriginal) {
  const KernelReply kernel =
      kernel_of(ask("typedef struct { int a; } S;\n"
                    "kernel __attribute__((work_group_size_hint(4, 2, 1))) void k(global const float4* restrict a, "
                    "constant unsigned int* b, "
                    "local volatile int* c, uint d, unsigned short e, write_only image2d_t f, read_only image3d_t g, "
                    "sampler_t h, S i) { }"));
  const std::vector<ArgumentInfo> expected{{"a", "float4*", "global", "none", "const restrict"},
                                           {"b", "uint*", "constant", "none", "const"},
                                           {"c", "int*", "local", "none", "volatile"},
                                           {"d", "uint", "private", "none", ""},
                                           {"e", "ushort", "private", "none", ""},
                                           {"f", "image2d_t", "global", "write_only", ""},
                                           {"g", "image3d_t", "global", "read_only", ""},
                                           {"h", "sampler_t", "private", "none", ""},
                                           {"i", "S", "private", "none", ""}};
  ASSERT_EQ(kernel.arguments.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const ArgumentInfo& got = kernel.arguments[i];
    EXPECT_EQ(got, expected[i]) << got.name << " " << got.type << " " << got.address << " " << got.access << " "
                                << got.qualifiers;
  }
  EXPECT_EQ(kernel.attributes, "work_group_size_hint(4,2,1)");
}

}  // namespace
}  // namespace wm::rewrite
