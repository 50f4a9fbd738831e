// Dynamic shared memory beyond 48 KB, with opt-in.
#include "check.h"
__global__ void reverse(const int* in, int* out, int n) {
  extern __shared__ int a[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = in[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = a[n - 1 - i];
}
int main() {
  const int n = 20000;
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i) values[i] = i;
  Buffer<int> in(values), out(n);
  reverse<<<1, 256, n * 4>>>(in.data, out.data, n);
  EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
  CUDA(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, n * 4));
  reverse<<<1, 256, n * 4>>>(in.data, out.data, n);
  CUDA(cudaGetLastError());
  EXPECT(out.read()[0] == n - 1 && out.read()[n - 1] == 0);
  return passed("dynamic_shared");
}
