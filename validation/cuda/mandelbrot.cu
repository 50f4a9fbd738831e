// Iterations of the Mandelbrot set: divergent loops.
#include "check.h"
__host__ __device__ int iterations(double cx, double cy) {
  double x = 0, y = 0;
  int n = 0;
  while (n < 100 && x * x + y * y < 4) { const double t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; ++n; }
  return n;
}
__global__ void mandelbrot(int* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) out[y * width + x] = iterations(-2 + 3.0 * x / width, -1 + 2.0 * y / height);
}
int main() {
  const int width = 60, height = 40;
  Buffer<int> out(width * height);
  mandelbrot<<<dim3(8, 5), dim3(8, 8)>>>(out.data, width, height);
  const auto result = out.read();
  int differ = 0;  // fused multiply-adds may move points of the boundary
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) differ += result[y * width + x] != iterations(-2 + 3.0 * x / width, -1 + 2.0 * y / height);
  EXPECT(differ < width * height / 100);
  return passed("mandelbrot");
}
