// 3D memory and copies, copies between devices' memory, sets.
#include "check.h"
int main() {
  const int w = 10, h = 6, d = 4;
  cudaPitchedPtr volume;
  CUDA(cudaMalloc3D(&volume, make_cudaExtent(w * 4, h, d)));
  std::vector<int> in(w * h * d), out(w * h * d, 0);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = i;
  cudaMemcpy3DParms copy{};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), w * 4, w, h);
  copy.dstPtr = volume;
  copy.extent = make_cudaExtent(w * 4, h, d);
  copy.kind = cudaMemcpyHostToDevice;
  CUDA(cudaMemcpy3D(&copy));
  cudaMemcpy3DParms back{};
  back.srcPtr = volume;
  back.dstPtr = make_cudaPitchedPtr(out.data(), w * 4, w, h);
  back.extent = copy.extent;
  back.kind = cudaMemcpyDeviceToHost;
  CUDA(cudaMemcpy3D(&back));
  EXPECT(in == out);
  Buffer<int> a(in), b(in.size());
  CUDA(cudaMemset(b.data, 0xff, 8));
  CUDA(cudaMemcpy(b.data + 2, a.data, 40, cudaMemcpyDeviceToDevice));
  CUDA(cudaMemcpy(b.data + 12, a.data + 1, 4, cudaMemcpyDefault));
  const auto r = b.read();
  EXPECT(r[0] == -1 && r[2] == 0 && r[11] == 9 && r[12] == 1);
  CUDA(cudaFree(volume.ptr));
  return passed("copies3d");
}
