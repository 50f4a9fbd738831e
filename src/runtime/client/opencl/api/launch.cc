// Launching kernels.
#include <algorithm>
#include <cerrno>
#include <unistd.h>

#include "runtime/client/opencl/api/api.h"
#include "runtime/client/opencl/api/call.h"
#include "runtime/client/opencl/transfers/command.h"

namespace wm::runtime::client {
namespace {

struct Range {
  cl_uint dimensions;
  const std::size_t *offset, *global, *local;
};

cl_int check_local(cl_kernel kernel, const Range& range) {
  const bool has_required_size = kernel->required_local_size[0] != 0;
  if (range.local == nullptr) return has_required_size ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
  std::vector<std::byte> bytes;
  std::size_t max_sizes[3] = {};
  if (process().device_info(CL_DEVICE_MAX_WORK_ITEM_SIZES, bytes) == CL_SUCCESS) {
    std::memcpy(max_sizes, bytes.data(), std::min(bytes.size(), sizeof max_sizes));
  }
  const bool allows_remainder = process().device_value<cl_bool>(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) != 0;
  std::size_t items = 1;
  for (cl_uint i = 0; i < range.dimensions; ++i) {
    if (range.local[i] == 0) return CL_INVALID_WORK_GROUP_SIZE;
    items *= range.local[i];
  }
  const auto device_max = process().device_value<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  if (items > device_max) return CL_INVALID_WORK_GROUP_SIZE;
  for (cl_uint i = 0; i < range.dimensions; ++i) {
    if (max_sizes[i] != 0 && range.local[i] > max_sizes[i]) return CL_INVALID_WORK_ITEM_SIZE;
    if (range.global[i] % range.local[i] != 0 && !allows_remainder) return CL_INVALID_WORK_GROUP_SIZE;
  }
  for (cl_uint i = 0; has_required_size && i < 3; ++i) {
    const std::size_t given = i < range.dimensions ? range.local[i] : 1;
    if (given != kernel->required_local_size[i]) return CL_INVALID_WORK_GROUP_SIZE;
  }
  return CL_SUCCESS;
}

bool is_empty(const Range& range) {
  return range.global == nullptr ||
         std::any_of(range.global, range.global + range.dimensions, [](std::size_t items) { return items == 0; });
}

cl_int check_range(cl_kernel kernel, const Range& range) {
  if (range.dimensions < 1 || range.dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  if (range.global == nullptr) return connection().native_result(NonstandardCall::launch_without_range);
  if (is_empty(range)) return connection().native_result(NonstandardCall::launch_of_nothing);
  for (cl_uint i = 0; i < range.dimensions; ++i) {
    const std::size_t offset = range.offset == nullptr ? 0 : range.offset[i];
    if (offset + range.global[i] >= offset) continue;
    if (const cl_int error = connection().native_result(NonstandardCall::launch_offset_beyond); error != CL_SUCCESS)
      return error;
  }
  return check_local(kernel, range);
}

// Whether the launch has larger groups than are certain to be accepted, or exceeds CL_DEVICE_LOCAL_MEM_SIZE. Some
// drivers refuse such a launch and others do not.
bool may_be_refused(cl_kernel kernel, const Range& range) {
  cl_ulong local = 0;
  for (const KernelArgument& a : kernel->arguments) local += a.head.kind == ArgumentKind::local ? a.head.size : 0;
  if (local > process().device_value<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE)) return true;
  if (range.local == nullptr || kernel->accepted_work_group_size == 0) return false;
  std::size_t items = 1;
  for (cl_uint i = 0; i < range.dimensions; ++i) items *= range.local[i];
  return items > kernel->accepted_work_group_size;
}

// Writes the printf output of a kernel to stdout: a u64 of its size, then the text.
void write_printf_output(const std::byte* text) {
  std::uint64_t left = 0;
  std::memcpy(&left, text, sizeof left);
  text += sizeof left;
  for (left = std::min<std::uint64_t>(left, kPrintfBufferSize); left != 0;) {
    const ssize_t written = ::write(STDOUT_FILENO, text, left);
    if (written < 0 && errno != EINTR) return;
    left -= static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
    text += std::max<ssize_t>(written, 0);
  }
}

cl_int launch(cl_command_queue queue, cl_kernel kernel, const Range& range, cl_command_type type,
              const WaitList& wait_list) {
  if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!valid(kernel)) return CL_INVALID_KERNEL;
  if (kernel->program->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  if (const cl_int error = check_wait_list(wait_list, queue->context.get()); error != CL_SUCCESS) return error;
  if (const cl_int error = check_range(kernel, range); error != CL_SUCCESS) return error;
  const std::lock_guard lock(kernel->mutex);
  for (const KernelArgument& a : kernel->arguments) {
    if (!a.set) return CL_INVALID_KERNEL_ARGS;
  }
  if (is_empty(range)) return enqueue(CommandType::marker, type, queue, wait_list);
  EventId event = kNoEvent;
  const bool wait_for_start = may_be_refused(kernel, range) && wait_list.count == 0;
  if (wait_list.event != nullptr || wait_for_start || kernel->uses_printf) {
    event = connection().allocate_event(CL_QUEUED);
    if (event == kNoEvent) return CL_OUT_OF_HOST_MEMORY;
  }
  LaunchMessage launch_message;
  launch_message.kernel = kernel->id;
  launch_message.dimensions = range.dimensions;
  launch_message.arguments = static_cast<std::uint32_t>(kernel->arguments.size());
  for (cl_uint i = 0; i < range.dimensions; ++i) {
    launch_message.offset[i] = range.offset == nullptr ? 0 : range.offset[i];
    launch_message.global[i] = range.global[i];
    launch_message.local[i] = range.local == nullptr ? 0 : range.local[i];
  }
  if (kernel->uses_printf) {
    launch_message.printf_output =
        connection().allocate(sizeof(std::uint64_t) + kPrintfBufferSize, Connection::IfFull::use_region);
    if (launch_message.printf_output.size == 0) return connection().release_event(event), CL_OUT_OF_HOST_MEMORY;
    std::byte* text = connection().address(launch_message.printf_output);
    std::memset(text, 0, sizeof(std::uint64_t));
    connection().on_completion(event, launch_message.printf_output, {}, [text] { write_printf_output(text); });
  }
  Writer message = begin_command(CommandType::launch, queue, event, wait_list, kNoEvent, wait_for_start);
  message.put(launch_message);
  for (const KernelArgument& a : kernel->arguments) message.put(a.head).raw(a.bytes.data(), a.bytes.size()).pad();
  if (!connection().post(message)) return kDaemonLost;
  if (wait_for_start) {  // the device's own driver decides when the launch starts
    const std::int32_t state = connection().wait(event, CL_RUNNING);
    if (state < 0) return connection().release_event(event), state;
  }
  if (wait_list.event != nullptr) {
    *wait_list.event = create_event(queue, type, event);
  } else if (event != kNoEvent) {
    connection().release_event(event);
  }
  return CL_SUCCESS;
}

}  // namespace

cl_int enqueue_nd_range_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
                               const std::size_t* global, const std::size_t* local, cl_uint count, const cl_event* list,
                               cl_event* event_out) {
  return guarded([&] {
    return launch(queue, kernel, {dimensions, offset, global, local}, CL_COMMAND_NDRANGE_KERNEL,
                  {count, list, event_out});
  });
}

cl_int enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* list,
                    cl_event* event_out) {
  return guarded([&] {
    const std::size_t one = 1;
    return launch(queue, kernel, {1, nullptr, &one, &one}, CL_COMMAND_TASK, {count, list, event_out});
  });
}

// A function of the application cannot run in the daemon, as CL_DEVICE_EXECUTION_CAPABILITIES shows.
cl_int enqueue_native_kernel(cl_command_queue queue, void(CL_CALLBACK*)(void*), void*, std::size_t, cl_uint,
                             const cl_mem*, const void**, cl_uint, const cl_event*, cl_event*) {
  return valid(queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

}  // namespace wm::runtime::client
