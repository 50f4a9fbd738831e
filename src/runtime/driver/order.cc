// Markers, barriers and migrations: commands that move nothing and order what others do.
#include "runtime/driver/api.h"

namespace wm::runtime::driver {
namespace {

cl_int ordered(Work work, cl_command_type type, cl_command_queue queue, const Waits& waits) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    if (const cl_int bad = check(waits, queue->context.get()); bad != CL_SUCCESS) return bad;
    return enqueue(work, type, queue, waits);
  });
}

}  // namespace

cl_int enqueue_marker_with_wait_list(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* out) {
  return ordered(Work::marker, CL_COMMAND_MARKER, queue, {count, list, out});
}
cl_int enqueue_barrier_with_wait_list(cl_command_queue queue, cl_uint count, const cl_event* list, cl_event* out) {
  return ordered(Work::barrier, CL_COMMAND_BARRIER, queue, {count, list, out});
}
cl_int enqueue_marker(cl_command_queue queue, cl_event* out) {
  if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
  return out == nullptr ? CL_INVALID_VALUE : ordered(Work::marker, CL_COMMAND_MARKER, queue, {0, nullptr, out});
}
cl_int enqueue_barrier(cl_command_queue queue) {
  return ordered(Work::barrier, CL_COMMAND_BARRIER, queue, {0, nullptr, nullptr});
}
cl_int enqueue_wait_for_events(cl_command_queue queue, cl_uint count, const cl_event* list) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    if (count == 0 || list == nullptr) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < count; ++i) {
      if (!valid(list[i])) return CL_INVALID_EVENT;
    }
    return ordered(Work::barrier, CL_COMMAND_BARRIER, queue, {count, list, nullptr});
  });
}

// One device: objects are where they should be.
cl_int enqueue_migrate_mem_objects(cl_command_queue queue, cl_uint memories, const cl_mem* memory,
                                   cl_mem_migration_flags flags, cl_uint count, const cl_event* list, cl_event* out) {
  return guarded([&]() -> cl_int {
    if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
    if (memories == 0 || memory == nullptr) return CL_INVALID_VALUE;
    constexpr cl_mem_migration_flags kKnown = CL_MIGRATE_MEM_OBJECT_HOST | CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED;
    if ((flags & ~kKnown) != 0) return CL_INVALID_VALUE;
    for (cl_uint i = 0; i < memories; ++i) {
      if (!valid(memory[i])) return CL_INVALID_MEM_OBJECT;
      if (memory[i]->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
    }
    const Waits waits{count, list, out};
    if (const cl_int bad = check(waits, queue->context.get()); bad != CL_SUCCESS) return bad;
    return enqueue(Work::marker, CL_COMMAND_MIGRATE_MEM_OBJECTS, queue, waits);
  });
}

}  // namespace wm::runtime::driver
