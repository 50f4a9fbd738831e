// The error codes that the documentation of CUDA names for mistakes of an application.
#include <cstring>

#include "fixture.h"

namespace wm::cuda {
namespace {

struct Size {
  unsigned x, y, z;
};

class ErrorCodeTest : public CudaTest {
 protected:
  static CUresult launch_shape(CUfunction f, Size grid, Size block, unsigned shared, void** arguments) {
    return cuLaunchKernel(f, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared, nullptr, arguments, nullptr);
  }
};

TEST_F(ErrorCodeTest, PtxThatIsWrongFillsTheLog) {
  char log[200] = "unchanged", info[20] = "unchanged";
  int options[] = {5, 6, 3, 4};  // error log, its size, information log, its size
  void* values[] = {log, reinterpret_cast<void*>(std::uintptr_t{sizeof log}), info,
                    reinterpret_cast<void*>(std::uintptr_t{sizeof info})};
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, module_text("nonsense").c_str(), 4, options, values), CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(std::strstr(log, "nonsense"), nullptr) << log;
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[1]), std::strlen(log) + 1);
  EXPECT_EQ(module, nullptr);
  EXPECT_EQ(cuModuleLoadData(&module, "no ptx at all"), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleLoadData(&module, ".version 42.0\n.target sm_75\n.address_size 64\n"),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  EXPECT_EQ(cuModuleLoadData(&module, ""), CUDA_ERROR_INVALID_PTX);
  EXPECT_EQ(cuModuleLoadData(&module, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuModuleLoad(&module, "/nowhere/file.ptx"), CUDA_ERROR_FILE_NOT_FOUND);
  CU_OK(cuModuleLoadData(&module, module_text(count_kernel()).c_str()));
  CUfunction missing = nullptr;
  EXPECT_EQ(cuModuleGetFunction(&missing, module, "missing"), CUDA_ERROR_NOT_FOUND);
  CU_OK(cuModuleUnload(module));
  EXPECT_EQ(cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuModuleGetFunction(&missing, module, "count"), CUDA_ERROR_INVALID_HANDLE);
}

// A call that waits for the device would wait for the function itself.
TEST_F(ErrorCodeTest, HostFunctionsMayNotCallTheDriver) {
  struct Results {
    CUresult synchronize, wait, allocate, destroy;
  } results{};
  const auto call = [](void* data) {
    auto& r = *static_cast<Results*>(data);
    CUdeviceptr memory = 0;
    CUstream stream = nullptr;
    r = {cuCtxSynchronize(), cuStreamSynchronize(nullptr), cuMemAlloc_v2(&memory, 4), cuStreamDestroy_v2(stream)};
  };
  const auto expect_refused = [&] {
    for (const CUresult r : {results.synchronize, results.wait, results.allocate, results.destroy})
      EXPECT_EQ(r, CUDA_ERROR_NOT_PERMITTED);
    results = {};
  };
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, 0));
  CU_OK(cuLaunchHostFunc(stream, call, &results));
  CU_OK(cuStreamSynchronize(stream));
  expect_refused();
  static const auto in_callback = call;
  CU_OK(cuStreamAddCallback(
      stream, [](CUstream, CUresult, void* data) { in_callback(data); }, &results, 0));
  CU_OK(cuStreamSynchronize(stream));
  expect_refused();
}

TEST_F(ErrorCodeTest, PitchesAndExtentsThatFitIntoNoMemoryAreInvalid) {
  constexpr std::size_t kHuge = ~std::size_t{0};
  const CUdeviceptr words = upload({1, 2, 3, 4});
  std::uint32_t host[4] = {};
  CUDA_MEMCPY2D rows{};
  rows.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  rows.srcDevice = words;
  rows.dstMemoryType = CU_MEMORYTYPE_HOST;
  rows.dstHost = host;
  rows.WidthInBytes = 4;
  rows.Height = 2;
  rows.srcPitch = 8;
  for (const std::size_t pitch : {kHuge, std::size_t{1} << 31, std::size_t{1} << 62}) {
    rows.dstPitch = pitch;
    EXPECT_EQ(cuMemcpy2D_v2(&rows), CUDA_ERROR_INVALID_VALUE) << pitch;
  }
  rows.dstPitch = 8;
  rows.Height = kHuge;
  EXPECT_EQ(cuMemcpy2D_v2(&rows), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD2D8_v2(words, kHuge, 0, 4, 2), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpy(words, reinterpret_cast<CUdeviceptr>(&host), kHuge), CUDA_ERROR_INVALID_VALUE);
  rows.Height = 2;
  CU_OK(cuMemcpy2D_v2(&rows));  // the context has not failed
  EXPECT_EQ(host[2], 3U);
}

