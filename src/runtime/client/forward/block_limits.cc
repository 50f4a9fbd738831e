#include "runtime/client/forward/block_limits.h"

#include <algorithm>
#include <optional>

#include "runtime/client/forward/function_table.h"
#include "runtime/client/forward/kernel_attributes.h"
#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

// Attributes of devices by their numbers in the driver's interface.
enum : int { kSharedPerBlock = 8, kSms = 16, kSharedPerSm = 81, kSharedPerBlockOptIn = 97, kReservedShared = 111 };
constexpr int kAllShared = 100, kDriversChoice = -1;  // percent of an SM's memory
constexpr int kGranularity = 128;
constexpr int kStep = 1024;  // bytes between the amounts of padding that are tried

int device_attribute(int attribute, CUdevice device) {
  int value = 0;
  const auto call = real().cuDeviceGetAttribute;
  return call != nullptr && call(&value, attribute, device) == CUDA_SUCCESS ? value : 0;
}

int target_blocks(int fitting, BlockLimit limit) {
  int target = fitting;
  if (limit.blocks_per_sm != 0) target = std::min(target, static_cast<int>(limit.blocks_per_sm));
  if (limit.occupancy_percent != 0) {
    target = std::min(target, std::max(1, fitting * static_cast<int>(limit.occupancy_percent) / 100));
  }
  return target;
}

LimitedLaunch work_out(const KernelOnDevice& kernel, unsigned threads, unsigned shared_bytes, BlockLimit limit) {
  const LimitedLaunch unchanged{shared_bytes, false};
  if (kernel.runs_in_clusters()) return unchanged;
  const int fitting = kernel.occupancy(threads, shared_bytes);
  if (fitting == 0) return unchanged;
  const int target = target_blocks(fitting, limit);
  if (target == fitting) return {shared_bytes, true};
  const auto own = kernel.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  const auto allowed = kernel.attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  const int per_sm = device_attribute(kSharedPerSm, kernel.device());
  const int max_per_block = device_attribute(kSharedPerBlockOptIn, kernel.device());
  if (!own || !allowed || per_sm == 0 || max_per_block == 0) return unchanged;
  // One more block than the target does not fit, with or without the part that the system keeps for each block.
  const int block_bytes = (per_sm / (target + 1) / kGranularity + 1) * kGranularity - *own;
  for (const int padding : {block_bytes - device_attribute(kReservedShared, kernel.device()), block_bytes}) {
    const int padded = std::min(padding, max_per_block - *own);
    if (padded <= static_cast<int>(shared_bytes)) continue;
    if (padded > *allowed && !kernel.set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, padded)) return unchanged;
    const int reached = kernel.occupancy(threads, static_cast<unsigned>(padded));
    if (reached > 0 && reached <= target) return {static_cast<unsigned>(padded), true};
  }
  return unchanged;
}

// The same for a handle of unknown kind. The occupancy calculator and launches take both kinds, calls that read or set
// attributes do not: the padding stays within what every kernel may have.
LimitedLaunch work_out_unknown(const KernelOnDevice& kernel, unsigned threads, unsigned shared_bytes,
                               BlockLimit limit) {
  const int fitting = kernel.occupancy(threads, shared_bytes);
  const int target = target_blocks(fitting, limit);
  if (fitting == 0 || target == fitting) return {shared_bytes, fitting != 0};
  const int per_block = device_attribute(kSharedPerBlock, kernel.device());
  for (int padded = static_cast<int>(shared_bytes) / kStep * kStep + kStep; padded <= per_block; padded += kStep) {
    const int reached = kernel.occupancy(threads, static_cast<unsigned>(padded));
    if (reached == 0) break;
    if (reached <= target) return {static_cast<unsigned>(padded), true};
  }
  return {shared_bytes, false};
}

LimitedLaunch for_grid(const LimitedLaunch& planned, const BlockLimits::Launch& launch) {
  return launch.blocks <= planned.small_grid ? LimitedLaunch{launch.shared_bytes, true, planned.small_grid} : planned;
}

}  // namespace

BlockLimits& BlockLimits::get() {
  static auto* limits = new BlockLimits;
  return *limits;
}

LimitedLaunch BlockLimits::plan(const Launch& launch, BlockLimit limit) {
  const auto [function, blocks, threads, shared_bytes] = launch;
  CUdevice device = 0;
  if (!KernelOnDevice::can_query() || real().cuCtxGetDevice(&device) != CUDA_SUCCESS) return {shared_bytes, false};
  const std::lock_guard lock(mutex_);
  forget_old_handles();
  if (refused_.contains(function)) return {shared_bytes, false};
  const Key key{function, threads, shared_bytes, limit.blocks_per_sm, limit.occupancy_percent, device};
  const auto at = plans_.find(key);
  if (at != plans_.end()) {
    if (at->second.is_limited) divide(function);  // again, if a launch has restored the division
    return for_grid(at->second, launch);
  }
  const auto kind = FunctionTable::get().kind(function);
  const KernelOnDevice kernel(function, kind.value_or(HandleKind::function), device);
  LimitedLaunch planned =
      kind ? work_out(kernel, threads, shared_bytes, limit) : work_out_unknown(kernel, threads, shared_bytes, limit);
  const int target = target_blocks(kernel.occupancy(threads, shared_bytes), limit);
  planned.small_grid = static_cast<std::uint64_t>(target) * static_cast<unsigned>(device_attribute(kSms, device));
  if (planned.is_limited) divide(function);
  plans_[key] = planned;
  return for_grid(planned, launch);
}

void BlockLimits::refused(CUfunction function) {
  const std::lock_guard lock(mutex_);
  refused_.insert(function);
}

void BlockLimits::divide_alike(CUfunction function) {
  const std::lock_guard lock(mutex_);
  forget_old_handles();
  divide(function);
}

void BlockLimits::divide(CUfunction function) {
  const auto [at, is_new] = divided_.try_emplace(function, false);
  if (!is_new) return;
  has_divided_.store(true, std::memory_order_relaxed);
  const auto kernel = KernelOnDevice::find(function);
  if (!kernel) return;
  const auto chosen = kernel->attribute(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  at->second = chosen && *chosen == kDriversChoice &&
               kernel->set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kAllShared);
}

void BlockLimits::restore(CUfunction function) {
  const std::lock_guard lock(mutex_);
  forget_old_handles();
  const auto at = divided_.find(function);
  if (at == divided_.end()) return;
  const auto kernel = KernelOnDevice::find(function);
  if (at->second && kernel) (void)kernel->set(CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, kDriversChoice);
  divided_.erase(at);
  has_divided_.store(!divided_.empty(), std::memory_order_relaxed);
}

void BlockLimits::forget_old_handles() {
  const unsigned generation = FunctionTable::get().generation();
  if (generation == generation_) return;
  generation_ = generation;
  plans_.clear();
  refused_.clear();
  divided_.clear();
  has_divided_.store(false, std::memory_order_relaxed);
}

}  // namespace wm::forward
