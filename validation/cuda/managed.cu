// Managed memory: allocated, and as a variable.
#include "check.h"
__managed__ int total;
__global__ void sum(const int* data, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&total, data[i]); }
struct Item { Item* next; int value; };
__global__ void walk(const Item* list, int* out) { int s = 0; for (; list; list = list->next) s += list->value; *out = s; }
int main() {
  int* data;
  CUDA(cudaMallocManaged(&data, 1000 * 4));
  for (int i = 0; i < 1000; ++i) data[i] = i;
  total = 7;
  sum<<<1, 64>>>(data, 1000);
  CUDA(cudaDeviceSynchronize());
  EXPECT(total == 499507);
  Item* items;
  CUDA(cudaMallocManaged(&items, 10 * sizeof(Item)));
  for (int i = 0; i < 10; ++i) items[i] = {i < 9 ? &items[i + 1] : nullptr, i};
  walk<<<1, 1>>>(items, data);
  CUDA(cudaDeviceSynchronize());
  EXPECT(data[0] == 45);
  CUDA(cudaFree(items));
  CUDA(cudaFree(data));
  return passed("managed");
}