TEST_F(ErrorCodeTest, PoolsAreOfPinnedMemoryOnTheDevice) {
  CUmemoryPool pool = nullptr;
  CUmemPoolProps properties{};
  EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
  properties.allocType = 1;
  properties.location.type = 3;  // a NUMA node of the host
  EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_NOT_SUPPORTED);
  properties.location.type = 1;
  properties.location.id = 1;
  EXPECT_EQ(cuMemPoolCreate(&pool, &properties), CUDA_ERROR_INVALID_VALUE);
  properties.location.id = 0;
  CU_OK(cuMemPoolCreate(&pool, &properties));
}

TEST_F(ErrorCodeTest, GridsAndBlocksHaveLimits) {
  CUdeviceptr word = upload({0});
  void* arguments[] = {&word};
  CUfunction f = function(count_kernel(), "count");
  EXPECT_EQ(launch_shape(f, {1, 65536, 1}, {1, 1, 1}, 0, arguments), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape(f, {1, 1, 65536}, {1, 1, 1}, 0, arguments), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape(f, {0, 1, 1}, {1, 1, 1}, 0, arguments), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape(f, {1, 1, 1}, {1, 1, 65}, 0, arguments), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape(f, {1, 1, 1}, {1025, 1, 1}, 0, arguments), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape(f, {1, 1, 1}, {32, 33, 1}, 0, arguments), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape(f, {1, 1, 1}, {1, 1, 1}, 49 << 10, arguments), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch_shape(nullptr, {1, 1, 1}, {1, 1, 1}, 0, arguments), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(launch_shape(f, {1, 65535, 1}, {1, 1, 1}, 0, arguments));
  EXPECT_EQ(download(word, 1)[0], 65535U);
  EXPECT_EQ(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100 << 10));
  CU_OK(launch_shape(f, {1, 1, 1}, {1, 1, 1}, 100 << 10, arguments));
  EXPECT_EQ(launch_shape(f, {1, 1, 1}, {1, 1, 1}, 101 << 10, arguments), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ErrorCodeTest, ABlockBeyondTheKernelsOwnLimitIsRefused) {
  CUdeviceptr word = upload({0});
  void* arguments[] = {&word};
  std::string text = count_kernel();
  text.insert(text.find("\n{"), "\n.maxntid 64, 1, 1");
  CUfunction f = function(text, "count");
  CU_OK(launch_shape(f, {1, 1, 1}, {64, 1, 1}, 0, arguments));
  EXPECT_EQ(launch_shape(f, {1, 1, 1}, {65, 1, 1}, 0, arguments), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ErrorCodeTest, HandlesThatAreGoneAreInvalid) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CU_OK(cuStreamCreate(&stream, 0));
  CU_OK(cuEventCreate(&event, 0));
  CU_OK(cuStreamDestroy_v2(stream));
  CU_OK(cuEventDestroy_v2(event));
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(event, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ErrorCodeTest, DevicesThatDoNotExistAreInvalid) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmemoryPool pool = nullptr;
  char name[8];
  int value = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetName(name, 8, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceTotalMem_v2(&bytes, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 1, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, 100000, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxCreate_v2(&context, 0, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, 1), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetDefaultMemPool(&pool, 1), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(ErrorCodeTest, MemoryIsUsedAndFreedAsItWasAllocated) {
  CUdeviceptr memory = upload({1, 2, 3, 4});
  std::uint32_t words[8] = {};
  EXPECT_EQ(cuMemcpyDtoH_v2(words, memory, 20), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(memory + 4, words, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32_v2(memory, 0, 5), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(memory + 4), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree_v2(memory));
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH_v2(words, memory, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(words), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ErrorCodeTest, AFaultStaysUntilItsContextEnds) {
  CUfunction f = function(count_kernel(), "count");
  CUdeviceptr nowhere = 0x700000000008, memory = 0;
  CU_OK(launch(f, 1, 1, {&nowhere}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(launch(f, 1, 1, {&nowhere}), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUcontext other = nullptr;
  CU_OK(cuCtxCreate_v2(&other, 0, 0));
  CU_OK(cuMemAlloc_v2(&memory, 4));
  CU_OK(cuCtxDestroy_v2(other));
}

}  // namespace
}  // namespace wm::cuda
