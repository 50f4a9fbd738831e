// The functions behind include/warpmux.h. They return 1: this driver takes them into account.
#include "runtime/client/cuda/api/call.h"

extern "C" __attribute__((visibility("default"))) int warpmux_set_priority(int priority) {
  if (wm::cuda::Driver::initialize() != CUDA_SUCCESS) return 0;
  wm::cuda::Driver::get()->priority = priority;
  return 1;
}

extern "C" __attribute__((visibility("default"))) int warpmux_set_goal(const char* kernel, double ipc) {
  if (kernel == nullptr || !(ipc >= 0) || wm::cuda::Driver::initialize() != CUDA_SUCCESS) return 0;
  wm::cuda::Driver::get()->runner().set_goal(kernel, ipc);
  return 1;
}
