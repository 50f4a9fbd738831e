// Sending commands of a queue to the daemon.
#pragma once

#include "runtime/client/opencl/process/process.h"

namespace wm::runtime::client {

// The wait list of a command, and where the application wants its event; `event` may be null.
struct WaitList {
  cl_uint count;
  const cl_event* events;
  cl_event* event;
};
inline constexpr WaitList kNoWaitList{0, nullptr, nullptr};

// CL_SUCCESS, or the error of a wait list that is not valid in that context.
cl_int check_wait_list(const WaitList& wait_list, cl_context context);

// Begins the message of a command: its queue, its event, the events it waits for that have not completed, and whether
// the application's call will return the error of a command that cannot run.
Writer begin_command(CommandType type, cl_command_queue queue, EventId event, const WaitList& wait_list,
                     EventId dependency = kNoEvent, bool start_awaited = false);
cl_event create_event(cl_command_queue queue, cl_command_type type, EventId id);

// Notes that the first `count` commands of an in-order queue have completed.
void note_completed(cl_command_queue queue, std::uint64_t count);

// Sends a command without application data, and creates an event if the application wants one.
template <typename... Parts>
cl_int enqueue(CommandType command, cl_command_type type, cl_command_queue queue, const WaitList& wait_list,
               const Parts&... parts) {
  EventId event = kNoEvent;
  if (wait_list.event != nullptr) {
    event = connection().allocate_event(CL_QUEUED);
    if (event == kNoEvent) return CL_OUT_OF_HOST_MEMORY;
  }
  Writer message = begin_command(command, queue, event, wait_list);
  (message.put(parts), ...);
  if (!connection().post(message)) return kDaemonLost;
  if (wait_list.event != nullptr) *wait_list.event = create_event(queue, type, event);
  return CL_SUCCESS;
}

}  // namespace wm::runtime::client
