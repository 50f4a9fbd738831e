// Advice about managed memory, and memory pools' counts: what programs are told.
#include <array>

#include "runtime/cuda/fixture.h"

namespace wm::cuda {
namespace {

constexpr CUmemLocation kGpu{1, 0}, kHost{2, 0};
constexpr std::size_t kBytes = 1 << 16;

class ManagedAdviceTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    CU_OK(cuMemAllocManaged(&memory_, kBytes, CU_MEM_ATTACH_GLOBAL));
  }
  [[nodiscard]] int ask(int attribute, std::size_t from, std::size_t bytes) const {
    int value = 77;
    EXPECT_EQ(cuMemRangeGetAttribute(&value, sizeof value, attribute, memory_ + from, bytes), CUDA_SUCCESS);
    return value;
  }

  CUdeviceptr memory_ = 0;
};

TEST_F(ManagedAdviceTest, ARangeHasTheAdviceThatAllOfItHas) {
  EXPECT_EQ(ask(1, 0, kBytes), 0);
  EXPECT_EQ(ask(2, 0, kBytes), -2);
  CU_OK(cuMemAdvise_v2(memory_ + 4096, 8192, 1, {}));
  CU_OK(cuMemAdvise_v2(memory_, kBytes, 3, kGpu));
  CU_OK(cuMemAdvise_v2(memory_ + 8192, 4096, 3, kHost));
  EXPECT_EQ(ask(1, 4096, 8192), 1);
  EXPECT_EQ(ask(1, 5000, 100), 1);
  EXPECT_EQ(ask(1, 4095, 100), 0) << "its first byte has not";
  EXPECT_EQ(ask(1, 4096, 8193), 0) << "its last byte has not";
  EXPECT_EQ(ask(2, 0, 8192), 0);
  EXPECT_EQ(ask(2, 8192, 4096), -1);
  EXPECT_EQ(ask(2, 0, kBytes), -2) << "two places";
  EXPECT_EQ(ask(5, 8192, 4096), kHost.type);
  EXPECT_EQ(ask(6, 0, 8192), kGpu.id);
  CU_OK(cuMemAdvise_v2(memory_, kBytes, 2, {}));
  CU_OK(cuMemAdvise_v2(memory_, kBytes, 4, {}));
  EXPECT_EQ(ask(1, 4096, 8192), 0);
  EXPECT_EQ(ask(2, 0, kBytes), -2);
}

