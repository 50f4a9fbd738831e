// Markers, barriers and migrations: commands without data that order other commands.
#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"
#include "runtime/client/opencl/transfers/command.h"

namespace wm::runtime::client {
namespace {

cl_int enqueue_checked(CommandType command, cl_command_type type, cl_command_queue queue, const WaitList& wait_list) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    if (const cl_int error = check_wait_list(wait_list, queue->context.get()); error != CL_SUCCESS) return error;
    return enqueue(command, type, queue, wait_list);
  });
}

}  // namespace

cl_int enqueue_marker_with_wait_list(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* event_out) {
  return enqueue_checked(CommandType::marker, CL_COMMAND_MARKER, queue, {count, list, event_out});
}
cl_int enqueue_barrier_with_wait_list(cl_command_queue queue, cl_uint count, const cl_event* list,
                                      cl_event* event_out) {
  return enqueue_checked(CommandType::barrier, CL_COMMAND_BARRIER, queue, {count, list, event_out});
}
cl_int enqueue_marker(cl_command_queue queue, cl_event* event_out) {
  if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
  return event_out == nullptr ? CL_INVALID_VALUE
                              : enqueue_checked(CommandType::marker, CL_COMMAND_MARKER, queue, {0, nullptr, event_out});
}
cl_int enqueue_barrier(cl_command_queue queue) {
  return enqueue_checked(CommandType::barrier, CL_COMMAND_BARRIER, queue, {0, nullptr, nullptr});
}
cl_int enqueue_wait_for_events(cl_command_queue queue, cl_uint count, const cl_event* list) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    if (count == 0 || list == nullptr) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; ++i) {
      if (!valid(list[i])) return CL_INVALID_EVENT;
    }
    return enqueue_checked(CommandType::barrier, CL_COMMAND_BARRIER, queue, {count, list, nullptr});
  });
}

// There is one device, so memory objects never move.
cl_int enqueue_migrate_mem_objects(cl_command_queue queue, cl_uint memories, const cl_mem* memory,
                                   cl_mem_migration_flags flags, cl_uint count, const cl_event* list,
                                   cl_event* event_out) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    if (memories == 0 || memory == nullptr) return CL_INVALID_VALUE;
    constexpr cl_mem_migration_flags kKnown = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if ((flags & ~kKnown) != 0) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < memories; ++i) {
      if (!valid(memory[i])) return CL_INVALID_MEM_OBJECT;
      if (memory[i]->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
    }
    const WaitList wait_list{count, list, event_out};
    if (const cl_int error = check_wait_list(wait_list, queue->context.get()); error != CL_SUCCESS) return error;
    return enqueue(CommandType::marker, CL_COMMAND_MIGRATE_MEM_OBJECTS, queue, wait_list);
  });
}

}  // namespace wm::runtime::client
