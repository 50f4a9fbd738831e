// Tables of undocumented functions that NVIDIA's libraries ask the driver for. warpmux has none of them.
//
// The runtime library that nvcc links statically by default (CUDA 13) asks for seven before its first allocation. The
// last one (d4082055…) lets the runtime check that it talks to NVIDIA's own driver, which this is not; the runtime then
// refuses to work. Programs that are linked with the shared runtime library use ours instead.
#include <unistd.h>

#include "runtime/client/cuda/api/call.h"
#include "runtime/simulated/static_runtime.h"

CUresult cuGetExportTable(const void** table, const CUuuid* id) {
  if (table == nullptr || id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  wm::cuda::explain(wm::runtime::kStaticRuntimeAdvice);
  *table = nullptr;
  // The program ends here: every call of its runtime library would fail, and threads that all end the process because
  // of that crash in its exit handlers. A library that asks may do without the table.
  static const bool is_program = wm::runtime::has_static_runtime(std::string("/proc/self/exe"));
  if (is_program) ::_exit(1);
  return CUDA_ERROR_NOT_SUPPORTED;
}
