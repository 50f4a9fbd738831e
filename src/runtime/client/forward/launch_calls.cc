// The driver's functions that launch. Each reads one word of the daemon's page; while that is 0, the call is the
// driver's own.
#include <algorithm>

#include "runtime/client/forward/graph_kernels.h"
#include "runtime/client/forward/managed_work.h"
#include "runtime/client/forward/placed_streams.h"
#include "runtime/client/forward/real_driver.h"
#include "runtime/client/forward/rewritten_kernels.h"
#include "runtime/client/forward/worker_launch.h"

namespace wm::forward {
namespace {

// Attributes under which all blocks of a launch, or a cluster of them, must be on the device at once.
bool needs_blocks_together(const CUlaunchConfig& config) {
  constexpr unsigned kClusterScheduling = 5, kPreferredCluster = 11, kLastKnown = 16;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const CUlaunchAttribute& a = config.attrs[i];
    if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && a.value.cooperative == 0) continue;
    if (a.id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE || a.id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION ||
        a.id == kClusterScheduling || a.id == kPreferredCluster || a.id > kLastKnown)
      return true;
  }
  return false;
}

// Attributes with which a launch may begin before the one before it has ended, or is not only one: such a launch runs
// as the program asked, and not as workers.
bool may_be_workers(const CUlaunchConfig& config) {
  constexpr unsigned kOrdinary[] = {0, 1, 2, 3, 8, 9, 10, 14};  // by their numbers in the driver's interface
  return std::all_of(config.attrs, config.attrs + config.numAttrs, [&](const CUlaunchAttribute& a) {
    return std::find(std::begin(kOrdinary), std::end(kOrdinary), static_cast<unsigned>(a.id)) != std::end(kOrdinary);
  });
}

// In the following, `launch` makes the call that it is given.

// A launch under a limit of blocks. One that the driver refuses with more dynamic shared memory is made as the program
// asked. An error of earlier work is returned by the second attempt too.
template <typename Launch>
CUresult launch_limited(runtime::ControlPage& page, const KernelCall& asked, Launch&& launch) {
  KernelCall call = asked;
  call.shared_bytes =
      limited(page, {asked.function, asked.blocks(), asked.threads(), asked.shared_bytes}, asked.stream).shared_bytes;
  const CUresult result = launch(call);
  if (call.shared_bytes == asked.shared_bytes || result == CUDA_SUCCESS) return result;
  BlockLimits::get().refused(asked.function);
  return launch(asked);
}

// A launch on the SMs that the daemon gives this program. One that cannot be placed is limited to a part of every SM
// instead.
template <typename Launch>
CUresult launch_on_sms(runtime::ControlPage& page, const KernelCall& asked, Launch&& launch) {
  const GreenContexts::Set set = place(page, asked.stream);
  const auto in_stream = [&](CUstream placed) {
    BlockLimits::get().restore_division(asked.function);
    KernelCall call = asked;
    call.stream = placed;
    return launch(call);
  };
  const PlacedLaunch placed = launch_placed(asked.function, asked.stream, set, in_stream);
  count_placed(page, set, placed.state == PlacedLaunch::State::placed);
  if (placed.state == PlacedLaunch::State::placed) return placed.result;
  const CUresult unplaced = launch_limited(page, asked, launch);
  // A kernel that the driver takes in the program's stream only is not placed again.
  if (placed.state == PlacedLaunch::State::refused && unplaced == CUDA_SUCCESS)
    PlacedStreams::get().refused(asked.function);
  return unplaced;
}

// The division of an SM's memory that a launch under `modes` shall have.
void divide_memory(std::uint32_t modes, CUfunction function) {
  if ((modes & runtime::kDivideAlike) != 0) BlockLimits::get().divide_alike(function);
  if ((modes & runtime::kOwnDivision) != 0) BlockLimits::get().restore_division(function);
}

