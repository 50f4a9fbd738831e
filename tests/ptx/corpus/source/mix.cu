#include <cstdio>
__constant__ float coef[4] = {1.f, 2.5f, -3.f};
__device__ int table[3] = {1, 2, 3};
__device__ int *ptr = &table[1];
__device__ const char *msg = "hi";
struct S {
  char a;
  double d;
  int *p;
};
__device__ S s = {'x', 2.0, table};
__shared__ int dummy;
extern __shared__ float dyn[];
__device__ __noinline__ float helper(float a, float b) { return a / b + sinf(a); }
__device__ __noinline__ S helper2(S x, int i) {
  x.d += i;
  return x;
}
typedef float (*fn)(float, float);
__device__ __noinline__ float h2(float a, float b) { return a * b; }
__device__ fn fns[2] = {helper, h2};
__global__ void __launch_bounds__(256, 2) k(float *x, int n, S *o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i] * coef[i & 3];
  dyn[threadIdx.x] = v;
  __syncthreads();
  v += dyn[threadIdx.x ^ 1];
  v = helper(v, x[i]);
  v = fns[i & 1](v, 2.f);
  o[i] = helper2(s, i);
  switch (n & 15) {
    case 0:
      v += 1;
      break;
    case 1:
      v *= v;
      break;
    case 2:
      v = sqrtf(v);
      break;
    case 3:
      v = rsqrtf(v);
      break;
    case 4:
      v = expf(v);
      break;
    case 5:
      v = x[0];
      break;
    case 6:
      v = logf(v);
      break;
    case 7:
      v = 3;
      break;
    case 9:
      v = cosf(v);
      break;
    default:
      break;
  }
  if (v > 1e9f) printf("%d %f %s\n", i, v, msg);
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p add.f32 %0, %0, 0f3F800000; }" : "+f"(v) : "r"(i));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p add.f32 %0, %0, 0f3F800000; }" : "+f"(v) : "r"(i));
#pragma unroll 1
  for (int j = 0; j < n; j++) v += __shfl_xor_sync(~0u, v, j);
  atomicAdd(&x[0], v);
  if (v < -1e9) __trap();
  x[i] = v * ptr[i];
}
