// Graphs and sparse matrices: rows of equal and of uneven length, atomics on vertices.
extern "C" __global__ void bfs_level(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns,
                                     unsigned* __restrict__ level, int n, unsigned current) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n || (v & 3) != 0) return;  // the frontier: every fourth vertex
  for (unsigned e = rows[v]; e < rows[v + 1]; ++e) {
    const unsigned u = columns[e];
    if (level[u] == ~0u) level[u] = current + 1;
  }
}

extern "C" __global__ void pagerank_pull(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns,
                                         const float* __restrict__ rank, float* __restrict__ next, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  float sum = 0;
  for (unsigned e = rows[v]; e < rows[v + 1]; ++e) sum += rank[columns[e]];
  next[v] = 0.15f / n + 0.85f * sum;
}

extern "C" __global__ void relax_edges(const unsigned* __restrict__ from, const unsigned* __restrict__ to,
                                       const unsigned* __restrict__ weight, unsigned* __restrict__ distance,
                                       int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  const unsigned there = distance[from[e]] + (weight[e] & 255);
  if (there < distance[to[e]]) atomicMin(&distance[to[e]], there);
}

// Vertices of uneven degree: a vertex's degree grows with the trailing zeros of its number.
extern "C" __global__ void uneven_degrees(const unsigned* __restrict__ columns, const float* __restrict__ value,
                                          float* __restrict__ out, int n, unsigned mask) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  const int degree = 2 << min(__ffs(v + 1) - 1, 8);
  float sum = 0;
  for (int k = 0; k < degree; ++k) sum += value[columns[(v * 5 + k) & mask]];
  out[v] = sum;
}

extern "C" __global__ void spmv_scalar(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns,
                                       const float* __restrict__ values, const float* __restrict__ x,
                                       float* __restrict__ y, int n) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float sum = 0;
  for (unsigned e = rows[r]; e < rows[r + 1]; ++e) sum += values[e] * x[columns[e]];
  y[r] = sum;
}

extern "C" __global__ void spmv_vector(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns,
                                       const float* __restrict__ values, const float* __restrict__ x,
                                       float* __restrict__ y, int n) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= n) return;
  float sum = 0;
  for (unsigned e = rows[r] + lane; e < rows[r + 1]; e += 32) sum += values[e] * x[columns[e]];
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) y[r] = sum;
}

extern "C" __global__ void spmv_ell(const unsigned* __restrict__ columns, const float* __restrict__ values,
                                    const float* __restrict__ x, float* __restrict__ y, int n, int width) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= n) return;
  float sum = 0;
#pragma unroll 4
  for (int k = 0; k < width; ++k) sum += values[k * n + r] * x[columns[k * n + r]];
  y[r] = sum;
}

// A sparse matrix times 32 dense columns, a lane a column.
extern "C" __global__ void spmm(const unsigned* __restrict__ rows, const unsigned* __restrict__ columns,
                                const float* __restrict__ values, const float* __restrict__ b, float* __restrict__ c,
                                int n) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= n) return;
  float sum = 0;
  for (unsigned e = rows[r]; e < rows[r + 1]; ++e) sum += values[e] * b[columns[e] * 32 + lane];
  c[r * 32 + lane] = sum;
}

// Union-find: hooks the larger root under the smaller one.
extern "C" __global__ void hook_components(const unsigned* __restrict__ from, const unsigned* __restrict__ to,
                                           unsigned* __restrict__ parent, int edges) {
  const int e = blockIdx.x * blockDim.x + threadIdx.x;
  if (e >= edges) return;
  unsigned a = from[e], b = to[e];
  for (int tries = 0; tries < 16; ++tries) {
    while (parent[a] != a) a = parent[a];
    while (parent[b] != b) b = parent[b];
    if (a == b) return;
    const unsigned high = max(a, b), low = min(a, b);
    if (atomicCAS(&parent[high], high, low) == high) return;
    a = high, b = low;
  }
}
