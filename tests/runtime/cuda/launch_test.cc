// Kernels run, launches are checked, faults stay with their context.
#include <atomic>
#include <numeric>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/cuda/fixture.h"

namespace wm::cuda {
namespace {

TEST_F(CudaTest, AKernelReadsAndWritesDeviceMemory) {
  std::vector<std::uint32_t> values(1000);
  std::iota(values.begin(), values.end(), 5U);
  CUdeviceptr in = upload(values), out = upload(std::vector<std::uint32_t>(1000));
  std::uint32_t factor = 3, n = 1000;
  CU_OK(launch(function(scale_kernel(), "scale"), 8, 128, {&in, &out, &factor, &n}));
  const auto result = download(out, 1000);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(result[i], (i + 5) * 3 + i);
}

TEST_F(CudaTest, ParametersMayComeAsOneBuffer) {
  CUdeviceptr in = upload({7, 8}), out = upload({0, 0});
  struct {
    CUdeviceptr in, out;
    std::uint32_t factor, n;
  } packed{in, out, 10, 2};
  std::size_t bytes = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
  CU_OK(cuLaunchKernel(function(scale_kernel(), "scale"), 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(download(out, 2), (std::vector<std::uint32_t>{70, 81}));
  bytes = 8;
  EXPECT_EQ(cuLaunchKernel(function(scale_kernel(), "scale"), 1, 1, 1, 2, 1, 1, 0, nullptr, nullptr, extra),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaTest, AtomicsOfManyBlocksAllCount) {
  CUdeviceptr word = upload({0});
  CU_OK(launch(function(count_kernel(), "count"), 64, 96, {&word}));
  EXPECT_EQ(download(word, 1)[0], 64U * 96);
}

TEST_F(CudaTest, ALaunchThatTheDeviceCannotTakeIsRefused) {
  CUdeviceptr word = upload({0});
  const CUfunction f = function(count_kernel(), "count");
  EXPECT_EQ(launch(f, 0, 32, {&word}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(f, 1, 1025, {&word}), CUDA_ERROR_INVALID_VALUE);
  void* parameters[] = {&word};
  EXPECT_EQ(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 48 * 1024 + 1, nullptr, parameters, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 * 1024));
  CU_OK(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 100 * 1024, nullptr, parameters, nullptr));
  EXPECT_EQ(cuLaunchKernel(reinterpret_cast<CUfunction>(&word), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(download(word, 1)[0], 32U);
}

TEST_F(CudaTest, AFaultStaysWithItsContext) {
  const CUfunction f = function(count_kernel(), "count");
  CUdeviceptr nowhere = 0x700000000008;
  CU_OK(launch(f, 1, 1, {&nowhere}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc_v2(&address, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUcontext other = nullptr;
  CU_OK(cuCtxCreate_v2(&other, 0, 0));
  CU_OK(cuMemAlloc_v2(&address, 16));
  CU_OK(cuCtxDestroy_v2(other));
}

TEST_F(CudaTest, ATrapIsALaunchFailure) {
  CU_OK(launch(function(kernel_text("stop", "", "trap;\nret;"), "stop"), 1, 1, {}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST_F(CudaTest, ACooperativeLaunchMustFitTheDevice) {
  CUdeviceptr word = upload({0});
  const CUfunction f = function(count_kernel(), "count");
  void* parameters[] = {&word};
  int per_sm = 0, sms = 0;
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, f, 1024, 0));
  CU_OK(cuDeviceGetAttribute(&sms, 16, 0));
  EXPECT_EQ(per_sm, 2);  // 2048 threads of an SM
  EXPECT_EQ(
      cuLaunchCooperativeKernel(f, static_cast<unsigned>(per_sm * sms) + 1, 1, 1, 1024, 1, 1, 0, nullptr, parameters),
      CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
  CU_OK(cuLaunchCooperativeKernel(f, 4, 1, 1, 64, 1, 1, 0, nullptr, parameters));
  EXPECT_EQ(download(word, 1)[0], 256U);
}

TEST_F(CudaTest, BlocksThatCannotBeLaunchedHaveNoOccupancy) {
  const CUfunction f = function(count_kernel(), "count");
  int blocks = -1;
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, 48 << 10));
  EXPECT_GT(blocks, 0);
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, (48 << 10) + 1));
  EXPECT_EQ(blocks, 0) << "more shared memory needs the opt-in";
  CU_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 60 << 10));
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, f, 64, 60 << 10));
  EXPECT_GT(blocks, 0);
  std::string bounded = kernel_text("bounded", "", "ret;");
  bounded.insert(bounded.find('{'), ".maxntid 128, 1, 1\n");
  const CUfunction small = function(bounded, "bounded");
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 129, 0));
  EXPECT_EQ(blocks, 0);
  CU_OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 128, 0));
  EXPECT_GT(blocks, 0);
}

