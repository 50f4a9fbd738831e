// Events.
#include "runtime/client/cuda/api/call.h"

namespace wm::cuda {
namespace {

template <typename Body>
CUresult with_event(CUevent handle, Body&& body) {
  return with_driver([&](Driver& driver) {
    const auto event = driver.events.find(handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return std::forward<Body>(body)(driver, *event);
  });
}

// The error of the context that an event belongs to.
CUresult error_of(Driver& driver, const Event& event) {
  const auto context = driver.contexts.find(const_cast<Context*>(event.context));
  return context == nullptr ? CUDA_ERROR_CONTEXT_IS_DESTROYED : context->error();
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Context;
using wm::cuda::Driver;
using wm::cuda::driver_of;
using wm::cuda::Event;
using wm::cuda::EventRecord;
using wm::cuda::GraphNode;
using wm::cuda::Stream;
using wm::cuda::with_context;
using wm::cuda::with_driver;
using wm::cuda::with_event;
using wm::cuda::with_stream;

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return with_context([&](Context& context) {
    if (event == nullptr || flags > 7) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & CU_EVENT_INTERPROCESS) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    *event = driver_of(context).events.add(std::make_shared<Event>(&context, flags));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent handle) {
  return with_driver([&](Driver& driver) {
    return driver.events.remove(handle) == nullptr ? CUDA_ERROR_INVALID_HANDLE : CUDA_SUCCESS;
  });
}

CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  return with_event(handle, [&](Driver& driver, Event& event) {
    return with_stream(stream_handle, [&](Context& context, Stream& stream) {
      std::vector<GraphNode*> nodes;
      if (auto capture = context.capture_of(stream, nodes)) {
        event.set({.recorded = true, .capture = std::move(capture), .nodes = std::move(nodes)});
        return CUDA_SUCCESS;
      }
      auto record = std::make_shared<EventRecord>();
      auto ticket = context.enqueue(stream, {wm::runtime::WorkKind::transfer,
                                             [&driver, record] {
                                               record->nanoseconds = driver.now();
                                               return CUDA_SUCCESS;
                                             },
                                             {}});
      event.set({.recorded = true, .ticket = std::move(ticket), .record = std::move(record)});
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) { return cuEventRecord(event, stream); }

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned) {
  return with_event(handle, [&](Driver&, Event& event) {
    return with_stream(stream_handle, [&](Context& context, Stream& stream) {
      const auto state = event.state();
      if (state.capture != nullptr) return context.join_capture(stream, state.capture, state.nodes);
      if (!state.recorded) return CUDA_SUCCESS;
      if (context.is_capturing(stream)) return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
      context.add_dependency(stream, state.ticket);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuEventQuery(CUevent handle) {
  return with_event(handle, [](Driver& driver, Event& event) {
    const auto state = event.state();
    if (state.capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
    // After a fault every call returns its error, whether the event's stream has already dropped its work or not.
    if (wm::cuda::error_of(driver, event) != CUDA_SUCCESS || !state.recorded || driver.queue().is_done(state.ticket))
      return wm::cuda::error_of(driver, event);
    driver.asked_in_vain();
    return CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return with_event(handle, [](Driver& driver, Event& event) {
    if (event.state().capture != nullptr) return CUDA_ERROR_CAPTURED_EVENT;
    driver.queue().wait(event.state().ticket);
    driver.flush_output();
    return wm::cuda::error_of(driver, event);
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return with_event(start, [&](Driver& driver, Event& first) {
    return with_event(end, [&](Driver&, Event& second) {
      if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
      if (((first.flags | second.flags) & CU_EVENT_DISABLE_TIMING) != 0) return CUDA_ERROR_INVALID_HANDLE;
      const auto a = first.state(), b = second.state();
      if (!a.recorded || !b.recorded || a.record == nullptr || b.record == nullptr) return CUDA_ERROR_INVALID_HANDLE;
      if (!driver.queue().is_done(a.ticket) || !driver.queue().is_done(b.ticket)) return CUDA_ERROR_NOT_READY;
      *milliseconds = static_cast<float>(b.record->nanoseconds - a.record->nanoseconds) * 1e-6F;
      return CUDA_SUCCESS;
    });
  });
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime(milliseconds, start, end);
}
