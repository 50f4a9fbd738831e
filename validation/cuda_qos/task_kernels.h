// The eight tasks of SMQoS's figures 15 to 19 as bodies of a block of 256 threads, so that one text is launched
// unmodified (a block per task), or as persistent workers on a range of SMs (RH-SMQoS, SlateQoS). Every launch computes
// the same outputs from the same inputs.
#pragma once

#include <cuda_runtime.h>

namespace tasks {

constexpr unsigned kThreads = 256;

// Heat on a chip (HS): tiles of 16 x 16 cells, two steps in shared memory.
struct HotSpot {
  const float *power, *before;
  float* after;
  unsigned cells, blocks_in_row;
  static constexpr unsigned kTile = 16, kSteps = 2, kKept = kTile - 2 * kSteps;

  __device__ void operator()(unsigned block) const {
    __shared__ float now[kTile][kTile], next[kTile][kTile];
    const int tx = threadIdx.x % kTile, ty = threadIdx.x / kTile;
    const int x = static_cast<int>(block % blocks_in_row * kKept) - static_cast<int>(kSteps) + tx;
    const int y = static_cast<int>(block / blocks_in_row * kKept) - static_cast<int>(kSteps) + ty;
    const int last = static_cast<int>(cells) - 1;
    const unsigned cell = min(max(y, 0), last) * cells + min(max(x, 0), last);
    const float heat = power[cell];
    now[ty][tx] = before[cell];
    __syncthreads();
    for (unsigned step = 0; step < kSteps; ++step) {
      const int west = max(tx - 1, 0), east = min(tx + 1, static_cast<int>(kTile) - 1);
      const int north = max(ty - 1, 0), south = min(ty + 1, static_cast<int>(kTile) - 1);
      const float t = now[ty][tx];
      next[ty][tx] = t + 0.1F * (heat + (now[south][tx] + now[north][tx] - 2 * t) * 0.3F +
                                 (now[ty][east] + now[ty][west] - 2 * t) * 0.3F + (80.0F - t) * 0.01F);
      __syncthreads();
      now[ty][tx] = next[ty][tx];
      __syncthreads();
    }
    const bool is_kept = tx >= static_cast<int>(kSteps) && tx < static_cast<int>(kTile - kSteps) &&
                         ty >= static_cast<int>(kSteps) && ty < static_cast<int>(kTile - kSteps);
    if (is_kept && x >= 0 && x <= last && y >= 0 && y <= last) after[cell] = now[ty][tx];
  }
};

// Sorts tiles of 512 keys in shared memory (MERGE): runs double, an element's rank in the other run is searched for.
struct MergeShared {
  const unsigned* from;
  unsigned* to;
  static constexpr unsigned kTile = 2 * kThreads;

