#include "runtime/sandbox/nonstandard_calls.h"

#include <vector>

namespace wm::runtime::sandbox {
namespace {

// The objects that the calls use.
class CallObjects {
 public:
  explicit CallObjects(const Native& native) : native_(native), cl_(native.cl) {
    queue = cl_.CreateCommandQueue(native.context, native.device, 0, nullptr);
    memory = cl_.CreateBuffer(native.context, CL_MEM_READ_WRITE, kBytes, nullptr, nullptr);
    other = cl_.CreateBuffer(native.context, CL_MEM_READ_WRITE, kBytes, nullptr, nullptr);
  }
  ~CallObjects() {
    cl_.Finish(queue);
    for (cl_mem m : created_) cl_.ReleaseMemObject(m);
    cl_.ReleaseMemObject(other);
    cl_.ReleaseMemObject(memory);
    cl_.ReleaseCommandQueue(queue);
  }
  CallObjects(const CallObjects&) = delete;
  CallObjects& operator=(const CallObjects&) = delete;
  [[nodiscard]] bool complete() const { return queue != nullptr && memory != nullptr && other != nullptr; }

  cl_int buffer(cl_mem_flags flags, std::size_t size, void* host) {
    cl_int status = CL_SUCCESS;
    keep(cl_.CreateBuffer(native_.context, flags, size, host, &status));
    return status;
  }
  cl_int sub_buffer(cl_mem of, cl_mem_flags flags, std::size_t origin, std::size_t size) {
    const cl_buffer_region region{origin, size};
    cl_int status = CL_SUCCESS;
    keep(cl_.CreateSubBuffer(of, flags, CL_BUFFER_CREATE_TYPE_REGION, &region, &status));
    return status;
  }
  [[nodiscard]] cl_mem last_created() const { return created_.empty() ? nullptr : created_.back(); }

  static constexpr std::size_t kBytes = 65'536;
  cl_command_queue queue = nullptr;
  cl_mem memory = nullptr, other = nullptr;
  char bytes[4096] = {};

