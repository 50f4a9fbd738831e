// Programs of our own compiler through the client library: logs, options, compiling and linking, binaries and queries.
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include "runtime/compiler/compiled_side.h"

namespace wm::runtime::test {
namespace {

using testing::HasSubstr;

struct CompiledProgram : CompiledContext {
  cl_program source(const char* text) { return clCreateProgramWithSource(side.context, 1, &text, nullptr, nullptr); }
  cl_int build_status(cl_program program) {
    cl_build_status status = 1;
    clGetProgramBuildInfo(program, side.device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, nullptr);
    return status;
  }
  // The log of a program that does not build.
  std::string refusal(const char* text, const char* options = "") {
    cl_program program = source(text);
    EXPECT_EQ(clBuildProgram(program, 1, &side.device, options, nullptr, nullptr), CL_BUILD_PROGRAM_FAILURE);
    EXPECT_EQ(build_status(program), CL_BUILD_ERROR);
    const std::string log = build_log(side, program);
    clReleaseProgram(program);
    return log;
  }
  template <typename T>
  T argument(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name) {
    T value{};
    EXPECT_EQ(clGetKernelArgInfo(kernel, index, name, sizeof value, &value, nullptr), CL_SUCCESS);
    return value;
  }
  std::string argument_text(cl_kernel kernel, cl_uint index, cl_kernel_arg_info name) {
    char text[64] = {};
    EXPECT_EQ(clGetKernelArgInfo(kernel, index, name, sizeof text, text, nullptr), CL_SUCCESS);
    return text;
  }
};

TEST_F(CompiledProgram, BadSourceFailsToBuildAndTheLogHasClangsDiagnostics) {
  const std::string log = refusal("kernel void f(global int* x) {\n  x[0] = undeclared;\n}");
  EXPECT_THAT(log, HasSubstr("program.cl:2:10: error: use of undeclared identifier 'undeclared'"));
}

TEST_F(CompiledProgram, UnsupportedFeaturesAreRefusedByName) {
  EXPECT_THAT(refusal("void g(global int* x);\nkernel void f(global int* x) { g(x); }"),
              HasSubstr("the function 'g' is neither defined nor a built-in function"));
  EXPECT_THAT(refusal("kernel void f(read_only image2d_t i, global int* x) { x[0] = get_image_width(i); }"),
              HasSubstr("kernel 'f' takes 'i' of type image2d_t: images and samplers are not supported"));
  EXPECT_THAT(refusal("kernel void f(global int16* x) { printf(\"%v16d%v16d%d\", x[0], x[1], 1); }"),
              HasSubstr("it prints vectors or characters as numbers, with a format that is not known here"));
}

TEST_F(CompiledProgram, OptionsAreThoseOfTheStandard) {
  cl_program program = source("kernel void f(global int* x) { x[0] = N + __OPENCL_C_VERSION__ + VALUE; }");
  EXPECT_EQ(clBuildProgram(program, 1, &side.device,
                           "-D N=3 -DVALUE=4 -cl-std=CL1.1 -cl-fast-relaxed-math -cl-mad-enable -w -cl-nv-verbose",
                           nullptr, nullptr),
            CL_SUCCESS)
      << build_log(side, program);
  EXPECT_EQ(result_of(program), 117);
  EXPECT_EQ(clBuildProgram(program, 1, &side.device, "-cl-unknown", nullptr, nullptr), CL_INVALID_BUILD_OPTIONS);
  EXPECT_EQ(clBuildProgram(program, 1, &side.device, "-cl-std=CL2.0", nullptr, nullptr), CL_INVALID_BUILD_OPTIONS);
  EXPECT_THAT(build_log(side, program), HasSubstr("this compiler has OpenCL C 1.0 to 1.2"));
  clReleaseProgram(program);
}

TEST_F(CompiledProgram, SeparatelyCompiledProgramsAreLinked) {
  cl_program header = source("int g(int);\n#define ADDED 40");
  cl_program caller = source("#include \"lib/g.h\"\nkernel void f(global int* x) { x[0] = g(2) + ADDED; }");
  cl_program callee = source("int g(int a) { return a * a; }");
  const char* name = "lib/g.h";
  EXPECT_EQ(clCompileProgram(caller, 1, &side.device, "", 1, &header, &name, nullptr, nullptr), CL_SUCCESS)
      << build_log(side, caller);
  EXPECT_EQ(clCompileProgram(callee, 1, &side.device, "", 0, nullptr, nullptr, nullptr, nullptr), CL_SUCCESS);
  cl_int status = 1;
  cl_program library =
      clLinkProgram(side.context, 1, &side.device, "-create-library", 1, &callee, nullptr, nullptr, &status);
  EXPECT_EQ(status, CL_SUCCESS);
  const std::array parts{caller, library};
  cl_program linked = clLinkProgram(side.context, 1, &side.device, "", 2, parts.data(), nullptr, nullptr, &status);
  EXPECT_EQ(status, CL_SUCCESS);
  EXPECT_EQ(result_of(linked), 44);
  clLinkProgram(side.context, 1, &side.device, "", 1, &caller, nullptr, nullptr, &status);
  EXPECT_EQ(status, CL_LINK_PROGRAM_FAILURE) << "g is missing";
  for (cl_program p : {header, caller, callee, library, linked}) clReleaseProgram(p);
}

TEST_F(CompiledProgram, ABinaryBuildsWithoutItsSource) {
  cl_program original = build(side, "kernel void f(global int* x) { x[0] = 7; }");
  std::size_t size = 0;
  EXPECT_EQ(clGetProgramInfo(original, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr), CL_SUCCESS);
  std::vector<unsigned char> bytes(size);
  unsigned char* to = bytes.data();
  EXPECT_EQ(clGetProgramInfo(original, CL_PROGRAM_BINARIES, sizeof to, &to, nullptr), CL_SUCCESS);
  EXPECT_THAT(std::string(bytes.begin(), bytes.end()), HasSubstr(".entry f("));
  const unsigned char* from = bytes.data();
  cl_int loaded = 1, status = 1;
  cl_program again = clCreateProgramWithBinary(side.context, 1, &side.device, &size, &from, &loaded, &status);
  EXPECT_EQ(status, CL_SUCCESS);
  EXPECT_EQ(clBuildProgram(again, 0, nullptr, "", nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(result_of(again), 7);
  size = 5;
  clCreateProgramWithBinary(side.context, 1, &side.device, &size, &from, &loaded, &status);
  EXPECT_EQ(status, CL_INVALID_BINARY);
  for (cl_program p : {original, again}) clReleaseProgram(p);
}

TEST_F(CompiledProgram, PrintedTextReachesTheClient) {
  cl_program program = build(side,
                             "kernel void f(global int* x) { printf(\"%d %.2f %s %c %lu\\n\", -7, 2.5f, \"text\", "
                             "'c', 1ul << 40); x[0] = 3; }");
  testing::internal::CaptureStdout();
  EXPECT_EQ(result_of(program), 3);
  clFinish(side.queue);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "-7 2.50 text c 1099511627776\n");
  clReleaseProgram(program);
}

TEST_F(CompiledProgram, VectorsArePrintedElementByElement) {
  cl_program program = build(side, R"(
kernel void f(global int* x) {
  x[0] = 1;  // so that no value is a constant
  printf("%v2d|%d|%v3d %s\n", (int2)(x[0], -2), 3, (int3)(4, 5, x[0]), "text");
  printf("%v4hhd %v4hhu %v3hhx|%c\n", (char4)(x[0], -2, 127, -128), (uchar4)(x[0], 2, 254, 255), (uchar3)(10, 11, x[0]), 'c');
  printf("%v2hd %v8hu %ld\n", (short2)(x[0], -7), (ushort8)(x[0], 2, 3, 4, 5, 6, 7, 65535), 1l << 40);
  printf("%hhd %hhu %hd|%hx %d\n", (char)-3, (uchar)200, (short)-7, (ushort)65535, 1);
  printf("%v2ld %v2lu|%d\n", (long2)(x[0], -(1l << 40)), (ulong2)(x[0], 1ul << 40), 9);
  printf("%.2v4f %.1f %5.1v2hlf %v3hle\n", (float4)(x[0], 2.5f, -3.25f, 1e6f), 0.5f, (float2)(x[0], 2), (float3)(x[0], 0, 8));
  printf("100%% %v2lg %-4v2d| %#v2X %+v4hli\n", (double2)(x[0], 0.25), (int2)(x[0], 2), (uint2)(x[0] + 254, 16), (int4)(x[0], 0, -1, 2));
  x[0] = printf("%v16d\n", (int16)(x[0])) + printf("%d\n", x[0]) + 5;
})");
  testing::internal::CaptureStdout();
  EXPECT_EQ(result_of(program), 5) << "printf returns 0";
  clFinish(side.queue);
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "1,-2|3|4,5,1 text\n"
            "1,-2,127,-128 1,2,254,255 a,b,1|c\n"
            "1,-7 1,2,3,4,5,6,7,65535 1099511627776\n"
            "-3 200 -7|ffff 1\n"
            "1,-1099511627776 1,1099511627776|9\n"
            "1.00,2.50,-3.25,1000000.00 0.5   1.0,  2.0 1.000000e+00,0.000000e+00,8.000000e+00\n"
            "100% 1,0.25 1   ,2   | 0XFF,0X10 +1,+0,-1,+2\n"
            "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1\n1\n");
  clReleaseProgram(program);
}

TEST_F(CompiledProgram, ConstantsOfTheProgramAndLocalMemoryOfEverySizeAreKept) {
  cl_program program = build(side, R"(
constant int table[4] = {2, 3, 5, 7};
constant struct { float4 v; char name[3]; } record = {(float4)(1, 2, 3, 4), {'a', 'b', 'c'}};
kernel void f(global int* x) {
  local long wide[4];
  local char narrow[4];
  for (int i = 0; i < 4; ++i) { wide[i] = table[i]; narrow[i] = (char)(i + record.name[i % 3]); }
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = (int)record.v.w;
  for (int i = 0; i < 4; ++i) sum = sum * 10 + (int)wide[3 - i] + narrow[i] - record.name[0];
  x[0] = sum;
})");
  int expected = 4;
  constexpr std::array kTable{2, 3, 5, 7}, kNarrow{0, 2, 4, 3};
  for (std::size_t i = 0; i < 4; ++i) expected = expected * 10 + kTable[3 - i] + kNarrow[i];
  EXPECT_EQ(result_of(program), expected);
  clReleaseProgram(program);
}

TEST_F(CompiledProgram, TablesPointToOtherConstants) {
  cl_program program = build(side, R"(
constant int first[3] = {1, 2, 3};
constant int second[2] = {4, 5};
constant int* constant rows[2] = {first, second};
constant char* constant names[2] = {"hello", "world"};
kernel void f(global int* x) {
  volatile int one = 1;
  x[0] = rows[one][one] * 1000 + names[one][0];
})");
  EXPECT_EQ(result_of(program), 5119);
  clReleaseProgram(program);
}

// libclc has a table of this name.
TEST_F(CompiledProgram, NamesOfTheProgramAreApartFromThoseOfTheBuiltInFunctions) {
  cl_program program = build(side,
                             "constant float2 LOGE_TBL[129] = {(float2)(5, 6)};\n"
                             "kernel void f(global int* x) { volatile float y = 20.0f; "
                             "x[0] = (int)(pow(y, 1.5f) * 1000) + (int)LOGE_TBL[y > 100].x; }");
  EXPECT_EQ(result_of(program), 89442 + 5);
  clReleaseProgram(program);
}

TEST_F(CompiledProgram, ArgumentsOfEveryKindArrive) {
  cl_program program = build(side, R"(
typedef struct { char c; int i; float4 v; } record;
__attribute__((noinline)) uint helper(local uint* l, uint n) { l[get_local_id(0)] = n; return get_global_id(0) + l[0]; }
kernel void f(global int* x, uchar a, short b, long c, float3 d, double e, record r, local uint* l, local char* m) {
  m[0] = 1;
  if (get_global_id(0) != 0) return;
  x[0] = a + b * 10 + (int)c * 100 + (int)d.z * 1000 + (int)e * 10000 + (r.c + r.i + (int)r.v.w) * 100000 +
         (int)helper(l, 4) * 1000000;
})");
  cl_int status = 1;
  cl_kernel kernel = clCreateKernel(program, "f", &status);
  ASSERT_EQ(status, CL_SUCCESS) << build_log(side, program);
  cl_mem memory = clCreateBuffer(side.context, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
  struct alignas(16) Record {
    char c;
    int i;
    alignas(16) float v[4];
  };
  const cl_uchar a = 1;
  const cl_short b = 2;
  const cl_long c = 3;
  const cl_float3 d{{0, 0, 4}};
  const cl_double e = 5;
  const Record r{1, 2, {0, 0, 0, 3}};
  EXPECT_EQ(clSetKernelArg(kernel, 0, sizeof memory, &memory), CL_SUCCESS);
  EXPECT_EQ(clSetKernelArg(kernel, 1, sizeof a, &a), CL_SUCCESS);
  EXPECT_EQ(clSetKernelArg(kernel, 2, sizeof b, &b), CL_SUCCESS);
  EXPECT_EQ(clSetKernelArg(kernel, 3, sizeof c, &c), CL_SUCCESS);
  EXPECT_EQ(clSetKernelArg(kernel, 4, sizeof d, &d), CL_SUCCESS);
  EXPECT_EQ(clSetKernelArg(kernel, 5, sizeof e, &e), CL_SUCCESS);
  EXPECT_EQ(clSetKernelArg(kernel, 6, sizeof r, &r), CL_SUCCESS);
  EXPECT_EQ(clSetKernelArg(kernel, 7, 16, nullptr), CL_SUCCESS);
  EXPECT_EQ(clSetKernelArg(kernel, 8, 3, nullptr), CL_SUCCESS);
  const std::size_t items = 4;
  EXPECT_EQ(clEnqueueNDRangeKernel(side.queue, kernel, 1, nullptr, &items, &items, 0, nullptr, nullptr), CL_SUCCESS);
  int value = 0;
  EXPECT_EQ(clEnqueueReadBuffer(side.queue, memory, CL_TRUE, 0, 4, &value, 0, nullptr, nullptr), CL_SUCCESS);
  EXPECT_EQ(value, 4654321);
  clReleaseMemObject(memory);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
}

TEST_F(CompiledProgram, FilesAreIncludedFromTheFoldersOfTheOptions) {
  const std::string folder = testing::TempDir() + "wm-compiler-includes";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/value.h") << "#define VALUE 31\n";
  cl_program program =
      build(side, "#include \"value.h\"\nkernel void f(global int* x) { x[0] = VALUE; }", ("-I " + folder).c_str());
  EXPECT_EQ(result_of(program), 31);
  clReleaseProgram(program);
  std::filesystem::remove_all(folder);
}

TEST_F(CompiledProgram, KernelsAndTheirArgumentsAreDescribed) {
  cl_program program = build(side,
                             "typedef struct { int a; } pair; kernel __attribute__((reqd_work_group_size(8, 4, 1))) "
                             "void f(global const float* restrict in, local uint* l, constant pair* c, float4 v) "
                             "{ local int s[16]; s[get_local_id(0)] = in[0] + v.x + c->a; "
                             "barrier(CLK_LOCAL_MEM_FENCE); l[0] = s[3]; }\nkernel void other() {}");
  std::array<char, 64> names{};
  clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, names.size(), names.data(), nullptr);
  EXPECT_EQ(std::string(names.data()), "f;other");
  cl_int status = 1;
  clCreateKernel(program, "missing", &status);
  EXPECT_EQ(status, CL_INVALID_KERNEL_NAME);
  cl_kernel kernel = clCreateKernel(program, "f", nullptr);
  EXPECT_EQ(argument_text(kernel, 0, CL_KERNEL_ARG_TYPE_NAME), "float*");
  EXPECT_EQ(argument_text(kernel, 1, CL_KERNEL_ARG_TYPE_NAME), "uint*");
  EXPECT_EQ(argument_text(kernel, 2, CL_KERNEL_ARG_TYPE_NAME), "pair*");
  EXPECT_EQ(argument_text(kernel, 3, CL_KERNEL_ARG_TYPE_NAME), "float4");
  EXPECT_EQ(argument_text(kernel, 0, CL_KERNEL_ARG_NAME), "in");
  const std::array<cl_kernel_arg_address_qualifier, 4> spaces{CL_KERNEL_ARG_ADDRESS_GLOBAL, CL_KERNEL_ARG_ADDRESS_LOCAL,
                                                              CL_KERNEL_ARG_ADDRESS_CONSTANT,
                                                              CL_KERNEL_ARG_ADDRESS_PRIVATE};
  for (cl_uint i = 0; i < 4; ++i) {
    EXPECT_EQ(argument<cl_kernel_arg_address_qualifier>(kernel, i, CL_KERNEL_ARG_ADDRESS_QUALIFIER), spaces[i]);
  }
  EXPECT_EQ(argument<cl_kernel_arg_type_qualifier>(kernel, 0, CL_KERNEL_ARG_TYPE_QUALIFIER),
            cl_kernel_arg_type_qualifier{CL_KERNEL_ARG_TYPE_CONST | CL_KERNEL_ARG_TYPE_RESTRICT});
  std::array<std::size_t, 3> size{};
  clGetKernelWorkGroupInfo(kernel, side.device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof size, size.data(), nullptr);
  EXPECT_EQ(size, (std::array<std::size_t, 3>{8, 4, 1}));
  cl_ulong local = 0;
  clGetKernelWorkGroupInfo(kernel, side.device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof local, &local, nullptr);
  EXPECT_EQ(local, 64U);
  EXPECT_EQ(clSetKernelArg(kernel, 1, 0, nullptr), CL_INVALID_ARG_SIZE);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
}

TEST_F(CompiledProgram, TheDeviceIsDescribedByTheCudaDriver) {
  const auto text = [&](cl_device_info name) {
    char value[1024] = {};
    EXPECT_EQ(clGetDeviceInfo(side.device, name, sizeof value, value, nullptr), CL_SUCCESS);
    return std::string(value);
  };
  EXPECT_EQ(text(CL_DEVICE_NAME), "warpmux h200 (simulated)");
  EXPECT_EQ(text(CL_DEVICE_OPENCL_C_VERSION).substr(0, 12), "OpenCL C 1.2");
  EXPECT_THAT(text(CL_DEVICE_EXTENSIONS), HasSubstr("cl_khr_fp64"));
  const auto value = [&]<typename T>(cl_device_info name, T) {
    T v{};
    EXPECT_EQ(clGetDeviceInfo(side.device, name, sizeof v, &v, nullptr), CL_SUCCESS);
    return v;
  };
  EXPECT_EQ(value(CL_DEVICE_TYPE, cl_device_type{}), cl_device_type{CL_DEVICE_TYPE_GPU});
  EXPECT_EQ(value(CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint{}), 132U);
  EXPECT_EQ(value(CL_DEVICE_MAX_WORK_GROUP_SIZE, std::size_t{}), 1024U);
  EXPECT_EQ(value(CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong{}), 48U << 10);
  EXPECT_EQ(value(CL_DEVICE_IMAGE_SUPPORT, cl_bool{}), cl_bool{CL_FALSE});
  EXPECT_THAT(the_daemon()->status(), HasSubstr("\"compiler\":\"clang 19 with libclc\""));
}

}  // namespace
}  // namespace wm::runtime::test