  static __device__ unsigned count_below(const unsigned* keys, unsigned count, unsigned key, bool with_equal) {
    unsigned low = 0, high = count;
    while (low < high) {
      const unsigned middle = (low + high) / 2;
      if (keys[middle] < key || (with_equal && keys[middle] == key)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  __device__ void operator()(unsigned block) const {
    __shared__ unsigned key[kTile];
    const unsigned thread = threadIdx.x, base = block * kTile;
    key[thread] = from[base + thread];
    key[thread + kThreads] = from[base + thread + kThreads];
    for (unsigned run = 1; run < kTile; run *= 2) {
      const unsigned place = thread & (run - 1), left = 2 * (thread - place), right = left + run;
      __syncthreads();
      const unsigned a = key[left + place], b = key[right + place];
      const unsigned to_a = left + place + count_below(key + right, run, a, false);
      const unsigned to_b = left + place + count_below(key + left, run, b, true);
      __syncthreads();
      key[to_a] = a;
      key[to_b] = b;
    }
    __syncthreads();
    to[base + thread] = key[thread];
    to[base + thread + kThreads] = key[thread + kThreads];
  }
};

// Paths of the LIBOR market model (LIB): a thread's 80 rates are an indexed array in local memory.
struct Libor {
  const float *normals, *volatility;
  float* payoff;
  unsigned paths;
  static constexpr int kRates = 80, kSteps = 4;

  __device__ void operator()(unsigned block) const {
    const unsigned path = block * kThreads + threadIdx.x;
    float rate[kRates];
#pragma unroll 1
    for (int i = 0; i < kRates; ++i) rate[i] = 0.05F;
#pragma unroll 1
    for (int n = 0; n < kSteps; ++n) {
      const float shock = 0.5F * normals[n * paths + path];
      float drift = 0;
#pragma unroll 1
      for (int i = n + 1; i < kRates; ++i) {
        const float sigma = volatility[i - n - 1], weight = 0.25F * sigma;
        drift += __fdividef(weight * rate[i], 1.0F + 0.25F * rate[i]);
        rate[i] *= __expf(weight * drift + sigma * (shock - 0.5F * weight));
      }
    }
    float value = 0;
#pragma unroll 1
    for (int n = 0; n < kRates; ++n) value = __fdividef(value + rate[n], 1.0F + 0.25F * rate[n]);
    payoff[path] = value;
  }
};

// One step of a lattice-Boltzmann fluid (LBM): 19 populations a cell are read, collided and pushed to neighbours.
struct Lbm {
  const float* from;
  float* to;
  unsigned cells;
  int row, layer;  // distances of neighbours
  static constexpr int kDirections = 19;

  __device__ void operator()(unsigned block) const {
    constexpr int ex[kDirections] = {0, 1, -1, 0, 0, 0, 0, 1, -1, 1, -1, 1, -1, 1, -1, 0, 0, 0, 0};
    constexpr int ey[kDirections] = {0, 0, 0, 1, -1, 0, 0, 1, -1, -1, 1, 0, 0, 0, 0, 1, -1, 1, -1};
    constexpr int ez[kDirections] = {0, 0, 0, 0, 0, 1, -1, 0, 0, 0, 0, 1, -1, -1, 1, 1, -1, -1, 1};
    const int cell = static_cast<int>(block * kThreads + threadIdx.x);
    float f[kDirections];
    float rho = 0, ux = 0, uy = 0, uz = 0;
#pragma unroll
    for (int d = 0; d < kDirections; ++d) {
      f[d] = from[d * cells + cell];
      rho += f[d];
      ux += ex[d] * f[d];
      uy += ey[d] * f[d];
      uz += ez[d] * f[d];
    }
    const float per = __fdividef(1.0F, rho);
    ux *= per;
    uy *= per;
    uz *= per;
    const float base = 1.0F - 1.5F * (ux * ux + uy * uy + uz * uz);
#pragma unroll
    for (int d = 0; d < kDirections; ++d) {
      const float eu = ex[d] * ux + ey[d] * uy + ez[d] * uz;
      const float equilibrium = rho * (1.0F / 19) * (base + 3 * eu + 4.5F * eu * eu);
      const int at = cell + ex[d] + row * ey[d] + layer * ez[d];
      const int inside = at < 0                          ? at + static_cast<int>(cells)
                         : at >= static_cast<int>(cells) ? at - static_cast<int>(cells)
                                                         : at;
      to[d * cells + inside] = 0.4F * f[d] + 0.6F * equilibrium;
    }
  }
};

// The cheapest way down a grid (PF): a block takes 16 rows in shared memory.
struct PathFinder {
  const int *cost, *before;
  int* after;
  unsigned columns;
  static constexpr int kRows = 16, kKept = static_cast<int>(kThreads) - 2 * kRows;

  __device__ void operator()(unsigned block) const {
    __shared__ int now[kThreads], next[kThreads];
    const int thread = static_cast<int>(threadIdx.x);
    const int column = static_cast<int>(block) * kKept - kRows + thread, last = static_cast<int>(columns) - 1;
    const int inside = min(max(column, 0), last);
    now[thread] = before[inside];
    __syncthreads();
    for (int row = 0; row < kRows; ++row) {
      const int west = max(thread - 1, 0), east = min(thread + 1, static_cast<int>(kThreads) - 1);
      next[thread] = min(now[thread], min(now[west], now[east])) + cost[row * columns + inside];
      __syncthreads();
      now[thread] = next[thread];
      __syncthreads();
    }
    if (thread >= kRows && thread < static_cast<int>(kThreads) - kRows && column >= 0 && column <= last)
      after[column] = now[thread];
  }
};

// A European call on a binomial tree of 1,024 levels (BINO): a block an option, four nodes a thread.
struct Binomial {
  const float* prices;
  float* calls;
  static constexpr int kEach = 4, kLevels = static_cast<int>(kThreads) * kEach;

  __device__ void operator()(unsigned block) const {
    __shared__ float first[2][kThreads + 1];
    const int thread = static_cast<int>(threadIdx.x);
    const float price = prices[block];
    float node[kEach];
#pragma unroll
    for (int k = 0; k < kEach; ++k)
      node[k] = fmaxf(price * __expf(0.005F * static_cast<float>(2 * (thread * kEach + k) - kLevels)) - 50.0F, 0.0F);
    if (thread == 0) first[0][kThreads] = first[1][kThreads] = fmaxf(price * __expf(0.005F * kLevels) - 50.0F, 0.0F);
#pragma unroll 1
    for (int level = kLevels - 1; level >= 0; --level) {
      first[level & 1][thread] = node[0];
      __syncthreads();
      if (thread * kEach <= level) {
#pragma unroll
        for (int k = 0; k < kEach - 1; ++k) node[k] = 0.502F * node[k + 1] + 0.497F * node[k];
        node[kEach - 1] = 0.502F * first[level & 1][thread + 1] + 0.497F * node[kEach - 1];
      }
    }
    if (thread == 0) calls[block] = node[0];
    __syncthreads();
  }
};

// y = alpha A x + beta B x (GESUMMV): a thread a row, two streams of lines that no neighbour shares.
struct Gesummv {
  const float *a, *b, *x;
  float* y;
  unsigned columns;

  __device__ void operator()(unsigned block) const {
    const unsigned i = block * kThreads + threadIdx.x;
    float from_a = 0, from_b = 0;
#pragma unroll 1
    for (unsigned j = 0; j < columns; ++j) {
      from_a += a[i * columns + j] * x[j];
      from_b += b[i * columns + j] * x[j];
    }
    y[i] = fmaf(1.5F, from_a, 1.2F * from_b);
  }
};

// A x with a thread a row, then its product with the transposed A with a thread a column (ATAX): the first half of the
// blocks, which a launch of their own precedes.
struct Atax {
  const float *a, *x;
  float *tmp, *y;
  unsigned size;
  bool is_second;

  __device__ void operator()(unsigned block) const {
    const unsigned i = block * kThreads + threadIdx.x;
    float sum = 0;
    if (is_second) {
#pragma unroll 1
      for (unsigned j = 0; j < size; ++j) sum += a[j * size + i] * tmp[j];
      y[i] = sum;
    } else {
#pragma unroll 1
      for (unsigned j = 0; j < size; ++j) sum += a[i * size + j] * x[j];
      tmp[i] = sum;
    }
  }
};

// The tasks of a launch of workers: those from `first` to `end`, on SMs [first_sm, first_sm + sms).
struct WorkerRange {
  unsigned first, end, first_sm, sms;
  unsigned* words;  // tasks taken, workers that have left; 0 between launches
};

template <typename Body>
__global__ void __launch_bounds__(kThreads) run_blocks(Body body) {
  body(blockIdx.x);
}

template <typename Body>
__global__ void __launch_bounds__(kThreads) run_workers(Body body, WorkerRange range) {
  __shared__ unsigned task;
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (sm >= range.first_sm && sm < range.first_sm + range.sms) {
    for (;;) {
      if (threadIdx.x == 0) task = range.first + atomicAdd(&range.words[0], 1U);
      __syncthreads();
      const unsigned taken = task;
      __syncthreads();
      if (taken >= range.end) break;
      body(taken);
      __syncthreads();
    }
  }
  if (threadIdx.x != 0 || atomicAdd(&range.words[1], 1U) != gridDim.x - 1) return;
  range.words[0] = range.words[1] = 0;
}

}  // namespace tasks