 private:
  void keep(cl_mem m) {
    if (m != nullptr) created_.push_back(m);
  }
  const Native& native_;
  const NativeCalls& cl_;
  std::vector<cl_mem> created_;
};

constexpr std::size_t kZero[3] = {0, 0, 0}, kNear[3] = {1, 0, 0}, kBox[3] = {8, 4, 2};
constexpr std::size_t kFar[3] = {0, 0, 32};
constexpr std::size_t kNoRow[3] = {8, 0, 2}, kNoSlice[3] = {8, 4, 0}, kOneSlice[3] = {16, 4, 1};
constexpr std::size_t kRow = 16, kSlice = 128;

cl_int rect(const NativeCalls& cl, CallObjects& objects, bool read, const std::size_t* region) {
  return read ? cl.EnqueueReadBufferRect(objects.queue, objects.memory, CL_TRUE, kZero, kZero, region, kRow, kSlice,
                                         kRow, kSlice, objects.bytes, 0, nullptr, nullptr)
              : cl.EnqueueWriteBufferRect(objects.queue, objects.memory, CL_TRUE, kZero, kZero, region, kRow, kSlice,
                                          kRow, kSlice, objects.bytes, 0, nullptr, nullptr);
}
cl_int rect_copy(const NativeCalls& cl, CallObjects& objects, cl_mem to, const std::size_t* at,
                 const std::size_t* region) {
  return cl.EnqueueCopyBufferRect(objects.queue, objects.memory, to, kZero, at, region, kRow, kSlice, kRow, kSlice, 0,
                                  nullptr, nullptr);
}
cl_int fill(const NativeCalls& cl, CallObjects& objects, std::size_t offset, std::size_t size) {
  const std::uint32_t pattern = 7;
  return cl.EnqueueFillBuffer(objects.queue, objects.memory, &pattern, sizeof pattern, offset, size, 0, nullptr,
                              nullptr);
}

cl_int copy(const NativeCalls& cl, CallObjects& objects, cl_mem from, cl_mem to, std::size_t at, std::size_t size) {
  return cl.EnqueueCopyBuffer(objects.queue, from, to, 0, at, size, 0, nullptr, nullptr);
}
cl_int map(const NativeCalls& cl, CallObjects& objects, cl_map_flags flags, std::size_t size) {
  cl_int status = CL_SUCCESS;
  void* at = cl.EnqueueMapBuffer(objects.queue, objects.memory, CL_TRUE, flags, 0, size, 0, nullptr, nullptr, &status);
  if (at != nullptr) cl.EnqueueUnmapMemObject(objects.queue, objects.memory, at, 0, nullptr, nullptr);
  return status;
}

// clSetUserEventStatus on the event of a command that has not completed.
cl_int open_command(const Native& native, CallObjects& objects) {
  const NativeCalls& cl = native.cl;
  const cl_event user = cl.CreateUserEvent(native.context, nullptr);
  cl_int status = NativeResults{}[NonstandardCall::user_event_of_open_command];
  if (user == nullptr) return status;
  cl_event marker = nullptr;
  if (cl.EnqueueMarkerWithWaitList(objects.queue, 1, &user, &marker) == CL_SUCCESS && marker != nullptr) {
    status = cl.SetUserEventStatus(marker, CL_COMPLETE);
  }
  cl.SetUserEventStatus(user, CL_COMPLETE);
  cl.Finish(objects.queue);
  if (marker != nullptr) cl.ReleaseEvent(marker);
  cl.ReleaseEvent(user);
  return status;
}

cl_int shown_access(const Native& native) {
  const cl_mem made = native.cl.CreateBuffer(native.context, CL_MEM_HOST_READ_ONLY, 64, nullptr, nullptr);
  if (made == nullptr) return 0;
  cl_mem_flags flags = 0;
  native.cl.GetMemObjectInfo(made, CL_MEM_FLAGS, sizeof flags, &flags, nullptr);
  native.cl.ReleaseMemObject(made);
  return (flags & CL_MEM_READ_WRITE) != 0 ? -1 : 0;
}

cl_int context_with_data(const Native& native) {
  int data = 0;
  cl_int status = CL_SUCCESS;
  const cl_context made = native.cl.CreateContext(nullptr, 1, &native.device, nullptr, &data, &status);
  if (made != nullptr) native.cl.ReleaseContext(made);
  return status;
}

cl_int empty_local_argument(const Native& native) {
  const NativeCalls& cl = native.cl;
  const char* source = "kernel void probe(local int* x) { x[0] = 0; }";
  cl_int status = NativeResults{}[NonstandardCall::empty_local_argument];
  const cl_program program = cl.CreateProgramWithSource(native.context, 1, &source, nullptr, nullptr);
  if (program == nullptr) return status;
  if (cl.BuildProgram(program, 1, &native.device, "", nullptr, nullptr) == CL_SUCCESS) {
    if (const cl_kernel kernel = cl.CreateKernel(program, "probe", nullptr)) {
      status = cl.SetKernelArg(kernel, 0, 0, nullptr);
      cl.ReleaseKernel(kernel);
    }
  }
  cl.ReleaseProgram(program);
  return status;
}

cl_int image_of_unknown_format(const Native& native) {
  constexpr cl_channel_order kNoOrder = 0x1234;
  const cl_image_format format{kNoOrder, CL_UNSIGNED_INT8};
  cl_image_desc description{};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = description.image_height = 4;
  cl_int status = CL_SUCCESS;
  const cl_mem made = native.cl.CreateImage(native.context, CL_MEM_READ_WRITE, &format, &description, nullptr, &status);
  if (made == nullptr) return status;
  native.cl.ReleaseMemObject(made);
  return NativeResults{}[NonstandardCall::image_of_unknown_format];
}

cl_int link_nothing(const Native& native) {
  cl_int status = CL_SUCCESS;
  const cl_program made =
      native.cl.LinkProgram(native.context, 1, &native.device, "", 0, nullptr, nullptr, nullptr, &status);
  if (made != nullptr) native.cl.ReleaseProgram(made);
  return status;
}

cl_int user_event(const Native& native, CallObjects& objects, NonstandardCall call) {
  const NativeCalls& cl = native.cl;
  cl_int status = CL_SUCCESS;
  cl_event event = nullptr;
  if (call == NonstandardCall::user_event_of_open_command) return open_command(native, objects);
  if (call == NonstandardCall::user_event_of_command) {
    status = cl.EnqueueMarkerWithWaitList(objects.queue, 0, nullptr, &event);
    cl.Finish(objects.queue);
  } else {
    event = cl.CreateUserEvent(native.context, &status);
  }
  if (event == nullptr) return NativeResults{}[call];
  constexpr cl_int kFailed = -5;
  if (call == NonstandardCall::user_event_unfinished || call == NonstandardCall::user_event_queued) {
    status = cl.SetUserEventStatus(event, call == NonstandardCall::user_event_queued ? CL_QUEUED : CL_RUNNING);
    cl.SetUserEventStatus(event, CL_COMPLETE);
  } else if (call == NonstandardCall::wait_for_failed_user_event) {
    cl.SetUserEventStatus(event, kFailed);
    status = cl.WaitForEvents(1, &event);
  } else {
    if (call == NonstandardCall::user_event_raised) cl.SetUserEventStatus(event, kFailed);
    if (call == NonstandardCall::user_event_twice) cl.SetUserEventStatus(event, CL_COMPLETE);
    status = cl.SetUserEventStatus(event, CL_COMPLETE);
  }
  cl.ReleaseEvent(event);
  return status;
}

cl_int launch(const Native& native, CallObjects& objects, NonstandardCall call) {
  const NativeCalls& cl = native.cl;
  const char* source = kProbe;
  const cl_program program = cl.CreateProgramWithSource(native.context, 1, &source, nullptr, nullptr);
  cl_int status = NativeResults{}[call];
  if (program == nullptr) return status;
  if (cl.BuildProgram(program, 1, &native.device, "", nullptr, nullptr) == CL_SUCCESS) {
    if (const cl_kernel kernel = cl.CreateKernel(program, "probe", nullptr)) {
      const cl_int null_argument = cl.SetKernelArg(kernel, 0, 2 * sizeof objects.memory, nullptr);
      cl.SetKernelArg(kernel, 0, sizeof objects.memory, &objects.memory);
      const std::size_t none = 0, some = 16, far = ~std::size_t{0};
      const bool beyond = call == NonstandardCall::launch_offset_beyond;
      const std::size_t* global = call == NonstandardCall::launch_without_range ? nullptr : beyond ? &some : &none;
      status = cl.EnqueueNDRangeKernel(objects.queue, kernel, 1, beyond ? &far : nullptr, global, nullptr, 0, nullptr,
                                       nullptr);
      cl.Finish(objects.queue);
      if (call == NonstandardCall::null_buffer_of_any_size) status = null_argument;
      cl.ReleaseKernel(kernel);
    }
  }
  cl.ReleaseProgram(program);
  return status;
}

}  // namespace

cl_int try_nonstandard_call(const Native& native, NonstandardCall call) {
  const NativeCalls& cl = native.cl;
  CallObjects objects(native);
  if (!objects.complete()) return NativeResults{}[call];
  switch (call) {
    case NonstandardCall::large_buffer:
      return objects.buffer(CL_MEM_READ_WRITE, native.fact<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE) + 1, nullptr);
    case NonstandardCall::host_pointer_both_ways:
      return objects.buffer(CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR, sizeof objects.bytes, objects.bytes);
    case NonstandardCall::sub_buffer_misaligned:
      return objects.sub_buffer(objects.memory, 0, 4, 64);
    case NonstandardCall::sub_buffer_beyond:
      return objects.sub_buffer(objects.memory, 0, CallObjects::kBytes / 2, CallObjects::kBytes);
    case NonstandardCall::sub_buffer_of_sub_buffer:
      objects.sub_buffer(objects.memory, 0, 0, CallObjects::kBytes / 2);
      return objects.last_created() == nullptr ? NativeResults{}[call]
                                               : objects.sub_buffer(objects.last_created(), 0, 0, 64);
    case NonstandardCall::sub_buffer_two_accesses:
      return objects.sub_buffer(objects.memory, CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 0, 64);
    case NonstandardCall::sub_buffer_two_hosts:
      return objects.sub_buffer(objects.memory, CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_WRITE_ONLY, 0, 64);
    case NonstandardCall::sub_buffer_unknown_flags:
      return objects.sub_buffer(objects.memory, cl_mem_flags{1} << 40, 0, 64);
    case NonstandardCall::empty_read_rect:
      return rect(cl, objects, true, kNoRow);
    case NonstandardCall::empty_write_rect:
      return rect(cl, objects, false, kNoRow);
    case NonstandardCall::empty_copy_rect:
      return rect_copy(cl, objects, objects.other, kZero, kNoRow);
    case NonstandardCall::flat_read_rect:
      return rect(cl, objects, true, kNoSlice);
    case NonstandardCall::flat_write_rect:
      return rect(cl, objects, false, kNoSlice);
    case NonstandardCall::flat_copy_rect:
      return rect_copy(cl, objects, objects.other, kZero, kNoSlice);
    case NonstandardCall::overlapping_copy_rect:
      return rect_copy(cl, objects, objects.memory, kNear, kBox);
    case NonstandardCall::unaligned_fill_offset:
      return fill(cl, objects, 6, 32);
    case NonstandardCall::unaligned_fill_size:
      return fill(cl, objects, 8, 30);
    case NonstandardCall::map_unknown_flags:
      return map(cl, objects, cl_map_flags{1} << 20, 64);
    case NonstandardCall::map_of_nothing:
      return map(cl, objects, CL_MAP_READ, 0);
    case NonstandardCall::unaligned_slice_pitch:
      return cl.EnqueueReadBufferRect(objects.queue, objects.memory, CL_TRUE, kZero, kZero, kBox, kRow, kRow * 4 + 8,
                                      kRow, kSlice, objects.bytes, 0, nullptr, nullptr);
    case NonstandardCall::short_slice_pitch:
      return cl.EnqueueReadBufferRect(objects.queue, objects.memory, CL_TRUE, kZero, kZero, kOneSlice, 0, 8, 0, 0,
                                      objects.bytes, 0, nullptr, nullptr);
    case NonstandardCall::copy_rect_two_pitches:
      return cl.EnqueueCopyBufferRect(objects.queue, objects.memory, objects.memory, kZero, kFar, kBox, kRow, kSlice,
                                      kRow, kSlice / 2, 0, nullptr, nullptr);
    case NonstandardCall::copy_to_same_place:
      return copy(cl, objects, objects.memory, objects.memory, 0, 16);
    case NonstandardCall::copy_of_nothing:
      return copy(cl, objects, objects.memory, objects.other, 0, 0);
    case NonstandardCall::copy_over_sub_buffer:
      objects.sub_buffer(objects.memory, 0, 0, 1024);
      return objects.last_created() == nullptr ? NativeResults{}[call]
                                               : copy(cl, objects, objects.last_created(), objects.memory, 8, 16);
    case NonstandardCall::null_event_in_list: {
      const cl_event none = nullptr;
      return cl.EnqueueMarkerWithWaitList(objects.queue, 1, &none, nullptr);
    }
    case NonstandardCall::link_of_nothing:
      return link_nothing(native);
    case NonstandardCall::context_data_without_callback:
      return context_with_data(native);
    case NonstandardCall::shown_access:
      return shown_access(native);
    case NonstandardCall::empty_local_argument:
      return empty_local_argument(native);
    case NonstandardCall::image_of_unknown_format:
      return image_of_unknown_format(native);
    case NonstandardCall::user_event_unfinished:
    case NonstandardCall::user_event_twice:
    case NonstandardCall::user_event_of_command:
    case NonstandardCall::user_event_queued:
    case NonstandardCall::user_event_raised:
    case NonstandardCall::user_event_of_open_command:
    case NonstandardCall::wait_for_failed_user_event:
      return user_event(native, objects, call);
    case NonstandardCall::launch_of_nothing:
    case NonstandardCall::launch_without_range:
    case NonstandardCall::launch_offset_beyond:
    case NonstandardCall::null_buffer_of_any_size:
      return launch(native, objects, call);
    case NonstandardCall::count:
      break;
  }
  return CL_INVALID_VALUE;
}

}  // namespace wm::runtime::sandbox
