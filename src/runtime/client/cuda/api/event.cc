// Events.
#include "runtime/client/cuda/api/node_operations.h"

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

// Whether the application may wait for an event: not for one of a capture, which it would break.
CUresult check_wait(const Event::State& state) {
  if (state.capture == nullptr) return Captures::instance().check_unsafe_call();
  Captures::instance().invalidate(*state.capture);
  return CUDA_ERROR_CAPTURED_EVENT;
}

// Adds a node for an event to the capture of a stream.
CUresult enqueue_event(Context& context, Stream& stream, CUevent event, NodeType type) {
  Operation operation;
  if (const CUresult made = event_node(context, event, type, operation); made != CUDA_SUCCESS) return made;
  context.enqueue(stream, std::move(operation));
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace wm::cuda

using wm::cuda::Captures;
using wm::cuda::Context;
using wm::cuda::Driver;
using wm::cuda::driver_of;
using wm::cuda::Event;
using wm::cuda::EventRecord;
using wm::cuda::NodeType;
using wm::cuda::Stream;
using wm::cuda::with_context;
using wm::cuda::with_driver;
using wm::cuda::with_event;
using wm::cuda::with_work_stream;

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

CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
  return with_event(handle, [&](Driver& driver, Event& event) {
    return with_work_stream(stream_handle, [&](Context& context, Stream& stream) {
      if (flags > CU_EVENT_RECORD_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
      auto at = Captures::instance().position(stream);
      if (at.capture != nullptr && flags == CU_EVENT_RECORD_EXTERNAL)
        return wm::cuda::enqueue_event(context, stream, handle, NodeType::record_event);
      if (at.capture != nullptr) {
        event.set({.recorded = true, .capture = std::move(at.capture), .nodes = std::move(at.last)});
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

CUresult cuEventRecord(CUevent event, CUstream stream) { return cuEventRecordWithFlags(event, stream, 0); }

CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags) {
  return with_event(handle, [&](Driver&, Event& event) {
    return with_work_stream(stream_handle, [&](Context& context, Stream& stream) {
      if (flags > CU_EVENT_WAIT_EXTERNAL) return CUDA_ERROR_INVALID_VALUE;
      const bool is_capturing = Context::is_capturing(stream);
      if (is_capturing && flags == CU_EVENT_WAIT_EXTERNAL)
        return wm::cuda::enqueue_event(context, stream, handle, NodeType::wait_event);
      const auto state = event.state();
      if (state.capture != nullptr) return Captures::instance().join(stream, {state.capture, state.nodes});
      if (is_capturing) {
        Captures::instance().invalidate(stream);
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
      }
      if (state.recorded) context.add_dependency(stream, state.ticket);
      return CUDA_SUCCESS;
    });
  });
}

CUresult cuEventQuery(CUevent handle) {
  return with_event(handle, [](Driver& driver, Event& event) {
    const auto state = event.state();
    if (const CUresult allowed = wm::cuda::check_wait(state); allowed != CUDA_SUCCESS) return allowed;
    // After a fault every call returns its error, whether the event's stream has already dropped its work or not.
    if (wm::cuda::error_of(driver, event) != CUDA_SUCCESS || !state.recorded || driver.queue().is_done(state.ticket))
      return wm::cuda::error_of(driver, event);
    driver.asked_in_vain();
    return CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return with_event(handle, [](Driver& driver, Event& event) {
    const auto state = event.state();
    if (const CUresult allowed = wm::cuda::check_wait(state); allowed != CUDA_SUCCESS) return allowed;
    driver.queue().wait(state.ticket);
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
