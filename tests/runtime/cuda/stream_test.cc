// The order of work in streams, events, callbacks, and values that streams write and wait for.
#include <algorithm>
#include <atomic>
#include <unistd.h>

#include "runtime/cuda/fixture.h"

namespace wm::cuda {
namespace {

TEST_F(CudaTest, AKernelWaitsForAValueThatAnotherStreamWrites) {
  CUdeviceptr flag = upload({0}), out = upload({0}), word = upload({0});
  CUstream first = nullptr, second = nullptr;
  CU_OK(cuStreamCreateWithPriority(&first, CU_STREAM_NON_BLOCKING, -1));
  CU_OK(cuStreamCreateWithPriority(&second, CU_STREAM_NON_BLOCKING, 0));
  const CUfunction wait = function(wait_kernel() + count_kernel(), "wait_for");
  CU_OK(launch(wait, 1, 1, {&flag, &out}, first));
  EXPECT_EQ(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
  // A second kernel and a copy run beside the one that waits.
  CU_OK(launch(function(count_kernel(), "count"), 2, 32, {&word}, second));
  CU_OK(cuStreamSynchronize(second));
  CU_OK(cuStreamWriteValue32_v2(second, flag, 42, 0));
  CU_OK(cuStreamSynchronize(first));
  std::uint32_t results[2] = {};
  CU_OK(cuMemcpyDtoHAsync_v2(&results[0], out, 4, first));
  CU_OK(cuMemcpyDtoHAsync_v2(&results[1], word, 4, second));
  EXPECT_EQ(results[0], 42U);
  EXPECT_EQ(results[1], 64U);
  CU_OK(cuStreamDestroy_v2(first));
  CU_OK(cuStreamDestroy_v2(second));
}

TEST_F(CudaTest, AStreamWaitsForAnEventOfAnother) {
  CUdeviceptr flag = upload({0}), a = upload({0}), b = upload({5});
  CUstream first = nullptr, second = nullptr;
  CU_OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
  CUevent event = nullptr;
  CU_OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
  CU_OK(cuEventQuery(event));  // never recorded
  CU_OK(launch(function(wait_kernel(), "wait_for"), 1, 1, {&flag, &a}, first));
  CU_OK(cuEventRecord(event, first));
  CU_OK(cuStreamWaitEvent(second, event, 0));
  CU_OK(cuMemcpyDtoDAsync_v2(b, a, 4, second));
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  CUstream third = nullptr;
  CU_OK(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamWriteValue32(third, flag, 9, 0));
  CU_OK(cuStreamSynchronize(second));
  EXPECT_EQ(download(b, 1)[0], 9U);
  CU_OK(cuEventDestroy_v2(event));
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaTest, TheLegacyStreamWaitsForBlockingStreamsOnly) {
  CUdeviceptr flag = upload({0}), out = upload({0}), other = upload({0});
  CUstream blocking = nullptr, free = nullptr;
  CU_OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
  CU_OK(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
  const CUfunction wait = function(wait_kernel(), "wait_for");
  CU_OK(launch(wait, 1, 1, {&flag, &out}, free));
  CU_OK(cuMemcpyDtoD_v2(out, flag, 4));  // does not wait for `free`
  CU_OK(cuStreamSynchronize(CU_STREAM_LEGACY));
  CU_OK(cuStreamWaitValue32(blocking, flag, 1, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(cuMemsetD32Async(other, 77, 1, nullptr));
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_NOT_READY);  // waits for `blocking`
  // A stream of the thread's own is blocking too: it waits for the legacy stream.
  EXPECT_EQ(cuStreamQuery_ptsz(nullptr), CUDA_ERROR_NOT_READY);
  CUstream writer = nullptr;
  CU_OK(cuStreamCreate(&writer, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamWriteValue32(writer, flag, 1, 0));
  CU_OK(cuStreamSynchronize(nullptr));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(download(flag, 1)[0], 1U);
}

TEST_F(CudaTest, TheLegacyStreamDoesNotWaitForADestroyedNonBlockingStream) {
  CUdeviceptr flag = upload({0}), out = upload({0});
  CUstream free = nullptr;
  CU_OK(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING));
  CU_OK(launch(function(wait_kernel(), "wait_for"), 1, 1, {&flag, &out}, free));
  CU_OK(cuStreamDestroy_v2(free));
  CU_OK(cuMemsetD32Async(out, 1, 1, nullptr));
  CUresult legacy = CUDA_ERROR_NOT_READY;
  for (int i = 0; i < 200 && legacy == CUDA_ERROR_NOT_READY; ++i) {
    ::usleep(10'000);
    legacy = cuStreamQuery(nullptr);
  }
  EXPECT_EQ(legacy, CUDA_SUCCESS);
  CUstream writer = nullptr;
  CU_OK(cuStreamCreate(&writer, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamWriteValue32(writer, flag, 7, 0));
  CU_OK(cuCtxSynchronize());  // waits for the kernel of the destroyed stream
  EXPECT_EQ(download(out, 1)[0], 7U);
}

TEST_F(CudaTest, KernelsOfManyStreamsMayWaitForEachOther) {
  constexpr std::size_t kKernels = 24;
  CUdeviceptr arrived = upload({0}), out = upload(std::vector<std::uint32_t>(kKernels, 0));
  std::uint32_t expected = kKernels;
  const CUfunction meet = function(kernel_text("meet", ".param .u64 arrived, .param .u64 out, .param .u32 count", R"(
ld.param.u64 %d1, [arrived]; ld.param.u64 %d2, [out]; ld.param.u32 %r2, [count];
atom.global.add.u32 %r1, [%d1], 1;
again: ld.volatile.global.u32 %r3, [%d1]; setp.lt.u32 %p1, %r3, %r2; @%p1 bra again;
st.global.u32 [%d2], %r3; ret;)"),
                                   "meet");
  std::vector<CUstream> streams(kKernels);
  for (std::size_t i = 0; i < kKernels; ++i) {
    CU_OK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
    CUdeviceptr own = out + 4 * i;
    CU_OK(launch(meet, 1, 1, {&arrived, &own, &expected}, streams[i]));
  }
  bool is_done = false;
  for (int i = 0; i < 3000 && !is_done; ++i) {
    ::usleep(10'000);
    is_done = std::all_of(streams.begin(), streams.end(), [](CUstream s) { return cuStreamQuery(s) == CUDA_SUCCESS; });
  }
  EXPECT_TRUE(is_done);
  CU_OK(cuStreamWriteValue32(nullptr, arrived, expected, 0));  // lets those end that still wait
  CU_OK(cuCtxSynchronize());
  EXPECT_EQ(download(out, kKernels), std::vector<std::uint32_t>(kKernels, expected));
}

TEST_F(CudaTest, HostFunctionsRunInTheOrderOfTheirStream) {
  std::string order;
  struct Step {
    std::string* order;
    char letter;
  } a{&order, 'a'}, b{&order, 'b'};
  const auto append = [](void* data) { static_cast<Step*>(data)->order->push_back(static_cast<Step*>(data)->letter); };
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, 0));
  CU_OK(cuLaunchHostFunc(stream, append, &a));
  CU_OK(cuStreamAddCallback(
      stream, [](CUstream, CUresult, void* data) { static_cast<Step*>(data)->order->push_back('-'); }, &a, 0));
  CU_OK(cuLaunchHostFunc(stream, append, &b));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_EQ(order, "a-b");
}

TEST_F(CudaTest, ElapsedTimeNeedsTwoRecordedEventsWithTiming) {
  CUevent first = nullptr, second = nullptr, untimed = nullptr;
  CU_OK(cuEventCreate(&first, 0));
  CU_OK(cuEventCreate(&second, 0));
  CU_OK(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, first, second), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(cuEventRecord(first, nullptr));
  CU_OK(cuEventRecord(second, nullptr));
  CU_OK(cuEventRecord(untimed, nullptr));
  CU_OK(cuEventSynchronize(untimed));
  CU_OK(cuEventElapsedTime(&milliseconds, first, second));
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, first, untimed), CUDA_ERROR_INVALID_HANDLE);
}

}  // namespace
}  // namespace wm::cuda
