// Pinned memory, copies and kernels in four streams, events between them.
#include "check.h"
__global__ void square(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}
int main() {
  const int n = 4096, parts = 4, part = n / parts;
  int *in, *out;
  CUDA(cudaMallocHost(&in, n * 4));
  CUDA(cudaHostAlloc(&out, n * 4, cudaHostAllocDefault));
  for (int i = 0; i < n; ++i) in[i] = i, out[i] = -1;
  Buffer<int> din(n), dout(n);
  cudaStream_t streams[parts];
  cudaEvent_t begin, end;
  CUDA(cudaEventCreate(&begin));
  CUDA(cudaEventCreate(&end));
  for (auto& s : streams) CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
  CUDA(cudaEventRecord(begin, streams[0]));
  for (int p = 0; p < parts; ++p) {
    CUDA(cudaStreamWaitEvent(streams[p], begin, 0));
    CUDA(cudaMemcpyAsync(din.data + p * part, in + p * part, part * 4, cudaMemcpyHostToDevice, streams[p]));
    square<<<part / 128, 128, 0, streams[p]>>>(din.data + p * part, dout.data + p * part, part);
    CUDA(cudaMemcpyAsync(out + p * part, dout.data + p * part, part * 4, cudaMemcpyDeviceToHost, streams[p]));
  }
  CUDA(cudaEventRecord(end, streams[parts - 1]));
  for (auto& s : streams) CUDA(cudaStreamSynchronize(s));
  float milliseconds = -1;
  CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
  EXPECT(milliseconds >= 0);
  for (int i = 0; i < n; ++i) EXPECT(out[i] == i * i);
  for (auto& s : streams) CUDA(cudaStreamDestroy(s));
  CUDA(cudaFreeHost(in));
  CUDA(cudaFreeHost(out));
  return passed("streams");
}
