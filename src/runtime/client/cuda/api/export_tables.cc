// Tables of undocumented functions that NVIDIA's libraries ask the driver for. warpmux has none of them.
//
// The runtime library that nvcc links statically by default (CUDA 13) asks for seven before its first allocation. The
// last one (d4082055…) lets the runtime check that it talks to NVIDIA's own driver, which this is not; the runtime then
// refuses to work. Programs that are linked with the shared runtime library use ours instead.
#include "runtime/client/cuda/api/call.h"

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (table == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  wm::cuda::explain(
      "the program contains NVIDIA's runtime library, which works with NVIDIA's driver only; build it with "
      "`nvcc -cudart shared` to run it on the simulated GPU");
  *table = nullptr;
  return CUDA_ERROR_NOT_SUPPORTED;
}
