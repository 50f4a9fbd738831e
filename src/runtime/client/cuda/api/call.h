// The checks that every API function begins with: the driver exists, the thread has a context, the context has not
// failed.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/client/cuda/interface/functions.h"
#include "runtime/client/cuda/state/capture.h"
#include "runtime/client/cuda/state/driver.h"

namespace wm::cuda {

// The calling thread's contexts, the current one last.
std::vector<CUcontext>& context_stack();

// The current context, or empty.
std::shared_ptr<Context> current_context();

// Whether the calling thread runs a function of the application between the work of a stream. Such a function may not
// call the driver: a call that waits for the device would wait for itself.
bool& is_in_host_function();

// Runs a function of the application between the work of a stream.
template <typename Function>
void run_host_function(Function&& function) {
  is_in_host_function() = true;
  std::forward<Function>(function)();
  is_in_host_function() = false;
}

template <typename Body>
CUresult with_driver(Body&& body) {
  Driver* driver = Driver::get();
  if (driver == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (is_in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  return std::forward<Body>(body)(*driver);
}

template <typename Body>
CUresult with_context(Body&& body) {
  if (Driver::get() == nullptr) return CUDA_ERROR_NOT_INITIALIZED;
  if (is_in_host_function()) return CUDA_ERROR_NOT_PERMITTED;
  const auto context = current_context();
  if (context == nullptr) return context_stack().empty() ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (context->error() != CUDA_SUCCESS) return context->error();
  return std::forward<Body>(body)(*context);
}

// The same with the stream that a handle names. The stream's own context is the one of the call.
template <typename Body>
CUresult with_stream(CUstream handle, Body&& body) {
  return with_context([&](Context& current) {
    const auto stream = current.stream(handle);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const auto context = stream->context.shared_from_this();
    if (context->error() != CUDA_SUCCESS) return context->error();
    return std::forward<Body>(body)(*context, *stream);
  });
}

// The same for a call that adds work to the stream, which captures may forbid.
template <typename Body>
CUresult with_work_stream(CUstream handle, Body&& body) {
  return with_stream(handle, [&](Context& context, Stream& stream) {
    const CUresult allowed = Captures::instance().check_work(stream);
    return allowed != CUDA_SUCCESS ? allowed : std::forward<Body>(body)(context, stream);
  });
}

// A call in the current context that a capture does not see, as an allocation.
template <typename Body>
CUresult with_unsafe_context(Body&& body) {
  return with_context([&](Context& context) {
    const CUresult allowed = Captures::instance().check_unsafe_call();
    return allowed != CUDA_SUCCESS ? allowed : std::forward<Body>(body)(context);
  });
}

// Prints why a call failed, once per text; the application only sees a number.
void explain(const std::string& text);

}  // namespace wm::cuda
