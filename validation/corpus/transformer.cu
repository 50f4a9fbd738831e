// Parts of a transformer: attention, softmax, normalisation, activation, position embedding.
// Attention of one head: keys and values of a tile in shared memory, read by all lanes at once as float4.
extern "C" __global__ void attention(const float4* __restrict__ q, const float4* __restrict__ k,
                                     const float4* __restrict__ v, float4* __restrict__ out, int n) {
  __shared__ float4 ks[32][16], vs[32][16];
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const size_t head = (size_t)blockIdx.y * n * 16;
  float4 query[16], sum[16];
#pragma unroll
  for (int d = 0; d < 16; ++d) query[d] = q[head + (size_t)row * 16 + d], sum[d] = make_float4(0, 0, 0, 0);
  float largest = -1e30f, total = 0;
  for (int t = 0; t < n; t += 32) {
    __syncthreads();
    for (int i = threadIdx.x; i < 512; i += blockDim.x) {
      ks[i / 16][i % 16] = k[head + (size_t)t * 16 + i];
      vs[i / 16][i % 16] = v[head + (size_t)t * 16 + i];
    }
    __syncthreads();
    for (int j = 0; j < 32; ++j) {
      float s = 0;
#pragma unroll
      for (int d = 0; d < 16; ++d) {
        const float4 a = ks[j][d];
        s += query[d].x * a.x + query[d].y * a.y + query[d].z * a.z + query[d].w * a.w;
      }
      s *= 0.125f;
      const float bigger = fmaxf(largest, s), scale = __expf(largest - bigger), p = __expf(s - bigger);
      total = total * scale + p;
      largest = bigger;
#pragma unroll
      for (int d = 0; d < 16; ++d) {
        const float4 b = vs[j][d];
        sum[d].x = sum[d].x * scale + p * b.x;
        sum[d].y = sum[d].y * scale + p * b.y;
        sum[d].z = sum[d].z * scale + p * b.z;
        sum[d].w = sum[d].w * scale + p * b.w;
      }
    }
  }
  const float r = 1.0f / total;
#pragma unroll
  for (int d = 0; d < 16; ++d)
    out[head + (size_t)row * 16 + d] = make_float4(sum[d].x * r, sum[d].y * r, sum[d].z * r, sum[d].w * r);
}

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) x += __shfl_xor_sync(~0u, x, o);
  return x;
}
__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) x = fmaxf(x, __shfl_xor_sync(~0u, x, o));
  return x;
}
__device__ float block_sum(float x) {
  __shared__ float part[32];
  x = warp_sum(x);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  return warp_sum(threadIdx.x % 32 < blockDim.x / 32 ? part[threadIdx.x % 32] : 0.0f);
}

extern "C" __global__ void softmax_warp(const float* __restrict__ in, float* __restrict__ out, int columns) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  const float* x = in + (size_t)row * columns;
  float largest = -1e30f, total = 0;
  for (int c = lane; c < columns; c += 32) largest = fmaxf(largest, x[c]);
  largest = warp_max(largest);
  for (int c = lane; c < columns; c += 32) total += expf(x[c] - largest);
  total = warp_sum(total);
  for (int c = lane; c < columns; c += 32) out[(size_t)row * columns + c] = expf(x[c] - largest) / total;
}

extern "C" __global__ void softmax_block(const float* __restrict__ in, float* __restrict__ out, int columns) {
  extern __shared__ float row[];
  const float* x = in + (size_t)blockIdx.x * columns;
  float total = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float e = expf(x[c]);
    row[c] = e;
    total += e;
  }
  total = 1.0f / block_sum(total);
  for (int c = threadIdx.x; c < columns; c += blockDim.x) out[(size_t)blockIdx.x * columns + c] = row[c] * total;
}

extern "C" __global__ void layer_norm(const float* __restrict__ in, const float* __restrict__ gain,
                                      const float* __restrict__ bias, float* __restrict__ out, int columns) {
  const float* x = in + (size_t)blockIdx.x * columns;
  float sum = 0, square = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float v = x[c];
    sum += v;
    square += v * v;
  }
  const float mean = block_sum(sum) / columns;
  const float inv = rsqrtf(block_sum(square) / columns - mean * mean + 1e-5f);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    out[(size_t)blockIdx.x * columns + c] = (x[c] - mean) * inv * gain[c] + bias[c];
}

extern "C" __global__ void rms_norm(const float4* __restrict__ in, const float4* __restrict__ gain,
                                    float4* __restrict__ out, int quads) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  float square = 0;
  for (int c = lane; c < quads; c += 32) {
    const float4 v = in[(size_t)row * quads + c];
    square += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  const float inv = rsqrtf(warp_sum(square) / (4 * quads) + 1e-6f);
  for (int c = lane; c < quads; c += 32) {
    const float4 v = in[(size_t)row * quads + c], g = gain[c];
    out[(size_t)row * quads + c] = make_float4(v.x * inv * g.x, v.y * inv * g.y, v.z * inv * g.z, v.w * inv * g.w);
  }
}

extern "C" __global__ void gelu(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float x = in[i];
    out[i] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + 0.044715f * x * x * x)));
  }
}

extern "C" __global__ void rotary(float2* __restrict__ x, int pairs, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int position = i / pairs, k = i % pairs;
  const float angle = position * exp2f(-13.2877f * k / pairs);
  float s, c;
  sincosf(angle, &s, &c);
  const float2 v = x[i];
  x[i] = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}
