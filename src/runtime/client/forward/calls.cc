// The driver's functions that launch, create streams and synchronize. Each reads one word of the daemon's page; while
// that is 0, the call is the driver's own.
#include <algorithm>

#include "runtime/client/forward/arbitration.h"
#include "runtime/client/forward/gated_kernels.h"
#include "runtime/client/forward/graph_kernels.h"
#include "runtime/client/forward/managed_work.h"
#include "runtime/client/forward/placed_streams.h"
#include "runtime/client/forward/real_driver.h"

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

// The arguments of a launch that arbitration changes.
using BlockLaunch = BlockLimits::Launch;

// A launch under a limit of blocks. `launch` takes the dynamic shared memory; a launch that the driver refuses with
// more of it is made as the program asked. An error of earlier work is returned by the second attempt too.
template <typename Launch>
CUresult launch_limited(runtime::ControlPage& page, const BlockLaunch& asked, CUstream stream, Launch&& launch) {
  const LimitedLaunch planned = limited(page, asked, stream);
  const CUresult result = launch(planned.shared_bytes);
  if (planned.shared_bytes == asked.shared_bytes || result == CUDA_SUCCESS) return result;
  BlockLimits::get().refused(asked.function);
  return launch(asked.shared_bytes);
}

// A launch on the SMs that the daemon gives this program. `launch` takes the dynamic shared memory and the stream. One
// that cannot be placed is limited to a part of every SM instead.
template <typename Launch>
CUresult launch_on_sms(runtime::ControlPage& page, const BlockLaunch& asked, CUstream stream, Launch&& launch) {
  const GreenContexts::Set set = place(page, stream);
  const auto in_stream = [&](CUstream placed) {
    BlockLimits::get().restore_division(asked.function);
    return launch(asked.shared_bytes, placed);
  };
  const PlacedLaunch placed = launch_placed(asked.function, stream, set, in_stream);
  count_placed(page, set, placed.state == PlacedLaunch::State::placed);
  if (placed.state == PlacedLaunch::State::placed) return placed.result;
  const CUresult unplaced = launch_limited(page, asked, stream, [&](unsigned bytes) { return launch(bytes, stream); });
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

// A launch under `modes`. `launch` takes the dynamic shared memory and the stream.
template <typename Launch>
CUresult launch_managed(runtime::ControlPage& page, std::uint32_t modes, const BlockLaunch& asked, CUstream stream,
                        Launch&& launch) {
  divide_memory(modes, asked.function);
  if ((modes & runtime::kPlace) != 0) return launch_on_sms(page, asked, stream, launch);
  const auto in_own_stream = [&](unsigned bytes) { return launch(bytes, stream); };
  if ((modes & runtime::kLimitBlocks) == 0) return in_own_stream(asked.shared_bytes);
  return launch_limited(page, asked, stream, in_own_stream);
}

// A launch under `modes`, of the kernel's form with gates where it has one. `launch` takes the kernel too. A launch
// that the driver refuses with gates, as when a block needs too many registers, is made as the program asked.
template <typename Launch>
CUresult launch_form(runtime::ControlPage& page, std::uint32_t modes, const BlockLaunch& asked, CUstream stream,
                     Launch&& launch) {
  const auto as = [&](CUfunction form) {
    return launch_managed(page, modes, {form, asked.blocks, asked.threads, asked.shared_bytes}, stream,
                          [&](unsigned bytes, CUstream in) { return launch(form, bytes, in); });
  };
  const CUfunction function = asked.function;
  if ((modes & runtime::kGate) == 0) return as(function);
  GatedKernels& kernels = GatedKernels::get();
  const GatedKernels::Choice choice = kernels.choose(page, function, stream, asked.shared_bytes);
  const CUresult result = as(choice.kernel);
  if (choice.is_first && result == CUDA_SUCCESS) kernels.launched(function);
  if (choice.kernel == function || result == CUDA_SUCCESS) return result;
  const CUresult unchanged = as(function);
  if (unchanged == CUDA_SUCCESS) kernels.refused(function);
  return unchanged;
}

// The stream that a call names, for calls whose default stream is the legacy one.
enum class DefaultStream { legacy, of_thread };
CUstream named(CUstream stream, DefaultStream by_default) {
  return stream == nullptr && by_default == DefaultStream::of_thread ? CU_STREAM_PER_THREAD : stream;
}

template <typename Call>
CUresult launch_kernel(Call call, DefaultStream by_default, CUfunction function, unsigned grid_x, unsigned grid_y,
                       unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       CUstream stream, void** parameters, void** extra) {
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  runtime::ControlPage& page = forward::page();
  page.counters.launches.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t modes = page.words.modes.load(std::memory_order_relaxed);
  if (modes == 0) [[likely]]
    return call(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra);
  const unsigned threads = block_x * block_y * block_z;
  const std::uint64_t blocks = std::uint64_t{grid_x} * grid_y * grid_z;
  before_launch(page, modes, threads * blocks);
  return launch_form(page, modes, {function, blocks, threads, shared_bytes}, named(stream, by_default),
                     [&](CUfunction form, unsigned bytes, CUstream in) {
                       return call(form, grid_x, grid_y, grid_z, block_x, block_y, block_z, bytes, in, parameters,
                                   extra);
                     });
}

template <typename Call>
CUresult launch_with_attributes(Call call, DefaultStream by_default, const CUlaunchConfig* config, CUfunction function,
                                void** parameters, void** extra) {
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  runtime::ControlPage& page = forward::page();
  page.counters.launches.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t modes = page.words.modes.load(std::memory_order_relaxed);
  if (modes == 0 || config == nullptr) [[likely]]
    return call(config, function, parameters, extra);
  const unsigned threads = config->blockDimX * config->blockDimY * config->blockDimZ;
  const std::uint64_t blocks = std::uint64_t{config->gridDimX} * config->gridDimY * config->gridDimZ;
  before_launch(page, modes, threads * blocks);
  if (needs_blocks_together(*config)) {
    divide_memory(modes, function);
    if ((modes & runtime::kPlace) != 0) count_placed(page, {}, false);
    return call(config, function, parameters, extra);
  }
  CUlaunchConfig changed = *config;
  return launch_form(page, modes, {function, blocks, threads, config->sharedMemBytes},
                     named(config->hStream, by_default), [&](CUfunction form, unsigned bytes, CUstream in) {
                       changed.sharedMemBytes = bytes;
                       changed.hStream = in;
                       return call(&changed, form, parameters, extra);
                     });
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

template <typename Call, typename... Arguments>
CUresult synchronize(Call call, Arguments... arguments) {
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(arguments...);
  runtime::ControlPage& page = forward::page();
  constexpr std::uint32_t kNeedsEnd = runtime::kTellOthers | runtime::kMeasure;
  if (result != CUDA_SUCCESS) [[unlikely]]
    note_failure(page, result);
  if (result == CUDA_SUCCESS && (page.words.modes.load(std::memory_order_relaxed) & kNeedsEnd) != 0)
    after_synchronization(page);
  return result;
}

// The priority that the daemon wants for new streams, else the program's own.
int stream_priority(int own) {
  const auto wanted =
      static_cast<runtime::StreamPriority>(page().words.stream_priority.load(std::memory_order_relaxed));
  int least = 0, greatest = 0;
  const auto range = real().cuCtxGetStreamPriorityRange;
  if (wanted == runtime::StreamPriority::own || range == nullptr || range(&least, &greatest) != CUDA_SUCCESS)
    return own;
  // Greater priorities are smaller numbers.
  return wanted == runtime::StreamPriority::highest ? greatest : std::min(std::max(own, greatest + 1), least);
}

}  // namespace
}  // namespace wm::forward

