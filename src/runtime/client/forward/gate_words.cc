#include "runtime/client/forward/gate_words.h"

#include <cstdlib>

#include "runtime/client/forward/real_driver.h"

namespace wm::forward {

namespace {

// A thread that was held for long tests the word at this distance, which stays 0 (rewrite/ptx/gates.h).
constexpr CUdeviceptr kOpenGateOffset = 256;
constexpr std::size_t kBytes = 512;
constexpr unsigned kNonBlocking = 1;

// Neither way runs a kernel, which would have to wait for room on an SM.
CUresult write_word(CUstream stream, CUdeviceptr address, std::uint32_t value) {
  static constexpr std::uint32_t kValues[] = {0, 1};
  const RealFunctions& f = real();
  const auto call = f.cuStreamWriteValue32_v2 != nullptr ? f.cuStreamWriteValue32_v2 : f.cuStreamWriteValue32;
  const CUresult result = call == nullptr ? CUDA_ERROR_NOT_SUPPORTED : call(stream, address, value, 0);
  if (result != CUDA_ERROR_NOT_SUPPORTED || f.cuMemcpyHtoDAsync_v2 == nullptr) return result;
  return f.cuMemcpyHtoDAsync_v2(address, &kValues[value], sizeof kValues[value], stream);
}

}  // namespace

GateWords*& GateWords::instance() {
  static auto* only = new GateWords;
  return only;
}

// Another thread may hold the mutex in the process that was forked, so that the object is not used again.
void GateWords::forget_after_fork() { instance() = new GateWords; }

std::optional<CUdeviceptr> GateWords::of_current() {
  const RealFunctions& f = real();
  CUcontext context = nullptr;
  if (f.cuCtxGetCurrent == nullptr || f.cuCtxGetCurrent(&context) != CUDA_SUCCESS || context == nullptr) return {};
  const std::lock_guard lock(mutex_);
  if (const auto at = gates_.find(context); at != gates_.end()) return at->second.word;
  if (f.cuCtxGetStreamPriorityRange == nullptr || f.cuStreamCreateWithPriority == nullptr ||
      f.cuStreamSynchronize == nullptr || f.cuMemAlloc_v2 == nullptr)
    return {};
  Gate gate;
  int least = 0, greatest = 0;
  if (f.cuCtxGetStreamPriorityRange(&least, &greatest) != CUDA_SUCCESS ||
      f.cuStreamCreateWithPriority(&gate.stream, kNonBlocking, greatest) != CUDA_SUCCESS)
    return {};
  const bool is_made = f.cuMemAlloc_v2(&gate.word, kBytes) == CUDA_SUCCESS &&
                       write_word(gate.stream, gate.word, 0) == CUDA_SUCCESS &&
                       write_word(gate.stream, gate.word + kOpenGateOffset, 0) == CUDA_SUCCESS &&
                       f.cuStreamSynchronize(gate.stream) == CUDA_SUCCESS;
  if (!is_made) {
    if (gate.word != 0) (void)f.cuMemFree_v2(gate.word);
    (void)f.cuStreamDestroy_v2(gate.stream);
    return {};
  }
  gates_.emplace(context, gate);
  // The driver ends after this, since it has begun before.
  static const int at_exit = std::atexit([] { get().open_and_lock().forget_all(); });
  (void)at_exit;
  return gate.word;
}

bool GateWords::empty() const {
  const std::lock_guard lock(mutex_);
  return gates_.empty();
}

void GateWords::write(bool closed) {
  const std::lock_guard lock(mutex_);
  write_locked(closed);
}

void GateWords::write_locked(bool closed) {
  const RealFunctions& f = real();
  if (is_closed_ == closed || f.cuCtxSetCurrent == nullptr || f.cuCtxGetCurrent == nullptr) return;
  is_closed_ = closed;
  CUcontext current = nullptr;
  (void)f.cuCtxGetCurrent(&current);
  // A context whose kernels have failed takes no more writes, and its kernels do not run any more.
  std::erase_if(gates_, [&](const auto& entry) {
    const auto& [context, gate] = entry;
    if (context != current && f.cuCtxSetCurrent(context) != CUDA_SUCCESS) return true;
    current = context;
    return write_word(gate.stream, gate.word, closed ? 1 : 0) != CUDA_SUCCESS;
  });
}

void GateWords::open_all() {
  const RealFunctions& f = real();
  CUcontext before = nullptr;
  if (!is_closed_ || f.cuCtxGetCurrent == nullptr || f.cuCtxGetCurrent(&before) != CUDA_SUCCESS) return;
  write_locked(false);
  (void)f.cuCtxSetCurrent(before);
}

}  // namespace wm::forward
