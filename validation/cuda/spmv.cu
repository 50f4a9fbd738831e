// A sparse matrix in CSR times a vector, a warp a row.
#include "check.h"
__global__ void spmv(const int* first, const int* column, const float* value, const float* x, float* y, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int e = first[row] + lane; e < first[row + 1]; e += 32) sum += value[e] * x[column[e]];
  for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
  if (lane == 0) y[row] = sum;
}
int main() {
  const int rows = 200;
  Numbers numbers;
  std::vector<int> first(rows + 1), column;
  std::vector<float> value, x(rows);
  for (float& v : x) v = numbers.unit();
  for (int r = 0; r < rows; ++r) {
    for (unsigned k = numbers.next() >> 26; k > 0; --k) column.push_back(numbers.next() % rows), value.push_back(numbers.unit());
    first[r + 1] = column.size();
  }
  Buffer<int> df(first), dc(column);
  Buffer<float> dv(value), dx(x), dy(rows);
  spmv<<<(rows + 3) / 4, 128>>>(df.data, dc.data, dv.data, dx.data, dy.data, rows);
  const auto y = dy.read();
  for (int r = 0; r < rows; ++r) {
    double sum = 0;
    for (int e = first[r]; e < first[r + 1]; ++e) sum += value[e] * x[column[e]];
    EXPECT(near(y[r], sum));
  }
  return passed("spmv");
}
