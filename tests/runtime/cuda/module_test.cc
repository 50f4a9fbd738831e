// Devices, modules, libraries, and entry points by name.
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

#include "include/warpmux.h"
#include "runtime/cuda/fixture.h"

namespace wm::cuda {
namespace {

TEST_F(CudaTest, AnImageIsNotReadBehindTheZeroOfItsText) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* pages = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(::mprotect(static_cast<char*>(pages) + page, page, PROT_NONE), 0);
  CUmodule module = nullptr;
  for (const std::string& text : {std::string(), std::string("a"), std::string(".v")}) {
    char* image = static_cast<char*>(pages) + page - text.size() - 1;
    std::memcpy(image, text.c_str(), text.size() + 1);
    EXPECT_EQ(cuModuleLoadData(&module, image), CUDA_ERROR_INVALID_PTX) << text;
  }
  ::munmap(pages, 2 * page);
}

TEST_F(CudaTest, TheDeviceIsTheGpuOfTheConfiguration) {
  int count = 0, sms = 0, major = 0;
  CU_OK(cuDeviceGetCount(&count));
  EXPECT_EQ(count, 1);
  CU_OK(cuDeviceGetAttribute(&sms, 16, 0));
  CU_OK(cuDeviceGetAttribute(&major, 75, 0));
  EXPECT_EQ(sms, 132);
  EXPECT_EQ(major, 9);
  char name[64];
  CU_OK(cuDeviceGetName(name, sizeof name, 0));
  EXPECT_STREQ(name, "warpmux h200 (simulated)");
  CUdevice device = -1;
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(&sms, 100000, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaTest, ModuleVariablesAreFoundAndShared) {
  const std::string text =
      module_text(".visible .global .align 4 .u32 total = 40;\n.visible .const .align 4 .u32 one = 1;\n" +
                  kernel_text("bump", "", R"(
ld.const.u32 %r1, [one]; ld.global.u32 %r2, [total]; add.u32 %r2, %r2, %r1; st.global.u32 [total], %r2; ret;)"));
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadData(&module, text.c_str()));
  CUdeviceptr total = 0, one = 0;
  std::size_t bytes = 0;
  CU_OK(cuModuleGetGlobal_v2(&total, &bytes, module, "total"));
  EXPECT_EQ(bytes, 4U);
  CU_OK(cuModuleGetGlobal_v2(&one, nullptr, module, "one"));
  EXPECT_EQ(cuModuleGetGlobal_v2(&one, nullptr, module, "none"), CUDA_ERROR_NOT_FOUND);
  CU_OK(cuMemsetD32_v2(one, 2, 1));
  CUfunction bump = nullptr;
  CU_OK(cuModuleGetFunction(&bump, module, "bump"));
  EXPECT_EQ(cuModuleGetFunction(&bump, module, "none"), CUDA_ERROR_NOT_FOUND);
  CU_OK(launch(bump, 1, 1, {}));
  EXPECT_EQ(download(total, 1)[0], 42U);
  CU_OK(cuModuleUnload(module));
  EXPECT_EQ(launch(bump, 1, 1, {}), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaTest, ABadModuleGivesItsMessageInTheLog) {
  CUmodule module = nullptr;
  char log[512] = {};
  int options[] = {5, 6};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  EXPECT_EQ(cuModuleLoadDataEx(&module, ".version 7.5\n.target sm_75\n.address_size 64\nnonsense", 2, options, values),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log, "module.ptx:4"), nullptr) << log;
}

TEST_F(CudaTest, ALibrarysKernelsAreLaunchedLikeFunctions) {
  CUlibrary library = nullptr;
  CU_OK(cuLibraryLoadData(&library, module_text(scale_kernel() + count_kernel()).c_str(), nullptr, nullptr, 0, nullptr,
                          nullptr, 0));
  unsigned count = 0;
  CU_OK(cuLibraryGetKernelCount(&count, library));
  EXPECT_EQ(count, 2U);
  CUkernel kernel = nullptr;
  CU_OK(cuLibraryGetKernel(&kernel, library, "count"));
  const char* name = nullptr;
  CU_OK(cuKernelGetName(&name, kernel));
  EXPECT_STREQ(name, "count");
  std::size_t offset = 1, bytes = 0;
  CU_OK(cuKernelGetParamInfo(kernel, 0, &offset, &bytes));
  EXPECT_EQ(offset, 0U);
  EXPECT_EQ(bytes, 8U);
  EXPECT_EQ(cuKernelGetParamInfo(kernel, 1, &offset, &bytes), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr word = upload({0});
  CU_OK(launch(kernel, 1, 7, {&word}));
  EXPECT_EQ(download(word, 1)[0], 7U);
  CU_OK(cuLibraryUnload(library));
}

TEST_F(CudaTest, EntryPointsAreFoundByVersionAndStream) {
  void* function = nullptr;
  int status = -1;
  CU_OK(cuGetProcAddress_v2("cuMemAlloc", &function, 12000, 0, &status));
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuMemAlloc_v2));
  EXPECT_EQ(status, 0);
  CU_OK(cuGetProcAddress_v2("cuStreamQuery", &function, 12000, 2, &status));
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuStreamQuery_ptsz));
  CU_OK(cuGetProcAddress_v2("cuCtxCreate", &function, 11030, 0, &status));
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuCtxCreate_v2));
  CU_OK(cuGetProcAddress_v2("cuCtxCreate", &function, 13000, 0, &status));
  EXPECT_EQ(function, reinterpret_cast<void*>(&cuCtxCreate_v4));
  EXPECT_EQ(cuGetProcAddress_v2("cuLaunchKernelEx", &function, 11000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, 2);
  EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &function, 12000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(function, nullptr);
}

