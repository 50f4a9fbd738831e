// Sorting: bitonic networks in shared and global memory, radix counts, odd-even transposition, merging, ranks.
extern "C" __global__ void bitonic_shared(unsigned* __restrict__ data) {
  __shared__ unsigned s[1024];
  const int t = threadIdx.x;
  unsigned* mine = data + (size_t)blockIdx.x * 1024;
  s[t] = mine[t], s[t + 512] = mine[t + 512];
  for (int size = 2; size <= 1024; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      const int i = 2 * t - (t & (stride - 1)), j = i + stride;
      const unsigned a = s[i], b = s[j];
      if ((a > b) == ((i & size) == 0)) s[i] = b, s[j] = a;
    }
  __syncthreads();
  mine[t] = s[t], mine[t + 512] = s[t + 512];
}

extern "C" __global__ void bitonic_step(unsigned* __restrict__ data, int stride, int size) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = 2 * t - (t & (stride - 1)), j = i + stride;
  const unsigned a = data[i], b = data[j];
  if ((a > b) == ((i & size) == 0)) data[i] = b, data[j] = a;
}

// Counts of four-bit digits by ballots, a tile of 256 a step.
extern "C" __global__ void radix_count(const unsigned* __restrict__ keys, unsigned* __restrict__ counts, int tiles,
                                       int shift) {
  __shared__ unsigned local[8][16];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  unsigned mine = 0;
  for (int k = 0; k < tiles; ++k) {
    const unsigned digit = keys[((size_t)blockIdx.x * tiles + k) * 256 + threadIdx.x] >> shift & 15;
    unsigned same = ~0u;
#pragma unroll
    for (int bit = 0; bit < 4; ++bit) {
      const unsigned votes = __ballot_sync(~0u, digit >> bit & 1);
      same &= lane >> bit & 1 ? votes : ~votes;
    }
    mine += __popc(same);
  }
  if (lane < 16) local[warp][lane] = mine;
  __syncthreads();
  if (threadIdx.x < 16) {
    unsigned sum = 0;
    for (int w = 0; w < 8; ++w) sum += local[w][threadIdx.x];
    counts[threadIdx.x * gridDim.x + blockIdx.x] = sum;
  }
}

extern "C" __global__ void odd_even(unsigned* __restrict__ data, int rounds) {
  __shared__ unsigned s[257];
  const int t = threadIdx.x;
  s[t] = data[blockIdx.x * 256 + t];
  for (int r = 0; r < rounds; ++r) {
    __syncthreads();
    const int i = 2 * t + (r & 1);
    if (i + 1 < 256) {
      const unsigned a = s[i], b = s[i + 1];
      s[i] = min(a, b), s[i + 1] = max(a, b);
    }
  }
  __syncthreads();
  data[blockIdx.x * 256 + t] = s[t];
}

// Merges two sorted halves: every element finds its place by binary search.
extern "C" __global__ void merge_ranks(const unsigned* __restrict__ in, unsigned* __restrict__ out, int half) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  const bool second = t >= half;
  const unsigned key = in[t];
  const unsigned* other = in + (second ? 0 : half);
  int low = 0, high = half;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (other[middle] < key || (second && other[middle] == key))
      low = middle + 1;
    else
      high = middle;
  }
  out[(second ? t - half : t) + low] = key;
}

// Ranks by counting smaller elements, all pairs.
extern "C" __global__ void rank_sort(const unsigned* __restrict__ in, unsigned* __restrict__ out, int n) {
  __shared__ unsigned tile[256];
  const int i = blockIdx.x * 256 + threadIdx.x;
  const unsigned key = in[i];
  int rank = 0;
  for (int t = 0; t < n; t += 256) {
    tile[threadIdx.x] = in[t + threadIdx.x];
    __syncthreads();
#pragma unroll 16
    for (int j = 0; j < 256; ++j) rank += tile[j] < key || (tile[j] == key && t + j < i);
    __syncthreads();
  }
  out[rank] = key;
}
