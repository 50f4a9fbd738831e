// y = a * x + y, one element a thread: a kernel of one's own, from source to a checked run.
//
// saxpy.ptx beside this file was made with: nvcc -arch=compute_75 -ptx saxpy.cu
extern "C" __global__ void saxpy(unsigned n, float a, const float* x, float* y) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
