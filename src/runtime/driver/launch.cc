// Launching kernels.
#include <algorithm>
#include <cerrno>
#include <unistd.h>

#include "runtime/driver/api.h"

namespace wm::runtime::driver {
namespace {

struct Range {
  cl_uint dimensions;
  const std::size_t *offset, *global, *local;
};

cl_int check_local(cl_kernel kernel, const Range& range) {
  const bool fixed = kernel->compiled_local[0] != 0;
  if (range.local == nullptr) return fixed ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
  std::vector<std::byte> bytes;
  std::size_t most[3] = {};
  if (process().device_info(CL_DEVICE_MAX_WORK_ITEM_SIZES, bytes) == CL_SUCCESS) {
    std::memcpy(most, bytes.data(), std::min(bytes.size(), sizeof most));
  }
  const bool uneven = process().device_fact<cl_bool>(CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT) != 0;
  std::size_t items = 1;
  for (cl_uint i = 0; i < range.dimensions; ++i) {
    if (range.local[i] == 0) return CL_INVALID_WORK_GROUP_SIZE;
    items *= range.local[i];
  }
  const auto device_most = process().device_fact<std::size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
  if (items > device_most) return CL_INVALID_WORK_GROUP_SIZE;
  for (cl_uint i = 0; i < range.dimensions; ++i) {
    if (most[i] != 0 && range.local[i] > most[i]) return CL_INVALID_WORK_ITEM_SIZE;
    if (range.global[i] % range.local[i] != 0 && !uneven) return CL_INVALID_WORK_GROUP_SIZE;
  }
  for (cl_uint i = 0; fixed && i < 3; ++i) {
    const std::size_t given = i < range.dimensions ? range.local[i] : 1;
    if (given != kernel->compiled_local[i]) return CL_INVALID_WORK_GROUP_SIZE;
  }
  return CL_SUCCESS;
}

bool of_nothing(const Range& range) {
  return range.global == nullptr ||
         std::any_of(range.global, range.global + range.dimensions, [](std::size_t items) { return items == 0; });
}

cl_int check_range(cl_kernel kernel, const Range& range) {
  if (range.dimensions < 1 || range.dimensions > 3) return CL_INVALID_WORK_DIMENSION;
  if (range.global == nullptr) return link().natively(Question::launch_without_range);
  if (of_nothing(range)) return link().natively(Question::launch_of_nothing);
  for (cl_uint i = 0; i < range.dimensions; ++i) {
    const std::size_t offset = range.offset == nullptr ? 0 : range.offset[i];
    if (offset + range.global[i] >= offset) continue;
    if (const cl_int bad = link().natively(Question::launch_offset_beyond); bad != CL_SUCCESS) return bad;
  }
  return check_local(kernel, range);
}

// More items in a group than the device says the kernel can have, or more local memory than there is: some refuse it,
// some do not.
bool doubtful(cl_kernel kernel, const Range& range) {
  cl_ulong local = 0;
  for (const SetArgument& a : kernel->arguments) local += a.head.kind == ArgumentKind::local ? a.head.size : 0;
  if (local > process().device_fact<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE)) return true;
  if (range.local == nullptr || kernel->most_items == 0) return false;
  std::size_t items = 1;
  for (cl_uint i = 0; i < range.dimensions; ++i) items *= range.local[i];
  return items > kernel->most_items;
}

// What a kernel printed, a u64 of its size before it, as its own driver would in this process.
void print(const std::byte* text) {
  std::uint64_t left = 0;
  std::memcpy(&left, text, sizeof left);
  text += sizeof left;
  for (left = std::min<std::uint64_t>(left, kMostPrinted); left != 0;) {
    const ssize_t written = ::write(STDOUT_FILENO, text, left);
    if (written < 0 && errno != EINTR) return;
    left -= static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
    text += std::max<ssize_t>(written, 0);
  }
}

cl_int launch(cl_command_queue queue, cl_kernel kernel, const Range& range, cl_command_type type, const Waits& waits) {
  if (!valid(queue)) return CL_INVALID_COMMAND_QUEUE;
  if (!valid(kernel)) return CL_INVALID_KERNEL;
  if (kernel->program->context.get() != queue->context.get()) return CL_INVALID_CONTEXT;
  if (const cl_int bad = check(waits, queue->context.get()); bad != CL_SUCCESS) return bad;
  if (const cl_int bad = check_range(kernel, range); bad != CL_SUCCESS) return bad;
  const std::lock_guard lock(kernel->mutex);
  for (const SetArgument& a : kernel->arguments) {
    if (!a.set) return CL_INVALID_KERNEL_ARGS;
  }
  if (of_nothing(range)) return enqueue(Work::marker, type, queue, waits);
  std::uint32_t slot = kNoSlot;
  const bool ask = doubtful(kernel, range) && waits.count == 0;
  if (waits.out != nullptr || ask || kernel->prints) {
    slot = link().take_slot(CL_QUEUED);
    if (slot == kNoSlot) return CL_OUT_OF_HOST_MEMORY;
  }
  Launch head;
  head.kernel = kernel->name;
  head.dimensions = range.dimensions;
  head.arguments = static_cast<std::uint32_t>(kernel->arguments.size());
  for (cl_uint i = 0; i < range.dimensions; ++i) {
    head.offset[i] = range.offset == nullptr ? 0 : range.offset[i];
    head.global[i] = range.global[i];
    head.local[i] = range.local == nullptr ? 0 : range.local[i];
  }
  if (kernel->prints) {
    head.printed = link().take_chunk(sizeof(std::uint64_t) + kMostPrinted, false);
    if (head.printed.size == 0) return link().give_slot(slot), CL_OUT_OF_HOST_MEMORY;
    std::byte* text = link().at(head.printed);
    std::memset(text, 0, sizeof(std::uint64_t));
    link().when_ended(slot, head.printed, {}, [text] { print(text); });
  }
  Writer message = begin(Work::launch, queue, slot, waits);
  message.put(head);
  for (const SetArgument& a : kernel->arguments) message.put(a.head).raw(a.bytes.data(), a.bytes.size()).pad();
  if (!link().post(message)) return kGone;
  if (ask) {  // the device's own answer, which comes when it is tried
    const std::int32_t state = link().wait(slot, CL_RUNNING);
    if (state < 0) return link().give_slot(slot), state;
  }
  if (waits.out != nullptr) {
    *waits.out = new_event(queue, type, slot);
  } else if (slot != kNoSlot) {
    link().give_slot(slot);
  }
  return CL_SUCCESS;
}

}  // namespace

cl_int enqueue_nd_range_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const std::size_t* offset,
                               const std::size_t* global, const std::size_t* local, cl_uint count, const cl_event* list,
                               cl_event* out) {
  return guarded([&] {
    return launch(queue, kernel, {dimensions, offset, global, local}, CL_COMMAND_NDRANGE_KERNEL, {count, list, out});
  });
}

cl_int enqueue_task(cl_command_queue queue, cl_kernel kernel, cl_uint count, const cl_event* list, cl_event* out) {
  return guarded([&] {
    const std::size_t one = 1;
    return launch(queue, kernel, {1, nullptr, &one, &one}, CL_COMMAND_TASK, {count, list, out});
  });
}

// A function of the application cannot run in the daemon; CL_DEVICE_EXECUTION_CAPABILITIES says so.
cl_int enqueue_native_kernel(cl_command_queue queue, void(CL_CALLBACK*)(void*), void*, std::size_t, cl_uint,
                             const cl_mem*, const void**, cl_uint, const cl_event*, cl_event*) {
  return valid(queue) ? CL_INVALID_OPERATION : CL_INVALID_COMMAND_QUEUE;
}

}  // namespace wm::runtime::driver
