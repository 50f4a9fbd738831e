// The rules of stream capture: what a capturing stream and the calls beside it may do.
#include <thread>

#include "fixture.h"

namespace wm::cuda {
namespace {

class CaptureTest : public CudaTest {
 protected:
  CUstream stream(unsigned flags = CU_STREAM_DEFAULT) {
    CUstream made = nullptr;
    EXPECT_EQ(cuStreamCreate(&made, flags), CUDA_SUCCESS);
    return made;
  }
  CUevent event() {
    CUevent made = nullptr;
    EXPECT_EQ(cuEventCreate(&made, 0), CUDA_SUCCESS);
    return made;
  }
  static int status(CUstream stream) {
    int found = -1;
    EXPECT_EQ(cuStreamIsCapturing(stream, &found), CUDA_SUCCESS);
    return found;
  }
  static CUresult end(CUstream stream) {
    CUgraph graph = nullptr;
    const CUresult ended = cuStreamEndCapture(stream, &graph);
    EXPECT_EQ(graph != nullptr, ended == CUDA_SUCCESS);
    return ended;
  }
};

TEST_F(CaptureTest, WaitingForACapturingStreamInvalidatesTheCapture) {
  CUstream captured = stream();
  CUdeviceptr word = upload({0});
  CU_OK(cuStreamBeginCapture_v2(captured, 0));
  EXPECT_EQ(status(captured), 1);
  EXPECT_EQ(cuStreamSynchronize(captured), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(status(captured), 2);
  EXPECT_EQ(cuMemsetD32Async(word, 1, 1, captured), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end(captured), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(status(captured), 0);
  CU_OK(cuMemsetD32Async(word, 1, 1, captured));
  CU_OK(cuStreamSynchronize(captured));
  EXPECT_EQ(download(word, 1)[0], 1U);
}

TEST_F(CaptureTest, TheLegacyStreamCannotBeUsedBesideABlockingStreamThatCaptures) {
  CUstream captured = stream();
  CUdeviceptr word = upload({0});
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  int found = 0;
  EXPECT_EQ(cuStreamIsCapturing(nullptr, &found), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(status(captured), 1);  // asking does no harm
  EXPECT_EQ(cuMemsetD32Async(word, 1, 1, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(end(captured), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CUstream apart = stream(CU_STREAM_NON_BLOCKING);
  CU_OK(cuStreamBeginCapture_v2(apart, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_OK(cuMemsetD32Async(word, 1, 1, nullptr));
  EXPECT_EQ(end(apart), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamBeginCapture_v2(nullptr, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(CaptureTest, ModesForbidUnsafeCalls) {
  CUstream captured = stream(CU_STREAM_NON_BLOCKING);
  CUdeviceptr memory = 0;
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(captured), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_OK(cuMemAlloc_v2(&memory, 4));
  EXPECT_EQ(end(captured), CUDA_SUCCESS);
  // The thread's own mode may allow it as well.
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
  int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  CU_OK(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  CU_OK(cuMemAlloc_v2(&memory, 4));
  CU_OK(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(end(captured), CUDA_SUCCESS);
}

TEST_F(CaptureTest, OnlyAGlobalCaptureConcernsOtherThreads) {
  CUstream captured = stream(CU_STREAM_NON_BLOCKING);
  const auto elsewhere = [&] {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      CUdeviceptr memory = 0;
      (void)cuCtxSetCurrent(context_);
      result = cuMemAlloc_v2(&memory, 4);
    }).join();
    return result;
  };
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_EQ(elsewhere(), CUDA_SUCCESS);
  EXPECT_EQ(end(captured), CUDA_SUCCESS);
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_EQ(elsewhere(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(end(captured), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(CaptureTest, OnlyTheThreadThatBeganACaptureEndsIt) {
  CUstream captured = stream(CU_STREAM_NON_BLOCKING);
  const auto end_elsewhere = [&] {
    CUresult result = CUDA_SUCCESS;
    std::thread([&] {
      (void)cuCtxSetCurrent(context_);
      result = end(captured);
    }).join();
    return result;
  };
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_EQ(end_elsewhere(), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  EXPECT_EQ(end(captured), CUDA_SUCCESS);
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(end_elsewhere(), CUDA_SUCCESS);
}

TEST_F(CaptureTest, CapturesDoNotMergeAndDoNotWaitForOtherWork) {
  CUstream first = stream(), second = stream(), third = stream();
  CUevent of_first = event(), outside = event();
  CU_OK(cuEventRecord(outside, third));
  CU_OK(cuStreamBeginCapture_v2(first, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_OK(cuStreamBeginCapture_v2(second, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(cuStreamBeginCapture_v2(first, 0), CUDA_ERROR_ILLEGAL_STATE);
  CU_OK(cuEventRecord(of_first, first));
  EXPECT_EQ(cuStreamWaitEvent(second, of_first, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  EXPECT_EQ(end(first), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end(second), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  CU_OK(cuStreamBeginCapture_v2(first, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(cuStreamWaitEvent(first, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(end(first), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(end(first), CUDA_ERROR_ILLEGAL_STATE);
}

TEST_F(CaptureTest, AStreamThatJoinedCannotEndTheCapture) {
  CUstream first = stream(), second = stream();
  CUevent fork = event();
  CU_OK(cuStreamBeginCapture_v2(first, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_OK(cuEventRecord(fork, first));
  CU_OK(cuStreamWaitEvent(second, fork, 0));
  EXPECT_EQ(status(second), 1);
  EXPECT_EQ(end(second), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_EQ(end(first), CUDA_SUCCESS);
  EXPECT_EQ(status(second), 0);
  // An event of a capture that has ended stands for nothing.
  EXPECT_EQ(cuStreamWaitEvent(second, fork, 0), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(cuEventQuery(fork), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(status(second), 0);
}

TEST_F(CaptureTest, AnExternalEventBecomesANode) {
  CUstream captured = stream();
  CUevent outside = event();
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_OK(cuStreamWaitEvent(captured, outside, CU_EVENT_WAIT_EXTERNAL));
  CU_OK(cuEventRecordWithFlags(outside, captured, CU_EVENT_RECORD_EXTERNAL));
  CUgraph graph = nullptr;
  CU_OK(cuStreamEndCapture(captured, &graph));
  CUgraphNode nodes[2] = {};
  std::size_t count = 2;
  CU_OK(cuGraphGetNodes(graph, nodes, &count));
  ASSERT_EQ(count, 2U);
  int type = 0;
  CU_OK(cuGraphNodeGetType(nodes[0], &type));
  EXPECT_EQ(type, 6);
  CU_OK(cuGraphNodeGetType(nodes[1], &type));
  EXPECT_EQ(type, 7);
}

TEST_F(CaptureTest, ACaptureCanContinueAGraphAndMoveInIt) {
  CUstream captured = stream();
  CUdeviceptr word = upload({0});
  CUgraph graph = nullptr, ended = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  CUgraphNode first = nullptr;
  CU_OK(cuGraphAddEmptyNode(&first, graph, nullptr, 0));
  EXPECT_EQ(cuStreamUpdateCaptureDependencies(captured, &first, 1, 1), CUDA_ERROR_ILLEGAL_STATE);
  CU_OK(cuStreamBeginCaptureToGraph(captured, graph, &first, nullptr, 1, CU_STREAM_CAPTURE_MODE_RELAXED));
  CUgraphExec executable = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&executable, graph, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphDestroyNode(first), CUDA_ERROR_INVALID_VALUE);  // the capture goes on behind it
  CU_OK(cuMemsetD32Async(word, 5, 1, captured));
  int found = 0;
  std::uint64_t id = 0;
  std::size_t count = 0;
  const CUgraphNode* last = nullptr;
  CU_OK(cuStreamGetCaptureInfo_v2(captured, &found, &id, &ended, &last, &count));
  ASSERT_EQ(count, 1U);
  EXPECT_EQ(ended, graph);
  CU_OK(cuStreamUpdateCaptureDependencies(captured, &first, 1, 1));  // set
  CU_OK(cuMemsetD32Async(word, 6, 1, captured));
  CUgraphNode both[2] = {};
  CU_OK(cuStreamEndCapture(captured, &ended));
  EXPECT_EQ(ended, graph);
  count = 2;
  CU_OK(cuGraphNodeGetDependentNodes(first, both, &count));
  EXPECT_EQ(count, 2U);
  CU_OK(cuGraphInstantiateWithFlags(&executable, graph, 0));
}

TEST_F(CaptureTest, OnlyMemoryOfGraphsIsFreedInACapture) {
  CUstream captured = stream();
  CUdeviceptr plain = upload({1});
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_EQ(cuMemFreeAsync(plain, captured), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(end(captured), CUDA_SUCCESS);
  EXPECT_EQ(download(plain, 1)[0], 1U);
}

TEST_F(CaptureTest, AStreamThatIsDestroyedEndsItsCapture) {
  CUstream captured = stream();
  CU_OK(cuStreamBeginCapture_v2(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU_OK(cuStreamDestroy_v2(captured));
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc_v2(&memory, 4));
}

}  // namespace
}  // namespace wm::cuda
