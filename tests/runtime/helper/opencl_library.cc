// A libOpenCL.so.1 that takes launches and does nothing, for programs of OpenCL under `wm serve --cuda`.
#include <cstddef>

namespace {
int launches = 0;
}

extern "C" __attribute__((visibility("default"))) int clEnqueueNDRangeKernel(void*, void*, unsigned, const std::size_t*,
                                                                             const std::size_t*, const std::size_t*,
                                                                             unsigned, void* const*, void**) {
  ++launches;
  return 0;
}
extern "C" __attribute__((visibility("default"))) int clFinish(void*) { return 0; }
extern "C" __attribute__((visibility("default"))) int opencl_launches() { return launches; }
