// Convolutions of images: 3x3 from global and from shared memory, constant weights, separable, depthwise.
extern "C" __global__ void conv3x3(const float* __restrict__ in, const float* __restrict__ w, float* __restrict__ out,
                                   int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  float sum = 0;
#pragma unroll
  for (int j = -1; j <= 1; ++j)
#pragma unroll
    for (int i = -1; i <= 1; ++i) sum += in[(y + j) * width + x + i] * w[(j + 1) * 3 + i + 1];
  out[y * width + x] = sum;
}

// Several channels in and out, with tiles in shared memory.
extern "C" __global__ void conv3x3_channels(const float* __restrict__ in, const float* __restrict__ w,
                                            float* __restrict__ out, int size, int channels) {
  __shared__ float tile[18][18];
  __shared__ float weight[4][9];
  const int tx = threadIdx.x, ty = threadIdx.y, id = ty * 16 + tx;
  const int x0 = blockIdx.x * 16, y0 = blockIdx.y * 16, first = blockIdx.z * 4;
  float sum[4] = {};
  for (int c = 0; c < channels; ++c) {
    for (int i = id; i < 18 * 18; i += 256) {
      const int y = y0 + i / 18 - 1, x = x0 + i % 18 - 1;
      tile[i / 18][i % 18] = x >= 0 && y >= 0 && x < size && y < size ? in[(c * size + y) * size + x] : 0.0f;
    }
    if (id < 36) weight[id / 9][id % 9] = w[((first + id / 9) * channels + c) * 9 + id % 9];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 3; ++j)
#pragma unroll
      for (int i = 0; i < 3; ++i) {
        const float v = tile[ty + j][tx + i];
#pragma unroll
        for (int o = 0; o < 4; ++o) sum[o] += v * weight[o][j * 3 + i];
      }
    __syncthreads();
  }
#pragma unroll
  for (int o = 0; o < 4; ++o) out[((first + o) * size + y0 + ty) * size + x0 + tx] = sum[o];
}

__constant__ float kernel17[17] = {0.01f, 0.02f, 0.03f, 0.05f, 0.06f, 0.08f, 0.09f, 0.1f, 0.12f,
                                   0.1f,  0.09f, 0.08f, 0.06f, 0.05f, 0.03f, 0.02f, 0.01f};
extern "C" __global__ void convolve_rows(const float* __restrict__ in, float* __restrict__ out, int width) {
  __shared__ float row[256 + 16];
  const int x = blockIdx.x * 256 + threadIdx.x;
  const float* line = in + (size_t)blockIdx.y * width;
  for (int i = threadIdx.x; i < 272; i += 256) {
    const int p = (int)blockIdx.x * 256 + i - 8;
    row[i] = p >= 0 && p < width ? line[p] : 0.0f;
  }
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int k = 0; k < 17; ++k) sum += kernel17[k] * row[threadIdx.x + k];
  out[(size_t)blockIdx.y * width + x] = sum;
}

extern "C" __global__ void convolve_columns(const float* __restrict__ in, float* __restrict__ out, int width,
                                            int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0;
#pragma unroll
  for (int k = -8; k <= 8; ++k) {
    const int p = min(max(y + k, 0), height - 1);
    sum += kernel17[k + 8] * in[p * width + x];
  }
  out[y * width + x] = sum;
}

extern "C" __global__ void depthwise5x5(const float* __restrict__ in, const float* __restrict__ w,
                                        float* __restrict__ out, int size) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.z;
  const float* plane = in + (size_t)c * size * size;
  float sum = 0;
  for (int j = 0; j < 5; ++j)
    for (int i = 0; i < 5; ++i) {
      const int px = x + i - 2, py = y + j - 2;
      if (px >= 0 && py >= 0 && px < size && py < size) sum += plane[py * size + px] * w[c * 25 + j * 5 + i];
    }
  out[((size_t)c * size + y) * size + x] = fmaxf(sum, 0.0f);
}

// Bilateral filter: exponentials of differences.
extern "C" __global__ void bilateral(const float* __restrict__ in, float* __restrict__ out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  const float centre = in[y * width + x];
  float sum = 0, total = 0;
#pragma unroll
  for (int j = -2; j <= 2; ++j)
#pragma unroll
    for (int i = -2; i <= 2; ++i) {
      const int px = min(max(x + i, 0), width - 1), py = min(max(y + j, 0), height - 1);
      const float v = in[py * width + px], d = v - centre;
      const float weight = __expf(-(i * i + j * j) * 0.1f - d * d * 4.0f);
      sum += weight * v;
      total += weight;
    }
  out[y * width + x] = sum / total;
}

extern "C" __global__ void median3x3(const unsigned char* __restrict__ in, unsigned char* __restrict__ out, int width,
                                     int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1) return;
  int v[9];
#pragma unroll
  for (int k = 0; k < 9; ++k) v[k] = in[(y + k / 3 - 1) * width + x + k % 3 - 1];
#pragma unroll
  for (int i = 0; i < 5; ++i)
#pragma unroll
    for (int j = i + 1; j < 9; ++j) {
      const int a = min(v[i], v[j]), b = max(v[i], v[j]);
      v[i] = a, v[j] = b;
    }
  out[y * width + x] = (unsigned char)v[4];
}
