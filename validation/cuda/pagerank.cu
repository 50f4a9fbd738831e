// PageRank by pulling, in double precision.
#include "check.h"
__global__ void pull(const int* first, const int* from, const int* degree, const double* rank, double* next, int n) {
  const int v = blockIdx.x * blockDim.x + threadIdx.x;
  if (v >= n) return;
  double sum = 0;
  for (int e = first[v]; e < first[v + 1]; ++e) sum += rank[from[e]] / degree[from[e]];
  next[v] = 0.15 / n + 0.85 * sum;
}
int main() {
  const int n = 500;
  Numbers numbers;
  std::vector<int> first(n + 1), from, degree(n, 0);
  for (int v = 0; v < n; ++v) {
    for (int k = 0; k < 5; ++k) from.push_back(numbers.next() % n), ++degree[from.back()];
    first[v + 1] = from.size();
  }
  std::vector<double> rank(n, 1.0 / n), next(n);
  Buffer<int> df(first), dfrom(from), dd(degree);
  Buffer<double> a(rank), b(n);
  for (int i = 0; i < 6; ++i) {
    pull<<<4, 128>>>(df.data, dfrom.data, dd.data, i % 2 ? b.data : a.data, i % 2 ? a.data : b.data, n);
    for (int v = 0; v < n; ++v) {
      double sum = 0;
      for (int e = first[v]; e < first[v + 1]; ++e) sum += rank[from[e]] / degree[from[e]];
      next[v] = 0.15 / n + 0.85 * sum;
    }
    rank.swap(next);
  }
  const auto result = a.read();
  for (int v = 0; v < n; ++v) EXPECT(near(result[v], rank[v], 1e-12));
  return passed("pagerank");
}
