// Thrust: transform, reduce, sort, scan, unique.
#include <numeric>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
#include <thrust/transform.h>
#include <thrust/unique.h>
#include "check.h"
struct Square { __host__ __device__ int operator()(int x) const { return x * x; } };
int main() {
  const int n = 2000;
  std::vector<int> values(n);
  Numbers numbers;
  for (int& v : values) v = numbers.next() % 50;
  thrust::device_vector<int> a(values.begin(), values.end()), b(n);
  thrust::transform(a.begin(), a.end(), b.begin(), Square());
  long expected = 0;
  for (const int v : values) expected += v * v;
  EXPECT(thrust::reduce(b.begin(), b.end(), 0L) == expected);
  thrust::sort(a.begin(), a.end());
  thrust::inclusive_scan(a.begin(), a.end(), b.begin());
  const int distinct = thrust::unique(a.begin(), a.end()) - a.begin();
  EXPECT(distinct == 50 && b[n - 1] == std::accumulate(values.begin(), values.end(), 0));
  return passed("thrust_algorithms");
}
