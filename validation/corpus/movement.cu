// Data that is only moved: copies, transposes, gathers, scatters, chains of pointers.
extern "C" __global__ void copy_words(const float* __restrict__ in, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

extern "C" __global__ void copy_quads(const float4* __restrict__ in, float4* __restrict__ out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}

extern "C" __global__ void add_bias_strided(const float* __restrict__ in, float* __restrict__ out, int rows,
                                            int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows) out[i] = in[(size_t)i * stride] + 1.0f;
}

extern "C" __global__ void transpose_naive(const float* __restrict__ in, float* __restrict__ out, int width,
                                           int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  out[(size_t)x * height + y] = in[(size_t)y * width + x];
}

extern "C" __global__ void transpose_tiled(const float* __restrict__ in, float* __restrict__ out, int width,
                                           int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) out[(size_t)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// Without padding: all lanes of a warp meet in one bank.
extern "C" __global__ void transpose_conflicts(const float* __restrict__ in, float* __restrict__ out, int width,
                                               int height) {
  __shared__ float tile[32][32];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
#pragma unroll
  for (int j = 0; j < 32; j += 8) out[(size_t)(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void gather(const float* __restrict__ table, const unsigned* __restrict__ index,
                                  float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];
}

extern "C" __global__ void scatter(const float* __restrict__ in, const unsigned* __restrict__ index,
                                   float* __restrict__ table, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) table[index[i]] = in[i];
}

// Rows of an embedding table, a warp a row.
extern "C" __global__ void embedding(const float4* __restrict__ table, const unsigned* __restrict__ index,
                                     float4* __restrict__ out, int quads) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const size_t from = (size_t)index[row] * quads;
  for (int c = threadIdx.x % 32; c < quads; c += 32) out[(size_t)row * quads + c] = table[from + c];
}

extern "C" __global__ void pointer_chase(const unsigned* __restrict__ next, unsigned* __restrict__ out, int steps,
                                         unsigned mask) {
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned at = id * 7919u & mask;
  for (int i = 0; i < steps; ++i) at = (at + next[at]) & mask;
  out[id] = at;
}

extern "C" __global__ void random_update(unsigned long long* __restrict__ table, int updates, unsigned mask) {
  unsigned long long s = blockIdx.x * blockDim.x + threadIdx.x + 1;
  for (int i = 0; i < updates; ++i) {
    s = s * 6364136223846793005ull + 1442695040888963407ull;
    atomicXor(&table[(unsigned)(s >> 33) & mask], s);
  }
}

extern "C" __global__ void hash_insert(const unsigned* __restrict__ keys, unsigned* __restrict__ table, int n,
                                       unsigned mask) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i] | 1u;
  unsigned slot = key * 2654435761u & mask;
  for (int probe = 0; probe < 64; ++probe) {
    const unsigned old = atomicCAS(&table[slot], 0u, key);
    if (old == 0u || old == key) return;
    slot = (slot + 1) & mask;
  }
}

extern "C" __global__ void binary_search(const unsigned* __restrict__ sorted, const unsigned* __restrict__ wanted,
                                         unsigned* __restrict__ out, int n, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = wanted[i];
  int low = 0, high = size;
  while (low < high) {
    const int middle = (low + high) >> 1;
    if (sorted[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = low;
}