TEST_F(CudaTest, AttributesOfALaunchAreTakenOrRefused) {
  CUdeviceptr word = upload({0});
  const CUfunction f = function(count_kernel(), "count");
  void* parameters[] = {&word};
  CUlaunchAttribute attribute{};
  CUlaunchConfig config{1, 1, 1, 2, 1, 1, 0, nullptr, &attribute, 1};
  attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
  attribute.value.priority = -3;
  CU_OK(cuLaunchKernelEx(&config, f, parameters, nullptr));
  for (const unsigned id : {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT}) {
    attribute.id = id;
    EXPECT_EQ(cuLaunchKernelEx(&config, f, parameters, nullptr), CUDA_ERROR_NOT_SUPPORTED) << id;
  }
  config.attrs = nullptr;
  EXPECT_EQ(cuLaunchKernelEx(&config, f, parameters, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(download(word, 1)[0], 2U);
}

TEST_F(CudaTest, AnUnknownAttributeOfALaunchIsInvalid) {
  const CUfunction f = function(kernel_text("empty", "", "ret;"), "empty");
  CUlaunchAttribute attribute{};
  CUlaunchConfig config{1, 1, 1, 32, 1, 1, 0, nullptr, &attribute, 1};
  CU_OK(cuLaunchKernelEx(&config, f, nullptr, nullptr));
  attribute.id = 999;
  EXPECT_EQ(cuLaunchKernelEx(&config, f, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaTest, KernelsThatNeedClustersAreNotLaunched) {
  const auto kernel = [](const std::string& name, const std::string& directive) {
    return ".visible .entry " + name + "()\n" + directive + "\n{\nret;\n}\n";
  };
  const std::string kernels = kernel("pairs", ".reqnctapercluster 2, 1, 1") + kernel("given", ".explicitcluster") +
                              kernel("single", ".reqnctapercluster 1, 1, 1");
  EXPECT_EQ(launch(function(kernels, "pairs"), 4, 32, {}), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(launch(function(kernels, "given"), 4, 32, {}), CUDA_ERROR_NOT_SUPPORTED);
  CU_OK(launch(function(kernels, "single"), 4, 32, {}));
  CU_OK(cuCtxSynchronize());
}

TEST_F(CudaTest, AChildOfTheProcessHasNoDriver) {
  const CUdeviceptr address = upload({1});
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    CUcontext current = nullptr;
    const bool refused = cuInit(0) == CUDA_ERROR_NOT_INITIALIZED && cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED &&
                         cuMemsetD32_v2(address, 2, 1) == CUDA_ERROR_NOT_INITIALIZED &&
                         cuDevicePrimaryCtxRetain(&current, 0) == CUDA_ERROR_NOT_INITIALIZED;
    ::_exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(download(address, 1)[0], 1U);
}

TEST_F(CudaTest, AtomicsOfKernelsAndOfTheHostCountTogether) {
  CUdeviceptr word = 0;
  CU_OK(cuMemAllocManaged(&word, 4, CU_MEM_ATTACH_GLOBAL));
  auto* count = reinterpret_cast<std::uint32_t*>(word);  // NOLINT(performance-no-int-to-ptr): managed memory
  *count = 0;
  const CUfunction repeat = function(kernel_text("repeat", ".param .u64 word, .param .u32 times", R"(
ld.param.u64 %d1, [word]; ld.param.u32 %r2, [times];
again: atom.sys.global.inc.u32 %r1, [%d1], 4294967295; add.u32 %r2, %r2, -1; setp.ne.u32 %p1, %r2, 0; @%p1 bra again;
ret;)"),
                                     "repeat");
  std::uint32_t times = 5000, own = 0;
  CU_OK(launch(repeat, 1, 32, {&word, &times}));
  while (cuStreamQuery(nullptr) == CUDA_ERROR_NOT_READY) {
    for (int i = 0; i < 1000; ++i, ++own) std::atomic_ref(*count).fetch_add(1);
  }
  EXPECT_EQ(*count, 32 * times + own);
}

}  // namespace
}  // namespace wm::cuda
