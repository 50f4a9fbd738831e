// Events: their progress is in shared slots, which the daemon fills in.
#include "runtime/driver/api.h"

_cl_event::~_cl_event() {
  if (slot != wm::runtime::kNoSlot) wm::runtime::driver::link().give_slot(slot);
}

namespace wm::runtime::driver {

cl_event new_event(cl_command_queue queue, cl_command_type type, std::uint32_t slot) {
  auto* event = new _cl_event();
  event->context = queue->context;
  event->queue = Held<_cl_command_queue>(queue);
  event->type = type;
  event->slot = slot;
  return event;
}

cl_int check(const Waits& waits, cl_context context) {
  if ((waits.count == 0) != (waits.list == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < waits.count; ++i) {
    if (!valid(waits.list[i])) {
      const cl_int bad = link().natively(Question::null_event_in_list);
      return bad != CL_SUCCESS ? bad : CL_INVALID_EVENT_WAIT_LIST;
    }
    if (waits.list[i]->context.get() != context) return CL_INVALID_CONTEXT;
  }
  return CL_SUCCESS;
}

Writer begin(Work work, cl_command_queue queue, std::uint32_t slot, const Waits& waits, std::uint32_t also) {
  std::vector<std::uint32_t> open;
  bool doomed = false;
  for (cl_uint i = 0; i < waits.count; ++i) {
    const std::int32_t state = link().state(waits.list[i]->slot);
    if (state > 0) open.push_back(waits.list[i]->slot);
    doomed |= state < 0;
  }
  if (also != kNoSlot) open.push_back(also);
  queue->use();
  queue->posted.fetch_add(1, std::memory_order_acq_rel);
  Writer message(Op::command);
  message.put(CommandMessage{queue->name, work, slot, static_cast<std::uint32_t>(open.size()), doomed ? 1U : 0U});
  message.raw(open.data(), open.size() * sizeof(std::uint32_t)).pad();
  return message;
}

cl_int wait_for_events(cl_uint count, const cl_event* list) {
  return guarded([&]() -> cl_int {
    if (count == 0 || list == nullptr) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; ++i) {
      if (!valid(list[i])) return CL_INVALID_EVENT;
      if (list[i]->context.get() != list[0]->context.get()) return CL_INVALID_CONTEXT;
    }
    cl_int status = CL_SUCCESS;
    for (cl_uint i = 0; i < count; ++i) {
      if (link().wait(list[i]->slot) >= 0) continue;
      const cl_int bad = list[i]->queue ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
                                        : link().natively(Question::wait_for_failed_user_event);
      if (bad != CL_SUCCESS) status = bad;
    }
    return status;
  });
}

cl_int get_event_info(cl_event event, cl_event_info name, std::size_t room, void* value, std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    const Info info{room, value, needed};
    switch (name) {
      case CL_EVENT_COMMAND_QUEUE:
        return info.is(event->queue.get());
      case CL_EVENT_CONTEXT:
        return info.is(event->context.get());
      case CL_EVENT_COMMAND_TYPE:
        return info.is(event->type);
      case CL_EVENT_COMMAND_EXECUTION_STATUS:
        return info.is(cl_int{link().state(event->slot)});
      case CL_EVENT_REFERENCE_COUNT:
        return info.is(cl_uint{event->references.load()});
      default:
        return CL_INVALID_VALUE;
    }
  });
}

cl_int get_event_profiling_info(cl_event event, cl_profiling_info name, std::size_t room, void* value,
                                std::size_t* needed) {
  return guarded([&]() -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    if (!event->queue || (event->queue->properties & CL_QUEUE_PROFILING_ENABLE) == 0 ||
        link().state(event->slot) != CL_COMPLETE) {
      return CL_PROFILING_INFO_NOT_AVAILABLE;
    }
    const Info info{room, value, needed};
    const EventSlot& slot = link().slot(event->slot);
    switch (name) {
      case CL_PROFILING_COMMAND_QUEUED:
        return info.is(cl_ulong{slot.queued});
      case CL_PROFILING_COMMAND_SUBMIT:
        return info.is(cl_ulong{slot.submitted});
      case CL_PROFILING_COMMAND_START:
        return info.is(cl_ulong{slot.started});
      case CL_PROFILING_COMMAND_END:
      case CL_PROFILING_COMMAND_COMPLETE:
        return info.is(cl_ulong{slot.ended});
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
    process().callbacks().add(link(), event, state, call, data);
    return CL_SUCCESS;
  });
}

cl_event create_user_event(cl_context context, cl_int* out) {
  return making(out, [&](cl_int& status) -> cl_event {
    if (!valid(context)) return refuse<_cl_event>(status, CL_INVALID_CONTEXT);
    const std::uint32_t slot = link().take_slot(CL_SUBMITTED);
    if (slot == kNoSlot) return refuse<_cl_event>(status, CL_OUT_OF_HOST_MEMORY);
    Writer message(Op::user_event);
    message.put(UserEvent{slot, CL_SUBMITTED});
    if (!link().post(message)) return refuse<_cl_event>(status, kGone);
    auto* event = new _cl_event();
    event->context = Held<_cl_context>(context);
    event->type = CL_COMMAND_USER;
    event->slot = slot;
    return event;
  });
}

cl_int set_user_event_status(cl_event event, cl_int state) {
  return guarded([&]() -> cl_int {
    if (!valid(event)) return CL_INVALID_EVENT;
    // What a driver takes of these shows, and nothing follows from it.
    const cl_int now = link().state(event->slot);
    if (event->queue) {
      return link().natively(now <= CL_COMPLETE ? Question::user_event_of_command
                                                : Question::user_event_of_open_command);
    }
    const auto only_show = [&](Question question) {
      const cl_int bad = link().natively(question);
      if (bad == CL_SUCCESS) link().set_state(event->slot, state);
      return bad;
    };
    if (state > CL_COMPLETE) {
      return only_show(!event->user_set && state <= now ? Question::user_event_unfinished
                                                        : Question::user_event_queued);
    }
    if (event->user_set.exchange(true)) {
      return only_show(state > now ? Question::user_event_raised : Question::user_event_twice);
    }
    Writer message(Op::set_user_event);
    message.put(UserEvent{event->slot, state});
    if (!link().post(message)) return kGone;
    link().set_state(event->slot, state);  // seen here at once, whenever the daemon reads of it
    return CL_SUCCESS;
  });
}

}  // namespace wm::runtime::driver
