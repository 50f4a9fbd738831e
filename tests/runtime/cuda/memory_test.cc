// Memory of all kinds, copies and sets.
#include <cstring>

#include "runtime/cuda/fixture.h"

namespace wm::cuda {
namespace {

TEST_F(CudaTest, ManagedAndPinnedMemoryHaveOneAddressForHostAndKernels) {
  CUdeviceptr managed = 0;
  CU_OK(cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
  void* pinned = nullptr;
  CU_OK(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  auto* in = reinterpret_cast<std::uint32_t*>(managed);
  auto* out = static_cast<std::uint32_t*>(pinned);
  for (std::uint32_t i = 0; i < 16; ++i) in[i] = i;
  CUdeviceptr to = 0;
  CU_OK(cuMemHostGetDevicePointer_v2(&to, pinned, 0));
  std::uint32_t factor = 2, n = 16;
  CU_OK(launch(function(scale_kernel(), "scale"), 1, 32, {&managed, &to, &factor, &n}));
  CU_OK(cuCtxSynchronize());
  for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(out[i], 3 * i);
  CU_OK(cuMemFreeHost(pinned));
  CU_OK(cuMemFree_v2(managed));
  EXPECT_EQ(cuMemFree_v2(managed), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaTest, RegisteredMemoryHasAnAddressForKernels) {
  std::vector<std::uint32_t> mine(32, 1);
  CU_OK(cuMemHostRegister_v2(mine.data(), 128, 0));
  EXPECT_EQ(cuMemHostRegister_v2(mine.data() + 1, 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CUdeviceptr word = 0;
  CU_OK(cuMemHostGetDevicePointer_v2(&word, &mine[3], 0));
  CU_OK(launch(function(count_kernel(), "count"), 1, 10, {&word}));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(mine[3], 11U);
  CU_OK(cuMemHostUnregister(mine.data()));
  EXPECT_EQ(cuMemHostUnregister(mine.data()), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

// The odd place within a page: addresses of the device keep the alignment of the host's.
TEST_F(CudaTest, KernelsUseRegisteredMemoryByTheHostsAddress) {
  int is_usable = 0;
  CU_OK(cuDeviceGetAttribute(&is_usable, 91, 0));
  EXPECT_EQ(is_usable, 1);
  alignas(8) static std::uint32_t mine[64];
  for (std::uint32_t i = 0; i < 64; ++i) mine[i] = i;
  auto host = reinterpret_cast<CUdeviceptr>(&mine[1]);
  CU_OK(cuMemHostRegister_v2(&mine[1], 63 * 4, 0));
  CUdeviceptr device = 0;
  CU_OK(cuMemHostGetDevicePointer_v2(&device, &mine[1], 0));
  EXPECT_EQ(device, host);

  std::uint32_t factor = 2, n = 63;
  CUdeviceptr out = upload(std::vector<std::uint32_t>(63));
  CU_OK(launch(function(scale_kernel(), "scale"), 2, 32, {&host, &out, &factor, &n}));
  CU_OK(launch(function(count_kernel(), "count"), 1, 7, {&host}));
  const std::string pairs = kernel_text("pairs", ".param .u64 p", R"(
ld.param.u64 %d1, [p]; isspacep.global %p1, %d1; @!%p1 ret;
ld.v2.u32 {%r1, %r2}, [%d1]; st.v2.u32 [%d1], {%r2, %r1}; ret;)");
  auto pair = reinterpret_cast<CUdeviceptr>(&mine[2]);
  CU_OK(launch(function(pairs, "pairs"), 1, 1, {&pair}));
  CU_OK(cuCtxSynchronize());
  const auto scaled = download(out, 63);
  for (std::uint32_t i = 0; i < 63; ++i) EXPECT_EQ(scaled[i], 2 * (i + 1) + i);
  EXPECT_EQ(mine[1], 8U);
  EXPECT_EQ(mine[2], 3U);
  EXPECT_EQ(mine[3], 2U);

  auto behind = reinterpret_cast<CUdeviceptr>(mine + 64);
  CU_OK(launch(function(count_kernel(), "count"), 1, 1, {&behind}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Asks for `bytes` bytes and stores the lower half of their address.
std::string malloc_kernel() {
  return ".extern .func (.param .b64 r) malloc (.param .b64 n);\n" +
         kernel_text("allocate", ".param .u64 bytes, .param .u64 out", R"(
ld.param.u64 %d1, [bytes]; ld.param.u64 %d2, [out];
{ .param .b64 n; .param .b64 r; st.param.b64 [n], %d1; call.uni (r), malloc, (n); ld.param.b64 %d3, [r]; }
shr.u64 %d4, %d3, 16; cvt.u32.u64 %r1, %d4; st.global.u32 [%d2], %r1; ret;)");
}

TEST_F(CudaTest, KernelsAllocateAsMuchAsTheLimitOfTheHeapSays) {
  constexpr int kMallocHeapSize = 2;
  std::size_t limit = 0;
  CU_OK(cuCtxGetLimit(&limit, kMallocHeapSize));
  EXPECT_EQ(limit, 8U << 20);
  CUfunction allocate = function(malloc_kernel(), "allocate");
  CUdeviceptr out = upload({7});
  std::uint64_t bytes = (8U << 20) + 16;
  const auto allocated = [&] {
    EXPECT_EQ(launch(allocate, 1, 1, {&bytes, &out}), CUDA_SUCCESS);
    return download(out, 1)[0] != 0;
  };
  EXPECT_FALSE(allocated());
  EXPECT_EQ(cuCtxSetLimit(kMallocHeapSize, std::size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  CU_OK(cuCtxSetLimit(kMallocHeapSize, 64U << 20));
  bytes = 40U << 20;
  EXPECT_TRUE(allocated());
  EXPECT_FALSE(allocated()) << "the rest has 24 MB";
  EXPECT_EQ(cuCtxSetLimit(kMallocHeapSize, 128U << 20), CUDA_ERROR_INVALID_VALUE) << "kernels have used the heap";
  CU_OK(cuCtxGetLimit(&limit, kMallocHeapSize));
  EXPECT_EQ(limit, 64U << 20);
}

TEST_F(CudaTest, CopiesAndSetsOfRows) {
  CUdeviceptr rows = 0;
  std::size_t pitch = 0;
  CU_OK(cuMemAllocPitch_v2(&rows, &pitch, 12, 4, 4));
  EXPECT_EQ(pitch % 512, 0U);
  CU_OK(cuMemsetD2D32_v2(rows, pitch, 9, 3, 4));
  const std::vector<std::uint32_t> source{1, 2, 3, 4, 5, 6};
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = source.data();
  copy.srcPitch = 12;
  copy.srcXInBytes = 4;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = rows;
  copy.dstPitch = pitch;
  copy.dstY = 1;
  copy.WidthInBytes = 8;
  copy.Height = 2;
  CU_OK(cuMemcpy2D_v2(&copy));
  EXPECT_EQ(download(rows, 3), (std::vector<std::uint32_t>{9, 9, 9}));
  EXPECT_EQ(download(rows + pitch, 3), (std::vector<std::uint32_t>{2, 3, 9}));
  EXPECT_EQ(download(rows + 2 * pitch, 3), (std::vector<std::uint32_t>{5, 6, 9}));
  copy.dstY = 3;
  EXPECT_EQ(cuMemcpy2D_v2(&copy), CUDA_ERROR_INVALID_VALUE);  // past the last row
  CU_OK(cuMemsetD16_v2(rows, 0x1234, 2));
  EXPECT_EQ(download(rows, 1)[0], 0x12341234U);
  EXPECT_EQ(cuMemsetD32_v2(rows + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaTest, CopiesOutsideOfAnAllocationAreRefused) {
  CUdeviceptr words = upload({1, 2});
  std::uint32_t three[3] = {};
  EXPECT_EQ(cuMemcpyDtoH_v2(three, words, 12), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH_v2(three, 0, 4), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemcpyDtoH_v2(three, words + 4, 4));
  EXPECT_EQ(three[0], 2U);
  CU_OK(cuMemFree_v2(words));
  EXPECT_EQ(cuMemcpyDtoH_v2(three, words, 4), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(CudaTest, PointersHaveAttributes) {
  CUdeviceptr words = upload({1, 2});
  unsigned type = 0;
  CU_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, words + 4));
  EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
  CUdeviceptr start = 0;
  CU_OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, words + 4));
  EXPECT_EQ(start, words);
  int local = 0;
  const auto host = reinterpret_cast<CUdeviceptr>(&local);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host), CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  int ordinal = 0;
  void* values[] = {&type, &ordinal};
  CU_OK(cuPointerGetAttributes(2, attributes, values, host));
  EXPECT_EQ(type, 0U);
  EXPECT_EQ(ordinal, -2);
}

TEST_F(CudaTest, MemoryOfAPoolIsFreedInTheOrderOfItsStream) {
  std::size_t before = 0, after = 0, total = 0;
  CU_OK(cuMemGetInfo_v2(&before, &total));
  CUdeviceptr words = 0;
  CU_OK(cuMemAllocAsync(&words, 1 << 20, nullptr));
  CU_OK(cuMemsetD32Async(words, 3, 4, nullptr));
  EXPECT_EQ(download(words, 4), (std::vector<std::uint32_t>{3, 3, 3, 3}));
  CU_OK(cuMemFreeAsync(words, nullptr));
  CU_OK(cuCtxSynchronize());
  CU_OK(cuMemGetInfo_v2(&after, &total));
  EXPECT_EQ(before, after);
  CUdeviceptr too_large = 0;
  EXPECT_EQ(cuMemAlloc_v2(&too_large, total + 1), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(CudaTest, MemoryThatIsFreedCannotBeFreedAgain) {
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr address = 0;
  CU_OK(cuMemAllocAsync(&address, 100, stream));
  CU_OK(cuMemFreeAsync(address, stream));
  EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree_v2(address), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(cuMemFreeAsync(address, stream), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemAlloc_v2(&address, 4));
}

TEST_F(CudaTest, AGraphWithAFreeCanBeLaunchedAgain) {
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CUdeviceptr address = 0;
  CU_OK(cuStreamBeginCapture_v2(stream, 0));
  CU_OK(cuMemAllocAsync(&address, 4, stream));
  CU_OK(cuMemsetD32Async(address, 7, 1, stream));
  CU_OK(cuMemFreeAsync(address, stream));
  CUgraph graph = nullptr;
  CU_OK(cuStreamEndCapture(stream, &graph));
  CUgraphExec executable = nullptr;
  CU_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
  for (int i = 0; i < 2; ++i) {
    CU_OK(cuGraphLaunch(executable, stream));
    CU_OK(cuStreamSynchronize(stream));
  }
}

TEST_F(CudaTest, ASideThatMustBeTheDevicesIsChecked) {
  CUdeviceptr device = upload({1, 2, 3, 4});
  std::uint32_t words[4] = {};
  const auto nowhere = reinterpret_cast<CUdeviceptr>(static_cast<std::uint32_t*>(words));
  EXPECT_EQ(cuMemcpyHtoD_v2(5, words, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyHtoD_v2(nowhere, words, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoH_v2(words, 5, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoD_v2(device, 5, 8), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(5, device, 8, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32_v2(8, 1, 2), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemcpy(nowhere, device, 16));  // finds out itself whose the addresses are
  EXPECT_EQ(words[3], 4U);
}

TEST_F(CudaTest, MemoryThatTheHostDoesNotHaveIsRefused) {
  void* pinned = nullptr;
  CUdeviceptr managed = 0;
  for (const std::size_t bytes : {std::size_t{1} << 40, std::size_t{1} << 62, ~std::size_t{0}}) {
    EXPECT_EQ(cuMemHostAlloc(&pinned, bytes, 0), CUDA_ERROR_OUT_OF_MEMORY) << bytes;
    EXPECT_EQ(cuMemAllocManaged(&managed, bytes, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY) << bytes;
  }
  std::vector<std::byte> mine(64);
  for (const std::size_t bytes : {std::size_t{1} << 40, std::size_t{1} << 62, ~std::size_t{0}})
    EXPECT_EQ(cuMemHostRegister_v2(mine.data(), bytes, 0), CUDA_ERROR_INVALID_VALUE) << bytes;
  EXPECT_EQ(cuMemHostRegister_v2(reinterpret_cast<void*>(0x1000), 64, 0), CUDA_ERROR_INVALID_VALUE);
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  for (const std::size_t width : {std::size_t{1} << 62, ~std::size_t{0} - 510, ~std::size_t{0}})
    EXPECT_EQ(cuMemAllocPitch_v2(&address, &pitch, width, 2, 4), CUDA_ERROR_OUT_OF_MEMORY) << width;
  CU_OK(cuMemAllocManaged(&managed, 8, CU_MEM_ATTACH_GLOBAL));
  EXPECT_EQ(cuMemPrefetchAsync(managed, 12, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPrefetchAsync(managed + 4, 4, 0, nullptr), CUDA_SUCCESS);
}

}  // namespace
}  // namespace wm::cuda
