// Cooperative groups: tiles, coalesced groups and reductions from the toolkit's headers.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "check.h"
namespace cg = cooperative_groups;
__global__ void tiles(const int* in, int* out, int* odd) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int sum = cg::reduce(tile, in[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) out[block.thread_rank() / 8] = sum;
  if (in[block.thread_rank()] % 2 != 0) {
    const auto active = cg::coalesced_threads();
    if (active.thread_rank() == 0) atomicAdd(odd, active.size());
  }
}
int main() {
  std::vector<int> values(128);
  for (int i = 0; i < 128; ++i) values[i] = i * i;
  Buffer<int> in(values), out(16), odd(std::vector<int>{0});
  tiles<<<1, 128>>>(in.data, out.data, odd.data);
  const auto sums = out.read();
  for (int g = 0; g < 16; ++g) {
    int expected = 0;
    for (int i = 0; i < 8; ++i) expected += values[g * 8 + i];
    EXPECT(sums[g] == expected);
  }
  EXPECT(odd.read()[0] == 64);
  return passed("groups");
}
