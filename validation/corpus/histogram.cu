// Histograms: counts of bytes and of floats with atomics in shared and in global memory.
extern "C" __global__ void histogram_shared(const unsigned* __restrict__ in, unsigned* __restrict__ bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned w = in[i];
    atomicAdd(&local[w & 255], 1u);
    atomicAdd(&local[w >> 8 & 255], 1u);
    atomicAdd(&local[w >> 16 & 255], 1u);
    atomicAdd(&local[w >> 24], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void histogram_global(const unsigned* __restrict__ in, unsigned* __restrict__ bins, int n,
                                            unsigned mask) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i] & mask], 1u);
}

// Each warp has bins of its own, summed at the end.
extern "C" __global__ void histogram_warps(const unsigned* __restrict__ in, unsigned* __restrict__ bins, int n) {
  __shared__ unsigned local[8][65];
  const int warp = threadIdx.x / 32;
  for (int i = threadIdx.x; i < 8 * 65; i += blockDim.x) (&local[0][0])[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[warp][in[i] & 63], 1u);
  __syncthreads();
  if (threadIdx.x < 64) {
    unsigned sum = 0;
    for (int w = 0; w < 8; ++w) sum += local[w][threadIdx.x];
    atomicAdd(&bins[threadIdx.x], sum);
  }
}

// A weighted histogram: float sums in shared memory.
extern "C" __global__ void histogram_weights(const unsigned* __restrict__ in, const float* __restrict__ weight,
                                             float* __restrict__ bins, int n) {
  __shared__ float local[512];
  for (int i = threadIdx.x; i < 512; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[in[i] & 511], weight[i]);
  __syncthreads();
  for (int i = threadIdx.x; i < 512; i += blockDim.x) atomicAdd(&bins[i], local[i]);
}

// Minimum and maximum of a key's values, and a running bit set, in shared memory.
extern "C" __global__ void group_extremes(const unsigned* __restrict__ in, unsigned* __restrict__ out, int n) {
  __shared__ unsigned low[128], high[128], seen[128];
  for (int i = threadIdx.x; i < 128; i += blockDim.x) low[i] = ~0u, high[i] = 0, seen[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned w = in[i], key = w & 127, value = w >> 7;
    atomicMin(&low[key], value);
    atomicMax(&high[key], value);
    atomicOr(&seen[key], 1u << (value & 31));
  }
  __syncthreads();
  for (int i = threadIdx.x; i < 128; i += blockDim.x) {
    atomicMin(&out[i], low[i]);
    atomicMax(&out[128 + i], high[i]);
    atomicOr(&out[256 + i], seen[i]);
  }
}
