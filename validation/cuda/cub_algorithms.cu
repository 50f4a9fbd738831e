// CUB: reduction, scan, radix sort, selection.
#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>
#include "check.h"
struct Even { __device__ bool operator()(int v) const { return v % 2 == 0; } };
int main() {
  const int n = 3000;
  Numbers numbers;
  std::vector<int> values(n);
  for (int& v : values) v = numbers.next() % 1000;
  Buffer<int> in(values), out(n), sum(1), count(1);
  Buffer<char> space(1 << 20);
  std::size_t bytes = space.count;
  CUDA(cub::DeviceReduce::Sum(space.data, bytes, in.data, sum.data, n));
  EXPECT(sum.read()[0] == std::accumulate(values.begin(), values.end(), 0));
  bytes = space.count;
  CUDA(cub::DeviceScan::ExclusiveSum(space.data, bytes, in.data, out.data, n));
  const auto scanned = out.read();
  int running = 0;
  for (int i = 0; i < n; running += values[i++]) EXPECT(scanned[i] == running);
  bytes = space.count;
  CUDA(cub::DeviceSelect::If(space.data, bytes, in.data, out.data, count.data, n, Even()));
  EXPECT(count.read()[0] == std::count_if(values.begin(), values.end(), [](int v) { return v % 2 == 0; }));
  bytes = space.count;
  CUDA(cub::DeviceRadixSort::SortKeys(space.data, bytes, in.data, out.data, n));
  std::sort(values.begin(), values.end());
  EXPECT(out.read() == values);
  return passed("cub_algorithms");
}
