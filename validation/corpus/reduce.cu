// Reductions and scans: shared memory, shuffles, atomics.
extern "C" __global__ void reduce_shared(const float* __restrict__ in, float* __restrict__ out, int n) {
  __shared__ float s[256];
  float sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) sum += in[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  for (int o = 128; o > 0; o >>= 1) {
    if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

extern "C" __global__ void dot_shuffle(const float4* __restrict__ a, const float4* __restrict__ b,
                                       float* __restrict__ out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float4 x = a[i], y = b[i];
    sum += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
  }
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}

extern "C" __global__ void column_sums(const float* __restrict__ in, float* __restrict__ out, int rows, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int r = blockIdx.y; r < rows; r += gridDim.y) sum += in[(size_t)r * columns + c];
  atomicAdd(&out[c], sum);
}

extern "C" __global__ void arg_max(const float* __restrict__ in, unsigned long long* __restrict__ out, int n) {
  float best = -1e30f;
  int where = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (in[i] > best) best = in[i], where = i;
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) {
    const float other = __shfl_xor_sync(~0u, best, o);
    const int there = __shfl_xor_sync(~0u, where, o);
    if (other > best || (other == best && there < where)) best = other, where = there;
  }
  if (threadIdx.x % 32 == 0) atomicMax(out, (unsigned long long)__float_as_uint(best) << 32 | (unsigned)(~where));
}

// Inclusive scan of a block's 1024 elements in shared memory, step by step.
extern "C" __global__ void scan_shared(const unsigned* __restrict__ in, unsigned* __restrict__ out) {
  __shared__ unsigned s[2][1024];
  const int t = threadIdx.x;
  int from = 0;
  s[0][t] = in[blockIdx.x * 1024 + t];
  __syncthreads();
  for (int o = 1; o < 1024; o *= 2) {
    s[from ^ 1][t] = t >= o ? s[from][t] + s[from][t - o] : s[from][t];
    from ^= 1;
    __syncthreads();
  }
  out[blockIdx.x * 1024 + t] = s[from][t];
}

// Four elements a thread, shuffles within warps, one pass over the warps' sums.
extern "C" __global__ void scan_shuffle(const uint4* __restrict__ in, uint4* __restrict__ out) {
  __shared__ unsigned sums[8];
  const int i = blockIdx.x * 256 + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  uint4 v = in[i];
  v.y += v.x, v.z += v.y, v.w += v.z;
  unsigned sum = v.w;
#pragma unroll
  for (int o = 1; o < 32; o *= 2) {
    const unsigned below = __shfl_up_sync(~0u, sum, o);
    if (lane >= o) sum += below;
  }
  if (lane == 31) sums[warp] = sum;
  __syncthreads();
  unsigned before = sum - v.w;
  for (int w = 0; w < warp; ++w) before += sums[w];
  out[i] = make_uint4(v.x + before, v.y + before, v.z + before, v.w + before);
}

// Keeps what passes a test: ballots, one atomic a warp.
extern "C" __global__ void compact(const unsigned* __restrict__ in, unsigned* __restrict__ out,
                                   unsigned* __restrict__ count, int n, unsigned threshold) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const unsigned v = i < n ? in[i] : 0;
  const bool keep = v > threshold;
  const unsigned kept = __ballot_sync(~0u, keep);
  unsigned base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(kept));
  base = __shfl_sync(~0u, base, 0);
  if (keep) out[base + __popc(kept & ((1u << lane) - 1))] = v;
}

extern "C" __global__ void mean_variance(const float* __restrict__ in, float2* __restrict__ out, int length) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  float mean = 0, m2 = 0;
  for (int i = 0; i < length; ++i) {
    const float x = in[(size_t)i * gridDim.x * blockDim.x + row], d = x - mean;
    mean += d / (i + 1);
    m2 += d * (x - mean);
  }
  out[row] = make_float2(mean, m2 / length);
}