template <typename Launch>
CUresult launch_managed(runtime::ControlPage& page, std::uint32_t modes, const KernelCall& asked, Launch&& launch) {
  divide_memory(modes, asked.function);
  if ((modes & runtime::kPlace) != 0) return launch_on_sms(page, asked, launch);
  return (modes & runtime::kLimitBlocks) == 0 ? launch(asked) : launch_limited(page, asked, launch);
}

// A launch of the kernel's form with gates where it has one. A launch that the driver refuses with gates, as when a
// block needs too many registers, is made as the program asked.
template <typename Launch>
CUresult launch_gated(runtime::ControlPage& page, std::uint32_t modes, const KernelCall& asked, Launch&& launch) {
  const auto as = [&](CUfunction form) {
    KernelCall call = asked;
    call.function = form;
    return launch_managed(page, modes, call, launch);
  };
  RewrittenKernels& kernels = RewrittenKernels::get();
  const RewrittenKernels::Choice choice = kernels.choose(page, asked.function, asked.stream, asked.shared_bytes);
  const CUresult result = as(choice.kernel);
  if (choice.is_first && result == CUDA_SUCCESS) kernels.launched(asked.function);
  if (choice.kernel == asked.function || result == CUDA_SUCCESS) return result;
  const CUresult unchanged = as(asked.function);
  if (unchanged == CUDA_SUCCESS) kernels.refused(asked.function);
  return unchanged;
}

// The mode of a launch that cannot be workers: a limit of blocks, if the program does not have all SMs.
std::uint32_t limit_in_place_of_sms(const runtime::ControlPage& page) {
  return page.words.occupancy_percent.load(std::memory_order_relaxed) != 0 ? std::uint32_t{runtime::kLimitBlocks} : 0U;
}

// A launch as workers on the SMs of this program. A kernel that cannot be workers, or not yet, is limited to a part of
// every SM instead.
template <typename Launch>
CUresult launch_workers(runtime::ControlPage& page, std::uint32_t modes, const KernelCall& asked, Launch&& launch) {
  RewrittenKernels& kernels = RewrittenKernels::get();
  const RewrittenKernels::Choice choice = kernels.choose(page, asked.function, asked.stream, asked.shared_bytes);
  auto workers = choice.workers == nullptr
                     ? std::nullopt
                     : WorkerLaunch::plan(asked, choice, page.words.own_sms.load(std::memory_order_relaxed));
  if (workers) {
    BlockLimits::get().restore_division(choice.kernel);
    if (launch(workers->call()) == CUDA_SUCCESS) {
      page.workers.added_launches.fetch_add(workers->launched(), std::memory_order_relaxed);
      count_placed(page, {}, true);
      return CUDA_SUCCESS;
    }
    workers->refused();
  }
  count_placed(page, {}, false);
  const CUresult result = launch_managed(page, modes | limit_in_place_of_sms(page), asked, launch);
  if (choice.is_first && result == CUDA_SUCCESS) kernels.launched(asked.function);
  if (workers && result == CUDA_SUCCESS) kernels.refused(asked.function);
  return result;
}

template <typename Launch>
CUresult launch_form(runtime::ControlPage& page, std::uint32_t modes, const KernelCall& asked, Launch&& launch) {
  if ((modes & runtime::kWorkers) != 0) return launch_workers(page, modes, asked, launch);
  if ((modes & runtime::kGate) != 0) return launch_gated(page, modes, asked, launch);
  return launch_managed(page, modes, asked, launch);
}

// The stream that a call names, for calls whose default stream is the legacy one.
enum class DefaultStream { legacy, of_thread };
CUstream named(CUstream stream, DefaultStream by_default) {
  return stream == nullptr && by_default == DefaultStream::of_thread ? CU_STREAM_PER_THREAD : stream;
}

