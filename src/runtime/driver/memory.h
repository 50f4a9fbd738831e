// What buffers and images share when they are made and used.
#pragma once

#include "runtime/driver/api.h"

namespace wm::runtime::driver {

// CL_INVALID_VALUE for flags that do not exist or exclude each other.
cl_int check_memory_flags(cl_mem_flags flags, cl_mem_flags also);
cl_int check_host_pointer(cl_mem_flags flags, const void* host);
cl_mem_flags device_flags(cl_mem_flags flags);

// Calls what was set for a memory object's end, latest first; `slot` is complete when no command uses it any more.
void say_farewell(cl_mem memory, Farewells<cl_mem> farewells, std::uint32_t slot);

// Whether commands of the host may read or write it: CL_INVALID_OPERATION where it was made without that.
inline cl_int host_may(cl_mem memory, bool read, bool write) {
  if (read && (memory->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) != 0) return CL_INVALID_OPERATION;
  if (write && (memory->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) != 0) return CL_INVALID_OPERATION;
  return CL_SUCCESS;
}

// A queue and a buffer of one context, and events that can be waited for.
inline cl_int check_buffer(cl_command_queue queue, cl_mem buffer, const Waits& waits) {
  if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!valid(buffer) || buffer->is_image()) return CL_INVALID_MEM_OBJECT;
  if (buffer->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  return check(waits, queue->context.get());
}
inline bool inside(std::size_t offset, std::size_t size, std::size_t whole) {
  return offset <= whole && size <= whole - offset;
}

}  // namespace wm::runtime::driver