using wm::forward::DefaultStream;
using wm::forward::real;

// Behind include/warpmux.h: 1 if a daemon arbitrates this process.
extern "C" __attribute__((visibility("default"))) int warpmux_set_priority(int priority) {
  if (priority < 0 || priority > 100 || !wm::forward::is_managed()) return 0;
  wm::forward::ask_for_priority(priority);
  return 1;
}

// Microseconds for a p99.
extern "C" __attribute__((visibility("default"))) int warpmux_set_program_goal(int kind, double value) {
  constexpr int kP99 = static_cast<int>(wm::runtime::ProgramGoal::Kind::p99_nanoseconds);
  if (!wm::forward::is_managed()) return 0;
  return wm::forward::ask_for_goal(kind, kind == kP99 ? value * 1000 : value) ? 1 : 0;
}

CUresult cuInit(unsigned flags) {
  const auto call = real().cuInit;
  if (call == nullptr) return CUDA_ERROR_NO_DEVICE;
  wm::forward::connect_to_arbiter();
  if (wm::forward::is_denied()) return CUDA_ERROR_NOT_PERMITTED;
  return call(flags);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void** extra) {
  return wm::forward::launch_kernel(real().cuLaunchKernel, DefaultStream::legacy, function, grid_x, grid_y, grid_z,
                                    block_x, block_y, block_z, shared_bytes, stream, parameters, extra);
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                             unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                             void** parameters, void** extra) {
  return wm::forward::launch_kernel(real().cuLaunchKernel_ptsz, DefaultStream::of_thread, function, grid_x, grid_y,
                                    grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra);
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

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  const auto& driver = real();
  if (driver.cuStreamCreate == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const int priority = wm::forward::stream_priority(0);
  if (priority == 0 || driver.cuStreamCreateWithPriority == nullptr) return driver.cuStreamCreate(stream, flags);
  return driver.cuStreamCreateWithPriority(stream, flags, priority);
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  const auto call = real().cuStreamCreateWithPriority;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  return call(stream, flags, wm::forward::stream_priority(priority));
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  const auto call = real().cuStreamDestroy_v2;
  if (call == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  const CUresult result = call(stream);
  if (result == CUDA_SUCCESS) wm::forward::PlacedStreams::get().destroyed(stream);
  return result;
}

CUresult cuStreamSynchronize(CUstream stream) { return wm::forward::synchronize(real().cuStreamSynchronize, stream); }

CUresult cuStreamSynchronize_ptsz(CUstream stream) {
  return wm::forward::synchronize(real().cuStreamSynchronize_ptsz, stream);
}

// A stream without work that is left is as good as one that was waited for.
CUresult cuStreamQuery(CUstream stream) { return wm::forward::synchronize(real().cuStreamQuery, stream); }

CUresult cuStreamQuery_ptsz(CUstream stream) { return wm::forward::synchronize(real().cuStreamQuery_ptsz, stream); }

// Programs without streams wait for their results with the copy of these.
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return wm::forward::synchronize(real().cuMemcpyDtoH_v2, to, from, bytes);
}

CUresult cuMemcpyDtoH_v2_ptds(void* to, CUdeviceptr from, std::size_t bytes) {
  return wm::forward::synchronize(real().cuMemcpyDtoH_v2_ptds, to, from, bytes);
}

CUresult cuEventSynchronize(CUevent event) { return wm::forward::synchronize(real().cuEventSynchronize, event); }

CUresult cuCtxSynchronize() { return wm::forward::synchronize(real().cuCtxSynchronize); }

CUresult cuCtxSynchronize_v2(CUcontext context) {
  return wm::forward::synchronize(real().cuCtxSynchronize_v2, context);
}
