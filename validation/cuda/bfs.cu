// Breadth-first search, a launch a level, with a queue filled by atomics.
#include "check.h"
__global__ void expand(const int* first, const int* to, int* level, const int* queue, int size, int* next, int* next_size, int depth) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= size) return;
  for (int e = first[queue[q]]; e < first[queue[q] + 1]; ++e)
    if (atomicCAS(&level[to[e]], -1, depth) == -1) next[atomicAdd(next_size, 1)] = to[e];
}
int main() {
  const int n = 1000;
  Numbers numbers;
  std::vector<int> first(n + 1), to;
  for (int v = 0; v < n; ++v) {
    for (int k = 0; k < 4; ++k) to.push_back(numbers.next() % n);
    first[v + 1] = to.size();
  }
  std::vector<int> level(n, -1), expected(n, -1), queue{0};
  level[0] = expected[0] = 0;
  for (std::size_t q = 0; q < queue.size(); ++q)
    for (int e = first[queue[q]]; e < first[queue[q] + 1]; ++e)
      if (expected[to[e]] < 0) expected[to[e]] = expected[queue[q]] + 1, queue.push_back(to[e]);
  Buffer<int> df(first), dt(to), dl(level), a(std::vector<int>(n, 0)), b(std::vector<int>(n, 0)), size(1);
  int count = 1;
  for (int depth = 1; count > 0; ++depth) {
    CUDA(cudaMemset(size.data, 0, 4));
    expand<<<(count + 127) / 128, 128>>>(df.data, dt.data, dl.data, depth % 2 ? a.data : b.data, count, depth % 2 ? b.data : a.data, size.data, depth);
    count = size.read()[0];
  }
  EXPECT(dl.read() == expected);
  return passed("bfs");
}
