// Checks and helpers that buffers and images share.
#pragma once

#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"
#include "runtime/client/opencl/transfers/transfer.h"

namespace wm::runtime::client {

// CL_INVALID_VALUE for unknown flags and for flags that exclude each other. `also_allowed` are known besides the flags
// of buffers.
cl_int check_memory_flags(cl_mem_flags flags, cl_mem_flags also_allowed);
cl_int check_host_pointer(cl_mem_flags flags, const void* host);
// The flags that the daemon needs: the client implements those that concern host memory.
cl_mem_flags device_flags(cl_mem_flags flags);

// Calls the destructor callbacks of a memory object when `event` is complete, that is, when no command uses the memory
// any more.
void call_destructor_callbacks(cl_mem memory, DestructorCallbacks<cl_mem> destructor_callbacks, EventId event);

// CL_INVALID_OPERATION where the flags of the memory object forbid that the host reads or writes it.
inline cl_int check_host_access(cl_mem memory, bool read, bool write) {
  if (read && (memory->flags & (CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS)) != 0) return CL_INVALID_OPERATION;
  if (write && (memory->flags & (CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS)) != 0) return CL_INVALID_OPERATION;
  return CL_SUCCESS;
}

// Checks the queue, the buffer, and the wait list, which must belong to one context.
inline cl_int check_buffer(cl_command_queue queue, cl_mem buffer, const WaitList& wait_list) {
  if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!valid(buffer) || buffer->is_image()) return CL_INVALID_MEM_OBJECT;
  if (buffer->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  return check_wait_list(wait_list, queue->context.get());
}
inline bool fits(std::size_t offset, std::size_t size, std::size_t total) {
  return offset <= total && size <= total - offset;
}

}  // namespace wm::runtime::client
