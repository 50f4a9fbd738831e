// The driver's functions that begin, create streams and synchronize. A synchronization reads one word of the daemon's
// page; while that is 0, the call is the driver's own.
#include <algorithm>

#include "runtime/client/forward/arbitration.h"
#include "runtime/client/forward/managed_work.h"
#include "runtime/client/forward/placed_streams.h"
#include "runtime/client/forward/real_driver.h"

namespace wm::forward {
namespace {

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
