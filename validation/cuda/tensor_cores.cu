// A product of half-precision matrices on tensor cores (wmma).
#include <cuda_fp16.h>
#include <mma.h>
#include "check.h"
using namespace nvcuda;
__global__ void product(const half* a, const half* b, float* c) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 0.0F);
  for (int k = 0; k < 64; k += 16) {
    wmma::load_matrix_sync(fa, a + k, 64);
    wmma::load_matrix_sync(fb, b + k, 64);
    wmma::mma_sync(fc, fa, fb, fc);
  }
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
int main() {
  Numbers numbers;
  std::vector<half> a(16 * 64), b(16 * 64);
  for (auto& v : a) v = __float2half(numbers.unit());
  for (auto& v : b) v = __float2half(numbers.unit());
  Buffer<half> da(a), db(b);
  Buffer<float> dc(256);
  product<<<1, 32>>>(da.data, db.data, dc.data);
  const auto c = dc.read();
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      double sum = 0;
      for (int k = 0; k < 64; ++k) sum += __half2float(a[i * 64 + k]) * __half2float(b[j * 64 + k]);
      EXPECT(near(c[i * 16 + j], sum, 1e-3));
    }
  return passed("tensor_cores");
}
