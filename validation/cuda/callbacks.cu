// Host functions between kernels.
#include "check.h"
__global__ void add(int* data, int value) { *data += value; }
struct State { int* pinned; int seen; };
int main() {
  State state{};
  CUDA(cudaMallocHost(&state.pinned, 4));
  *state.pinned = 1;
  cudaStream_t stream;
  CUDA(cudaStreamCreate(&stream));
  add<<<1, 1, 0, stream>>>(state.pinned, 5);
  CUDA(cudaLaunchHostFunc(stream, [](void* data) { auto* s = static_cast<State*>(data); s->seen = *s->pinned; *s->pinned *= 10; }, &state));
  add<<<1, 1, 0, stream>>>(state.pinned, 2);
  CUDA(cudaStreamSynchronize(stream));
  EXPECT(state.seen == 6 && *state.pinned == 62);
  CUDA(cudaFreeHost(state.pinned));
  return passed("callbacks");
}
