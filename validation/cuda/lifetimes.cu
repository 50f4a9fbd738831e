// Objects that end while kernels use them: streams, events, memory, graphs, the device, and the process.
//
//   lifetimes [MODE]        streams, memory, captures, reset, threads, exit; all but `exit` by default
#include <cstring>
#include <string>
#include <thread>

#include "check.h"

constexpr unsigned kRounds = 20000;
constexpr unsigned kBlocks = 4, kThreads = 64, kCount = kBlocks * kThreads;

__device__ int marks[kThreads];
__global__ void mark(int value) { marks[threadIdx.x] = value; }
__global__ void advance(unsigned* out, unsigned rounds) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = i;
  for (unsigned k = 0; k < rounds; ++k) value = value * 1664525U + 1013904223U;
  out[i] = value;
}
__global__ void wait_forever(volatile unsigned* flag) {
  while (*flag == 0) {
  }
}

unsigned expected(unsigned i, unsigned rounds) {
  for (unsigned k = 0; k < rounds; ++k) i = i * 1664525U + 1013904223U;
  return i;
}

void launch(unsigned* out, unsigned rounds, cudaStream_t stream) {
  advance<<<kBlocks, kThreads, 0, stream>>>(out, rounds);
  CUDA(cudaGetLastError());
}

cudaStream_t free_stream() {
  cudaStream_t stream;
  CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  return stream;
}

void streams() {
  constexpr unsigned kStreams = 8;
  Buffer<unsigned> out(kStreams * kCount);
  cudaEvent_t event;
  CUDA(cudaEventCreate(&event));
  for (unsigned i = 0; i < kStreams; ++i) {
    cudaStream_t stream = free_stream();
    launch(out.data + i * kCount, kRounds, stream);
    if (i == 3) CUDA(cudaEventRecord(event, stream));
    CUDA(cudaStreamDestroy(stream));
  }
  CUDA(cudaStreamWaitEvent(nullptr, event, 0));
  CUDA(cudaEventDestroy(event));
  CUDA(cudaDeviceSynchronize());
  const auto values = out.read();
  for (unsigned i = 0; i < kStreams; ++i) EXPECT(values[i * kCount + 77] == expected(77, kRounds));
}

void memory() {
  cudaStream_t stream = free_stream();
  unsigned *device, *pinned, *managed;
  CUDA(cudaMalloc(&device, kCount * 4));
  launch(device, kRounds, stream);
  CUDA(cudaFree(device));
  CUDA(cudaMallocHost(&pinned, kCount * 4));
  launch(pinned, kRounds, stream);
  CUDA(cudaFreeHost(pinned));
  CUDA(cudaMallocManaged(&managed, kCount * 4));
  launch(managed, kRounds, stream);
  CUDA(cudaFree(managed));
  CUDA(cudaDeviceSynchronize());
  // Pageable memory has been read when a copy from it returns, and written when one to it does.
  Buffer<unsigned> busy(kCount), copy(kCount);
  std::vector<unsigned> host(kCount, 5), back(kCount, 0);
  launch(busy.data, kRounds, stream);
  CUDA(cudaMemcpyAsync(copy.data, host.data(), kCount * 4, cudaMemcpyHostToDevice, stream));
  std::memset(host.data(), 0, kCount * 4);
  CUDA(cudaMemcpyAsync(back.data(), copy.data, kCount * 4, cudaMemcpyDeviceToHost, stream));
  EXPECT(back[100] == 5);
  for (const std::size_t bytes : {std::size_t{1} << 48, std::size_t{1} << 62, ~std::size_t{0} - 4096}) {
    void* p = nullptr;
    std::size_t pitch = 0;
    cudaPitchedPtr volume;
    EXPECT(cudaMalloc(&p, bytes) == cudaErrorMemoryAllocation);
    EXPECT(cudaMallocHost(&p, bytes) != cudaSuccess);
    EXPECT(cudaMallocManaged(&p, bytes) != cudaSuccess);
    EXPECT(cudaMallocPitch(&p, &pitch, bytes, 2) != cudaSuccess);
    EXPECT(cudaMalloc3D(&volume, make_cudaExtent(2, bytes, bytes)) != cudaSuccess);
    EXPECT(cudaMemset(copy.data, 0, bytes) != cudaSuccess);
  }
  cudaGetLastError();
  CUDA(cudaStreamDestroy(stream));
}

