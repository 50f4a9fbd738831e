#include "runtime/client/opencl/transfers/command.h"

namespace wm::runtime::client {

cl_int check_wait_list(const WaitList& wait_list, cl_context context) {
  if ((wait_list.count == 0) != (wait_list.events == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
  for (cl_uint i = 0; i < wait_list.count; ++i) {
    if (!valid(wait_list.events[i])) {
      const cl_int error = connection().native_result(NonstandardCall::null_event_in_list);
      return error != CL_SUCCESS ? error : CL_INVALID_EVENT_WAIT_LIST;
    }
    if (wait_list.events[i]->context.get() != context) return CL_INVALID_CONTEXT;
  }
  return CL_SUCCESS;
}

Writer begin_command(CommandType type, cl_command_queue queue, EventId event, const WaitList& wait_list,
                     EventId dependency, bool start_awaited) {
  std::vector<EventId> incomplete;
  bool dependency_failed = false;
  for (cl_uint i = 0; i < wait_list.count; ++i) {
    const std::int32_t state = connection().state(wait_list.events[i]->id);
    if (state > 0) incomplete.push_back(wait_list.events[i]->id);
    dependency_failed |= state < 0;
  }
  if (dependency != kNoEvent) incomplete.push_back(dependency);
  queue->note_use();
  queue->enqueued_commands.fetch_add(1, std::memory_order_acq_rel);
  Writer message(Op::command);
  message.put(CommandMessage{queue->id, type, event, static_cast<std::uint32_t>(incomplete.size()),
                             std::uint16_t{dependency_failed}, std::uint16_t{start_awaited}});
  message.raw(incomplete.data(), incomplete.size() * sizeof(EventId)).pad();
  return message;
}

cl_event create_event(cl_command_queue queue, cl_command_type type, EventId id) {
  auto* event = new _cl_event();
  event->context = queue->context;
  event->queue = Retained<_cl_command_queue>(queue);
  event->type = type;
  event->id = id;
  return event;
}

void note_completed(cl_command_queue queue, std::uint64_t count) {
  if (!queue->in_order() || queue->enqueued_commands.load(std::memory_order_acquire) != count) return;
  std::uint64_t known = queue->completed_commands.load(std::memory_order_relaxed);
  while (known < count && !queue->completed_commands.compare_exchange_weak(known, count, std::memory_order_acq_rel)) {
  }
}

}  // namespace wm::runtime::client
