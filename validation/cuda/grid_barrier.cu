// A cooperative launch whose blocks meet at grid barriers.
#include <cooperative_groups.h>
#include "check.h"
namespace cg = cooperative_groups;
__global__ void rounds(int* data, int n, int count) {
  const cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < count; ++round) {
    for (int i = grid.thread_rank(); i < n; i += grid.size()) data[(round + 1) % 2 * n + i] = data[round % 2 * n + (i + 1) % n] + 1;
    grid.sync();
  }
}
int main() {
  const int n = 1000;
  int count = 5, size = n;
  std::vector<int> values(2 * n);
  for (int i = 0; i < n; ++i) values[i] = i;
  Buffer<int> data(values);
  void* arguments[] = {&data.data, &size, &count};
  CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(rounds), dim3(6), dim3(64), arguments, 0, nullptr));
  const auto result = data.read();
  for (int i = 0; i < n; ++i) EXPECT(result[n + i] == (i + 5) % n + 5);
  return passed("grid_barrier");
}
