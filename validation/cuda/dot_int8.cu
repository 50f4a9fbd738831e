// Dot products of bytes, bit tricks and SIMD-in-a-word.
#include "check.h"
__global__ void dots(const int* a, const int* b, int* out) {
  const int i = threadIdx.x;
  out[i] = __dp4a(a[i], b[i], 5) + __popc(a[i]) * 1000 + __clz(b[i]) * 100000 + static_cast<int>(__byte_perm(a[i], b[i], 0x5140) & 1);
}
int main() {
  Numbers numbers;
  std::vector<int> a(32), b(32);
  for (int i = 0; i < 32; ++i) a[i] = numbers.next(), b[i] = numbers.next();
  Buffer<int> da(a), db(b), out(32);
  dots<<<1, 32>>>(da.data, db.data, out.data);
  const auto r = out.read();
  for (int i = 0; i < 32; ++i) {
    int expected = 5;
    for (int k = 0; k < 4; ++k) expected += static_cast<signed char>(a[i] >> 8 * k) * static_cast<signed char>(b[i] >> 8 * k);
    EXPECT(r[i] == expected + __builtin_popcount(a[i]) * 1000 + (b[i] ? __builtin_clz(b[i]) : 32) * 100000 + (a[i] & 1));
  }
  return passed("dot_int8");
}