// Unloading a module waits for its own context only.
TEST_F(CudaTest, ALaunchInAnotherContextOutlivesItsModule) {
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadData(&module, module_text(wait_kernel()).c_str()));
  CUfunction f = nullptr;
  CU_OK(cuModuleGetFunction(&f, module, "wait_for"));
  CUdeviceptr flag = upload({0}), out = upload({0});
  CUcontext other = nullptr;
  CU_OK(cuCtxCreate_v2(&other, 0, 0));
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_OK(launch(f, 1, 1, {&flag, &out}, stream));
  CU_OK(launch(f, 1, 1, {&flag, &out}, stream));
  CU_OK(cuModuleUnload(module));
  EXPECT_EQ(launch(f, 1, 1, {&flag, &out}, stream), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(cuStreamWriteValue32(CU_STREAM_PER_THREAD, flag, 9, 0));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(download(out, 1)[0], 9U);
  CU_OK(cuCtxDestroy_v2(other));
}

// As nvcc -rdc=true registers a program: one wrapper with the parts.
TEST_F(CudaTest, PartsOfAProgramAreLinked) {
  const std::string callee = module_text(R"(
.visible .global .align 4 .u32 total = 40;
.visible .func (.param .b32 r) helper (.param .b32 x)
{ .reg .b32 %r<4>; ld.param.b32 %r1, [x]; ld.global.u32 %r2, [total]; add.u32 %r1, %r1, %r2; st.param.b32 [r], %r1; ret; }
)");
  const std::string caller = module_text(".extern .func (.param .b32 r) helper (.param .b32 x);\n" +
                                         kernel_text("call_helper", ".param .u64 out", R"(
mov.u32 %r1, 2;
{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r1; call.uni (r), helper, (x); ld.param.b32 %r3, [r]; }
ld.param.u64 %d1, [out]; st.global.u32 [%d1], %r3; ret;)"));
  struct {
    std::uint32_t magic = 0x466243b1, version = 2;
    const void* data = nullptr;
    const void* const* parts = nullptr;
  } wrapper;
  const void* const parts[] = {caller.c_str(), callee.c_str(), nullptr};
  wrapper.parts = parts;
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadData(&module, &wrapper));
  CUfunction f = nullptr;
  CU_OK(cuModuleGetFunction(&f, module, "call_helper"));
  CUdeviceptr out = upload({0}), total = 0;
  CU_OK(launch(f, 1, 1, {&out}));
  EXPECT_EQ(download(out, 1)[0], 42U);
  CU_OK(cuModuleGetGlobal_v2(&total, nullptr, module, "total"));
  EXPECT_EQ(download(total, 1)[0], 40U);
}

// nvcc adds a library of its own to such programs, which has no PTX for older GPUs.
TEST_F(CudaTest, PartsWithoutPtxAreLeftOut) {
  const std::string kernel = module_text(kernel_text("nothing", ".param .u64 out", "ret;"));
  const std::uint32_t machine_code[4] = {0x464c457f};  // the magic number of ELF
  struct {
    std::uint32_t magic = 0x466243b1, version = 2;
    const void* data = nullptr;
    const void* const* parts = nullptr;
  } wrapper;
  const void* const parts[] = {machine_code, kernel.c_str(), nullptr};
  wrapper.parts = parts;
  CUmodule module = nullptr;
  CU_OK(cuModuleLoadData(&module, &wrapper));
  CUfunction f = nullptr;
  CU_OK(cuModuleGetFunction(&f, module, "nothing"));
  EXPECT_EQ(cuModuleGetFunction(&f, module, "of_the_other_part"), CUDA_ERROR_NO_BINARY_FOR_GPU);
  const void* const none[] = {machine_code, nullptr};
  wrapper.parts = none;
  EXPECT_EQ(cuModuleLoadData(&module, &wrapper), CUDA_ERROR_NO_BINARY_FOR_GPU);
}

TEST_F(CudaTest, AMissingFunctionSaysSo) {
  void* function = nullptr;
  CU_OK(cuGetProcAddress_v2("cuMulticastCreate", &function, 12000, 0, nullptr));
  testing::internal::CaptureStderr();
  EXPECT_EQ(reinterpret_cast<CUresult (*)()>(function)(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(reinterpret_cast<CUresult (*)()>(function)(), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "wm: the simulated CUDA driver does not have cuMulticastCreate\n");
}

TEST_F(CudaTest, TheProgramsHeaderReachesTheDriver) {
  EXPECT_EQ(wm_set_priority(2), 1);
  EXPECT_EQ(wm_set_goal("count", 100), 1);
  EXPECT_EQ(wm_set_goal("count", -1), 0);
  EXPECT_EQ(cudaSetQoS(nullptr, 1), 0);  // no runtime library in this process
  EXPECT_EQ(wm_set_priority(0), 1);
}

TEST_F(CudaTest, ErrorsHaveNamesAndTexts) {
  const char* text = nullptr;
  CU_OK(cuGetErrorName(CUDA_ERROR_NOT_READY, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_NOT_READY");
  CU_OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace wm::cuda
