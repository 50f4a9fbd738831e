#include "runtime/client/cuda/api/occupancy.h"

#include "gpu/occupancy.h"
#include "runtime/client/cuda/api/call.h"
#include "runtime/client/cuda/api/device_attributes.h"
#include "runtime/client/cuda/api/load_image.h"

namespace wm::cuda {
namespace {

gpu::SmLimits sm_limits(const gpu::GpuConfig& config) {
  const auto& sm = config.sm;
  return {.total = {sm.threads, sm.registers, sm.shared_memory, sm.blocks},
          .register_unit = sm.register_unit,
          .shared_unit = sm.shared_memory_unit};
}

template <typename Body>
CUresult with_occupancy(CUfunction handle, Body&& body) {
  return with_driver([&](Driver& driver) {
    const auto function = driver.functions.find(handle);
    if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return std::forward<Body>(body)(driver, *function);
  });
}

}  // namespace

std::optional<std::uint32_t> blocks_per_sm(const Driver& driver, const Function& function, std::uint32_t threads,
                                           std::uint64_t dynamic_shared) {
  if (dynamic_shared > static_cast<std::uint64_t>(max_dynamic_shared(function))) return std::nullopt;
  const std::uint64_t shared = function.kernel->program->static_shared_bytes + dynamic_shared;
  if (shared > driver.config().sm.shared_memory) return std::nullopt;
  const gpu::BlockDemand demand{.threads = threads,
                                .registers_per_thread = runtime::fitting_registers(
                                    function.kernel->registers_per_thread, threads, driver.config()),
                                .shared_bytes = static_cast<std::uint32_t>(shared)};
  const auto blocks = gpu::max_blocks(demand, sm_limits(driver.config()));
  if (!blocks) return std::nullopt;
  return *blocks;
}

}  // namespace wm::cuda

using wm::cuda::Driver;
using wm::cuda::Function;
using wm::cuda::with_occupancy;

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int block_size,
                                                     std::size_t shared_bytes) {
  return with_occupancy(function, [&](Driver& driver, Function& f) {
    if (blocks == nullptr || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    int largest = 0;
    if (const CUresult asked = cuFuncGetAttribute(&largest, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function);
        asked != CUDA_SUCCESS)
      return asked;
    const auto fit = block_size > largest
                         ? std::nullopt
                         : wm::cuda::blocks_per_sm(driver, f, static_cast<std::uint32_t>(block_size), shared_bytes);
    *blocks = static_cast<int>(fit.value_or(0));
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction function, int block_size,
                                                              std::size_t shared_bytes, unsigned) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_size, shared_bytes);
}

// The block size with the most resident threads; of several, the largest.
CUresult cuOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, CUfunction function,
                                          CUoccupancyB2DSize shared_of, std::size_t shared_bytes, int limit) {
  return with_occupancy(function, [&](Driver& driver, Function& f) {
    if (grid_size == nullptr || block_size == nullptr) return CUDA_ERROR_INVALID_VALUE;
    int largest = wm::cuda::kMaxThreadsPerBlock;
    if (cuFuncGetAttribute(&largest, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function) != CUDA_SUCCESS)
      return CUDA_ERROR_INVALID_VALUE;
    if (limit > 0) largest = std::min(largest, limit);
    std::uint32_t best_threads = 0;
    for (int size = (largest + 31) / 32 * 32; size > 0; size -= 32) {
      const int threads = std::min(size, largest);
      const std::size_t shared = shared_of != nullptr ? shared_of(threads) : shared_bytes;
      const auto blocks = wm::cuda::blocks_per_sm(driver, f, static_cast<std::uint32_t>(threads), shared);
      if (!blocks || *blocks * static_cast<std::uint32_t>(threads) <= best_threads) continue;
      best_threads = *blocks * static_cast<std::uint32_t>(threads);
      *block_size = threads;
      *grid_size = static_cast<int>(*blocks * driver.config().sm.count);
    }
    return best_threads == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size, CUfunction function,
                                                   CUoccupancyB2DSize shared_of, std::size_t shared_bytes, int limit,
                                                   unsigned) {
  return cuOccupancyMaxPotentialBlockSize(grid_size, block_size, function, shared_of, shared_bytes, limit);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, CUfunction function, int blocks, int block_size) {
  return with_occupancy(function, [&](Driver& driver, Function& f) {
    if (bytes == nullptr || blocks <= 0 || block_size <= 0) return CUDA_ERROR_INVALID_VALUE;
    const auto& sm = driver.config().sm;
    const std::size_t per_block =
        sm.shared_memory / static_cast<std::size_t>(blocks) / sm.shared_memory_unit * sm.shared_memory_unit;
    const std::size_t used = f.kernel->program->static_shared_bytes;
    *bytes = per_block > used ? per_block - used : 0;
    return CUDA_SUCCESS;
  });
}