template <typename Call>
CUresult launch_kernel(Call call, DefaultStream by_default, const KernelCall& asked) {
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const auto launch = [call](const KernelCall& c) {
    return call(c.function, c.grid_x, c.grid_y, c.grid_z, c.block_x, c.block_y, c.block_z, c.shared_bytes, c.stream,
                c.parameters, c.extra);
  };
  runtime::ControlPage& page = forward::page();
  page.counters.launches.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t modes = page.words.modes.load(std::memory_order_relaxed);
  if (modes == 0) [[likely]]
    return launch(asked);
  before_launch(page, modes, asked.threads() * asked.blocks());
  KernelCall named_call = asked;
  named_call.stream = named(asked.stream, by_default);
  return launch_form(page, modes, named_call, launch);
}

template <typename Call>
CUresult launch_with_attributes(Call call, DefaultStream by_default, const CUlaunchConfig* config, CUfunction function,
                                void** parameters, void** extra) {
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  runtime::ControlPage& page = forward::page();
  page.counters.launches.fetch_add(1, std::memory_order_relaxed);
  std::uint32_t modes = page.words.modes.load(std::memory_order_relaxed);
  if (modes == 0 || config == nullptr) [[likely]]
    return call(config, function, parameters, extra);
  const KernelCall asked{function,
                         config->gridDimX,
                         config->gridDimY,
                         config->gridDimZ,
                         config->blockDimX,
                         config->blockDimY,
                         config->blockDimZ,
                         config->sharedMemBytes,
                         named(config->hStream, by_default),
                         parameters,
                         extra};
  before_launch(page, modes, asked.threads() * asked.blocks());
  if (needs_blocks_together(*config)) {
    divide_memory(modes, function);
    if ((modes & (runtime::kPlace | runtime::kWorkers)) != 0) count_placed(page, {}, false);
    return call(config, function, parameters, extra);
  }
  CUlaunchConfig changed = *config;
  const auto launch = [&](const KernelCall& c) {
    changed.gridDimX = c.grid_x;
    changed.gridDimY = c.grid_y;
    changed.gridDimZ = c.grid_z;
    changed.sharedMemBytes = c.shared_bytes;
    changed.hStream = c.stream;
    return call(&changed, c.function, c.parameters, c.extra);
  };
  if ((modes & runtime::kWorkers) != 0 && !may_be_workers(*config)) {
    count_placed(page, {}, false);
    modes = (modes & ~std::uint32_t{runtime::kWorkers}) | limit_in_place_of_sms(page);
  }
  return launch_form(page, modes, asked, launch);
}

template <typename Call>
CUresult launch_graph(Call call, CUgraphExec executable, CUstream stream) {
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  runtime::ControlPage& page = forward::page();
  const std::uint64_t launches = GraphKernels::get().launches(executable);
  page.counters.graph_launches.fetch_add(1, std::memory_order_relaxed);
  page.counters.launches.fetch_add(launches, std::memory_order_relaxed);
  const std::uint32_t modes = page.words.modes.load(std::memory_order_relaxed);
  if (modes != 0) before_launch(page, modes, kUnknownThreads, launches);
  return call(executable, stream);
}

}  // namespace
}  // namespace wm::forward

using wm::forward::DefaultStream;
using wm::forward::real;

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void** extra) {
  return wm::forward::launch_kernel(
      real().cuLaunchKernel, DefaultStream::legacy,
      {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra});
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                             void** parameters, void** extra) {
  return wm::forward::launch_kernel(
      real().cuLaunchKernel_ptsz, DefaultStream::of_thread,
      {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra});
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  return wm::forward::launch_with_attributes(real().cuLaunchKernelEx, DefaultStream::legacy, config, function,
                                             parameters, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  return wm::forward::launch_with_attributes(real().cuLaunchKernelEx_ptsz, DefaultStream::of_thread, config, function,
                                             parameters, extra);
}

CUresult cuGraphLaunch(CUgraphExec executable, CUstream stream) {
  return wm::forward::launch_graph(real().cuGraphLaunch, executable, stream);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec executable, CUstream stream) {
  return wm::forward::launch_graph(real().cuGraphLaunch_ptsz, executable, stream);
}