void captures() {
  Buffer<unsigned> out(kCount);
  cudaStream_t stream = free_stream(), other = free_stream();
  cudaEvent_t event;
  cudaGraph_t graph = nullptr;
  CUDA(cudaEventCreate(&event));
  EXPECT(cudaStreamEndCapture(stream, &graph) != cudaSuccess);
  cudaGetLastError();
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch(out.data, 5, stream);
  EXPECT(cudaStreamSynchronize(stream) != cudaSuccess);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  launch(out.data, 5, stream);
  CUDA(cudaEventRecord(event, stream));
  CUDA(cudaStreamWaitEvent(other, event, 0));
  launch(out.data, 5, other);
  EXPECT(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureUnjoined);
  cudaGetLastError();
  CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
  launch(out.data, 7, stream);
  CUDA(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t executable;
  CUDA(cudaGraphInstantiate(&executable, graph, 0));
  CUDA(cudaGraphDestroy(graph));
  CUDA(cudaGraphLaunch(executable, stream));
  CUDA(cudaGraphExecDestroy(executable));
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(out.read()[9] == expected(9, 7));
}

void reset() {
  for (int i = 1; i < 4; ++i) {
    unsigned* out;
    CUDA(cudaMalloc(&out, kCount * 4));
    launch(out, kRounds, nullptr);
    mark<<<1, kThreads>>>(i);
    CUDA(cudaDeviceReset());
    int values[kThreads];
    CUDA(cudaMemcpyFromSymbol(values, marks, sizeof values));
    EXPECT(values[3] == 0);
  }
  std::thread([] { CUDA(cudaDeviceReset()); }).join();
  Buffer<unsigned> out(kCount);
  launch(out.data, 10, nullptr);
  EXPECT(out.read()[200] == expected(200, 10));
}

void threads() {
  std::vector<std::thread> all;
  for (unsigned t = 0; t < 12; ++t) {
    all.emplace_back([t] {
      for (int i = 0; i < 10; ++i) {
        cudaStream_t stream = free_stream();
        unsigned* out;
        unsigned values[kCount];
        CUDA(cudaMallocAsync(&out, sizeof values, stream));
        launch(out, 100 + t, stream);
        CUDA(cudaMemcpyAsync(values, out, sizeof values, cudaMemcpyDeviceToHost, stream));
        CUDA(cudaFreeAsync(out, stream));
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaStreamDestroy(stream));
        EXPECT(values[63] == expected(63, 100 + t));
      }
    });
  }
  for (std::thread& thread : all) thread.join();
}

void exit_in_a_kernel() {
  unsigned* flag;
  CUDA(cudaMalloc(&flag, 4));
  CUDA(cudaMemset(flag, 0, 4));
  wait_forever<<<1, 32>>>(flag);
  EXPECT(cudaStreamQuery(nullptr) == cudaErrorNotReady);
  std::printf("lifetimes: ok\n");
  std::exit(0);
}

int main(int count, char** words) {
  const std::string mode = count > 1 ? words[1] : "";
  if (mode.empty() || mode == "streams") streams();
  if (mode.empty() || mode == "memory") memory();
  if (mode.empty() || mode == "captures") captures();
  if (mode.empty() || mode == "threads") threads();
  if (mode == "exit") exit_in_a_kernel();
  if (mode.empty() || mode == "reset") reset();
  return passed("lifetimes");
}
