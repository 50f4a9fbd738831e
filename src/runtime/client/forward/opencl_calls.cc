// The functions of OpenCL that launch and wait, as programs find them where this library is preloaded (isolated
// processes). NVIDIA's OpenCL allocates channel groups as its CUDA driver does, so time slices work alike; these
// functions tell the daemon when the program is active and how long its requests take. They call the program's own
// OpenCL library and change nothing.
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>

#include "runtime/client/forward/arbitration.h"
#include "runtime/client/forward/daemon_page.h"
#include "runtime/client/forward/managed_work.h"

// Handles of OpenCL are pointers, and its numbers have these sizes on every system that NVIDIA supports.
using Handle = void*;
using Size = std::size_t;
using Count = std::uint32_t;

namespace wm::forward {
namespace {

constexpr std::int32_t kInvalidOperation = -59, kSuccess = 0;

// The function of this name in the program's OpenCL library: after this one in the program's own order, or in a library
// that it has loaded itself.
void* next_function(const char* name) {
  if (void* next = ::dlsym(RTLD_NEXT, name)) return next;
  void* library = ::dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return library == nullptr ? nullptr : ::dlsym(library, name);
}

template <typename Function>
Function next(Function, const char* name) {
  return reinterpret_cast<Function>(next_function(name));
}

template <typename Call>
std::int32_t launch(std::uint64_t threads, Call&& call) {
  connect_to_arbiter();
  runtime::ControlPage& page = forward::page();
  const std::uint32_t modes = page.words.modes.load(std::memory_order_relaxed);
  if (modes != 0) before_launch(page, modes, threads);
  const std::int32_t result = call();
  if (result == kSuccess) page.counters.launches.fetch_add(1, std::memory_order_relaxed);
  return result;
}

template <typename Call>
std::int32_t wait(Call&& call) {
  const std::int32_t result = call();
  runtime::ControlPage& page = forward::page();
  constexpr std::uint32_t kNeedsEnd = runtime::kTellOthers | runtime::kMeasure;
  if (result == kSuccess && (page.words.modes.load(std::memory_order_relaxed) & kNeedsEnd) != 0)
    after_synchronization(page);
  return result;
}

}  // namespace
}  // namespace wm::forward

#define WM_OPENCL extern "C" __attribute__((visibility("default"))) std::int32_t
#define WM_NEXT(name)                                         \
  static const auto next = wm::forward::next(&::name, #name); \
  if (next == nullptr) return wm::forward::kInvalidOperation

// The names are those of OpenCL. NOLINTBEGIN(readability-identifier-naming)
WM_OPENCL clEnqueueNDRangeKernel(Handle queue, Handle kernel, Count dimensions, const Size* offset, const Size* global,
                                 const Size* local, Count waited, const Handle* waits, Handle* event) {
  WM_NEXT(clEnqueueNDRangeKernel);
  std::uint64_t threads = 1;
  for (Count i = 0; global != nullptr && i < dimensions && i < 3; ++i) threads *= global[i];
  return wm::forward::launch(
      threads, [&] { return next(queue, kernel, dimensions, offset, global, local, waited, waits, event); });
}

WM_OPENCL clEnqueueTask(Handle queue, Handle kernel, Count waited, const Handle* waits, Handle* event) {
  WM_NEXT(clEnqueueTask);
  return wm::forward::launch(1, [&] { return next(queue, kernel, waited, waits, event); });
}

WM_OPENCL clFinish(Handle queue) {
  WM_NEXT(clFinish);
  return wm::forward::wait([&] { return next(queue); });
}

WM_OPENCL clWaitForEvents(Count count, const Handle* events) {
  WM_NEXT(clWaitForEvents);
  return wm::forward::wait([&] { return next(count, events); });
}

WM_OPENCL clEnqueueReadBuffer(Handle queue, Handle buffer, Count blocks, Size offset, Size bytes, void* to,
                              Count waited, const Handle* waits, Handle* event) {
  WM_NEXT(clEnqueueReadBuffer);
  const auto call = [&] { return next(queue, buffer, blocks, offset, bytes, to, waited, waits, event); };
  return blocks != 0 ? wm::forward::wait(call) : call();
}
// NOLINTEND(readability-identifier-naming)
