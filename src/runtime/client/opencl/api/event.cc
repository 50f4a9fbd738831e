// Events: waiting, queries, callbacks and user events.
#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"
#include "runtime/client/opencl/transfers/command.h"

_cl_event::~_cl_event() {
  if (id != wm::runtime::kNoEvent) wm::runtime::client::connection().release_event(id);
}

namespace wm::runtime::client {

cl_int wait_for_events(cl_uint count, const cl_event* list) {
  return guarded([&]() -> cl_int {
    if (count == 0 || list == nullptr) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; ++i) {
      if (!valid(list[i])) return CL_INVALID_EVENT;
      if (list[i]->context.get() != list[0]->context.get()) return CL_INVALID_CONTEXT;
    }
    cl_int status = CL_SUCCESS;
    for (cl_uint i = 0; i < count; ++i) {
      if (connection().wait(list[i]->id) >= 0) continue;
      const cl_int error = list[i]->queue ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
                                          : connection().native_result(NonstandardCall::wait_for_failed_user_event);
      if (error != CL_SUCCESS) status = error;
    }
    return status;
  });
}

cl_int get_event_info(cl_event event, cl_event_info name, std::size_t size, void* value, std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    const Info info{size, value, size_ret};
    switch (name) {
      case CL_EVENT_COMMAND_QUEUE:
        return info.put(event->queue.get());
      case CL_EVENT_CONTEXT:
        return info.put(event->context.get());
      case CL_EVENT_COMMAND_TYPE:
        return info.put(event->type);
      case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return info.put(cl_int{connection().state(event->id)});
      case CL_EVENT_REFERENCE_COUNT:
        return info.put(cl_uint{event->references.load()});
      default:
        return CL_INVALID_VALUE;
    }
  });
}

cl_int get_event_profiling_info(cl_event event, cl_profiling_info name, std::size_t size, void* value,
                                std::size_t* size_ret) {
  return guarded([&]() -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    if (!event->queue || (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0 ||
        connection().state(event->id) != CL_COMPLETE) {
      return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    const Info info{size, value, size_ret};
    const EventRecord& record = connection().record(event->id);
    switch (name) {
      case CL_PROFILING_COMMAND_QUEUED:
        return info.put(cl_ulong{record.queued});
      case CL_PROFILING_COMMAND_SUBMIT:
        return info.put(cl_ulong{record.submitted});
      case CL_PROFILING_COMMAND_START:
        return info.put(cl_ulong{record.started});
      case CL_PROFILING_COMMAND_END:
      case CL_PROFILING_COMMAND_COMPLETE:
        return info.put(cl_ulong{record.ended});
      default:
        return CL_INVALID_VALUE;
    }
  });
}

cl_int retain_event(cl_event event) { return retain_checked(event, CL_INVALID_EVENT); }
cl_int release_event(cl_event event) {
  return guarded([&] { return release_checked(event, CL_INVALID_EVENT); });
}

cl_int set_event_callback(cl_event event, cl_int state, void(CL_CALLBACK* call)(cl_event, cl_int, void*), void* data) {
  return guarded([&]() -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    if (call == nullptr || state < CL_COMPLETE || state > CL_SUBMITTED) return CL_INVALID_VALUE;
    process().event_callbacks().add(connection(), event, state, call, data);
    return CL_SUCCESS;
  });
}

cl_event create_user_event(cl_context context, cl_int* status_out) {
  return guarded_create(status_out, [&](cl_int& status) -> cl_event {
    if (!valid(context)) return refuse<_cl_event>(status, CL_INVALID_CONTEXT);
    const EventId id = connection().allocate_event(CL_SUBMITTED);
    if (id == kNoEvent) return refuse<_cl_event>(status, CL_OUT_OF_HOST_MEMORY);
    Writer message(Op::user_event);
    message.put(UserEvent{id, CL_SUBMITTED});
    if (!connection().post(message)) return refuse<_cl_event>(status, kDaemonLost);
    auto* event = new _cl_event();
    event->context = Retained<_cl_context>(context);
    event->type = CL_COMMAND_USER;
    event->id = id;
    return event;
  });
}

cl_int set_user_event_status(cl_event event, cl_int state) {
  return guarded([&]() -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    // Where the device's own driver accepts a nonstandard status, the event shows it, and no command depends on it.
    const cl_int now = connection().state(event->id);
    if (event->queue) {
      return connection().native_result(now <= CL_COMPLETE ? NonstandardCall::user_event_of_command
                                                           : NonstandardCall::user_event_of_open_command);
    }
    const auto show_only = [&](NonstandardCall call) {
      const cl_int error = connection().native_result(call);
      if (error == CL_SUCCESS) connection().set_state(event->id, state);
      return error;
    };
    if (state > CL_COMPLETE) {
      return show_only(!event->user_status_set && state <= now ? NonstandardCall::user_event_unfinished
                                                               : NonstandardCall::user_event_queued);
    }
    if (event->user_status_set.exchange(true)) {
      return show_only(state > now ? NonstandardCall::user_event_raised : NonstandardCall::user_event_twice);
    }
    Writer message(Op::set_user_event);
    message.put(UserEvent{event->id, state});
    if (!connection().post(message)) return kDaemonLost;
    connection().set_state(event->id, state);  // this process sees it before the daemon has read the message
    return CL_SUCCESS;
  });
}

}  // namespace wm::runtime::client
