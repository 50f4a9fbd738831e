#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
extern "C" __global__ void warp_ops(int* a, unsigned* b, float* f, long long* l, double* d) {
  int i = threadIdx.x;
  int v = a[i];
  unsigned m = __activemask();
  v += __shfl_sync(m, v, 3);
  v += __shfl_up_sync(m, v, 1, 16);
  v += __shfl_down_sync(m, v, 2);
  v += __shfl_xor_sync(m, v, 4);
  d[i] = __shfl_xor_sync(m, d[i], 4);
  if (__any_sync(m, v > 3)) v++;
  if (__all_sync(m, v)) v--;
  b[i] = __ballot_sync(m, v & 1);
  b[i + 1] = __match_any_sync(m, v);
  int pr;
  b[i + 2] = __match_all_sync(m, l[i], &pr);
  b[i + 3] = pr;
  b[i + 4] = __reduce_add_sync(m, b[i]);
  b[i + 5] = __reduce_xor_sync(m, b[i]);
  a[i + 1] = __reduce_min_sync(m, v);
  __syncwarp(m);
  __syncthreads();
  a[i + 2] = __syncthreads_count(v);
  a[i + 3] = __syncthreads_and(v);
  a[i + 4] = __syncthreads_or(v);
  auto t = cg::tiled_partition<8>(cg::this_thread_block());
  f[i] = cg::reduce(t, f[i], cg::plus<float>());
  auto c = cg::coalesced_threads();
  if (c.thread_rank() == 0) a[9] = c.size();
  cg::this_grid().sync();
  asm volatile("bar.sync 3, 64;");
  asm volatile("barrier.sync 2;");
  asm volatile("bar.arrive 4, 128;");
  unsigned lm;
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lm));
  b[i + 6] = lm;
  b[i + 7] = __popc(lm & m) + __ffs(m) + __clz(v) + __brev(v) + __fns(m, 0, 2);
  l[i] = clock64() + clock();
  l[i + 1] = __popcll(l[i]) + __clzll(l[i + 1]) + __brevll(l[i]) + __ffsll(l[i]);
  __nanosleep(100);
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  b[0] = sm;
  unsigned long long gt;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(gt));
  l[3] = gt;
}