TEST_F(ManagedAdviceTest, DevicesThatAccessARangeAreListed) {
  std::array<int, 3> devices{};
  CU_OK(cuMemAdvise_v2(memory_, kBytes, 5, kHost));
  CU_OK(cuMemAdvise_v2(memory_, kBytes, 5, kGpu));
  CU_OK(cuMemRangeGetAttribute(devices.data(), sizeof devices, 3, memory_, kBytes));
  EXPECT_EQ(devices, (std::array{0, -1, -2}));
  CU_OK(cuMemAdvise_v2(memory_, 10, 6, kGpu));
  CU_OK(cuMemRangeGetAttribute(devices.data(), sizeof devices, 3, memory_, kBytes));
  EXPECT_EQ(devices, (std::array{-1, -2, -2}));
  EXPECT_EQ(cuMemRangeGetAttribute(devices.data(), 3, 3, memory_, kBytes), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(ManagedAdviceTest, TheLastPrefetchIsTold) {
  EXPECT_EQ(ask(4, 0, kBytes), -2);
  CU_OK(cuMemPrefetchAsync_v2(memory_, kBytes, kGpu, 0, nullptr));
  EXPECT_EQ(ask(4, 0, kBytes), 0);
  CU_OK(cuMemPrefetchAsync(memory_, 100, -1, nullptr));
  int values[2] = {};
  void* data[] = {&values[0], &values[1]};
  std::size_t sizes[] = {4, 4};
  int attributes[] = {4, 7};
  CU_OK(cuMemRangeGetAttributes(data, sizes, attributes, 2, memory_, 100));
  EXPECT_EQ(values[0], -1);
  EXPECT_EQ(values[1], kHost.type);
}

TEST_F(ManagedAdviceTest, OtherMemoryAndUnknownPlacesAreRefused) {
  CUdeviceptr plain = upload({1});
  EXPECT_EQ(cuMemAdvise_v2(plain, 4, 1, kGpu), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPrefetchAsync_v2(plain, 4, kGpu, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPrefetchAsync_v2(memory_, kBytes + 1, kGpu, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPrefetchAsync_v2(memory_, 0, kGpu, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPrefetchAsync_v2(memory_, 4, {1, 1}, 0, nullptr), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemPrefetchAsync(memory_, 4, 5, nullptr), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuMemAdvise_v2(memory_, 4, 7, kGpu), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAdvise_v2(memory_, 4, 3, {0, 0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamAttachMemAsync(nullptr, plain, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamAttachMemAsync(nullptr, memory_, 0, 9), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamAttachMemAsync(nullptr, memory_, 0, CU_MEM_ATTACH_GLOBAL));
}

TEST_F(ManagedAdviceTest, FreshMemoryHasNoAdviceOfMemoryThatWasFreed) {
  CU_OK(cuMemAdvise_v2(memory_, kBytes, 1, {}));
  CU_OK(cuMemFree_v2(memory_));
  for (int i = 0; i < 4; ++i) {
    CU_OK(cuMemAllocManaged(&memory_, kBytes, CU_MEM_ATTACH_GLOBAL));
    EXPECT_EQ(ask(1, 0, kBytes), 0);
  }
}

class PoolCountTest : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    CUmemPoolProps properties{};
    properties.allocType = 1;
    properties.location.type = 1;
    properties.maxSize = 1000;
    CU_OK(cuMemPoolCreate(&pool_, &properties));
  }
  void TearDown() override {
    EXPECT_EQ(cuMemPoolDestroy(pool_), CUDA_SUCCESS);
    CudaTest::TearDown();
  }
  [[nodiscard]] std::uint64_t count(int attribute) const {
    std::uint64_t value = 99;
    EXPECT_EQ(cuMemPoolGetAttribute(pool_, attribute, &value), CUDA_SUCCESS);
    return value;
  }

  static constexpr int kReserved = 5, kUsed = 7, kUsedHigh = 8;
  CUmemoryPool pool_ = nullptr;
};

TEST_F(PoolCountTest, BytesInUseAreCountedUntilTheyAreFreed) {
  CUdeviceptr a = 0, b = 0;
  CU_OK(cuMemAllocFromPoolAsync(&a, 300, pool_, nullptr));
  CU_OK(cuMemAllocFromPoolAsync(&b, 400, pool_, nullptr));
  EXPECT_EQ(count(kUsed), 700U);
  EXPECT_EQ(count(kReserved), 700U);
  CU_OK(cuMemFreeAsync(a, nullptr));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(count(kUsed), 400U);
  EXPECT_EQ(count(kUsedHigh), 700U);
  CU_OK(cuMemFree_v2(b));
  EXPECT_EQ(count(kUsed), 0U);
}

TEST_F(PoolCountTest, APoolHasNoMoreThanItsSize) {
  CUdeviceptr a = 0, b = 0;
  CU_OK(cuMemAllocFromPoolAsync(&a, 700, pool_, nullptr));
  EXPECT_EQ(cuMemAllocFromPoolAsync(&b, 301, pool_, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  CU_OK(cuMemAllocFromPoolAsync(&b, 300, pool_, nullptr));
}

TEST_F(PoolCountTest, TheDevicesPoolCountsAllocationsThatNameNone) {
  CUdeviceptr a = 0;
  CU_OK(cuDeviceSetMemPool(0, pool_));
  CU_OK(cuMemAllocAsync(&a, 300, nullptr));
  EXPECT_EQ(count(kUsed), 300U);
}

TEST_F(PoolCountTest, OnlyTheMostBytesCanBeResetAndOnlyToZero) {
  CUdeviceptr a = 0;
  CU_OK(cuMemAllocFromPoolAsync(&a, 300, pool_, nullptr));
  CU_OK(cuMemFree_v2(a));
  std::uint64_t value = 1;
  EXPECT_EQ(cuMemPoolSetAttribute(pool_, kUsedHigh, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemPoolSetAttribute(pool_, kUsed, &value), CUDA_ERROR_INVALID_VALUE);
  value = 0;
  EXPECT_EQ(cuMemPoolSetAttribute(pool_, kUsed, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(count(kUsedHigh), 300U);
  CU_OK(cuMemPoolSetAttribute(pool_, kUsedHigh, &value));
  EXPECT_EQ(count(kUsedHigh), 0U);
}

}  // namespace
}  // namespace wm::cuda
