// Bellman-Ford with atomicMin until nothing changes.
#include "check.h"
struct Edge { int from, to, weight; };
__global__ void relax(const Edge* edges, int count, int* distance, int* changed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count || distance[edges[i].from] == 1 << 29) return;
  const int d = distance[edges[i].from] + edges[i].weight;
  if (atomicMin(&distance[edges[i].to], d) > d) *changed = 1;
}
int main() {
  const int n = 300;
  Numbers numbers;
  std::vector<Edge> edges(1500);
  for (auto& e : edges) e = {static_cast<int>(numbers.next() % n), static_cast<int>(numbers.next() % n), static_cast<int>(numbers.next() % 100)};
  std::vector<int> distance(n, 1 << 29);
  distance[0] = 0;
  Buffer<Edge> de(edges);
  Buffer<int> dd(distance), changed(1);
  do {
    CUDA(cudaMemset(changed.data, 0, 4));
    relax<<<6, 256>>>(de.data, 1500, dd.data, changed.data);
  } while (changed.read()[0]);
  for (int round = 0; round < n; ++round)
    for (const auto& e : edges)
      if (distance[e.from] < 1 << 29) distance[e.to] = std::min(distance[e.to], distance[e.from] + e.weight);
  EXPECT(dd.read() == distance);
  return passed("shortest_paths");
}
