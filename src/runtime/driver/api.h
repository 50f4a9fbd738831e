// The driver's functions, each with exactly the type OpenCL gives it, and what they share.
#pragma once

#include <cstring>
#include <exception>
#include <new>
#include <span>
#include <string_view>

#include "runtime/driver/process.h"

namespace wm::runtime::driver {

// No exception crosses into an application.
template <typename F>
cl_int guarded(F body) noexcept {
  try {
    return body();
  } catch (const std::exception&) {
    return CL_OUT_OF_HOST_MEMORY;
  }
}
// For calls that return an object: `body` sets the status it is given, or returns what was made.
template <typename F>
auto making(cl_int* out, F body) noexcept -> decltype(body(*out)) {
  cl_int status = CL_SUCCESS;
  decltype(body(*out)) made = nullptr;
  try {
    made = body(status);
  } catch (const std::exception&) {
    status = CL_OUT_OF_HOST_MEMORY;
  }
  if (out != nullptr) *out = status;
  return status == CL_SUCCESS ? made : nullptr;
}
template <typename T>
T* refuse(cl_int& status, cl_int why) {
  status = why;
  return nullptr;
}

// Where the answer to a query goes.
struct Info {
  std::size_t room;
  void* value;
  std::size_t* needed;

  [[nodiscard]] cl_int raw(const void* data, std::size_t size) const {
    if (value != nullptr && room < size) return CL_INVALID_VALUE;
    if (value != nullptr && size != 0) std::memcpy(value, data, size);
    if (needed != nullptr) *needed = size;
    return CL_SUCCESS;
  }
  template <Plain T>
  [[nodiscard]] cl_int is(const T& answer) const {
    return raw(&answer, sizeof answer);
  }
  [[nodiscard]] cl_int text(std::string_view s) const {
    const std::string closed(s);
    return raw(closed.c_str(), closed.size() + 1);
  }
  template <typename T>
  [[nodiscard]] cl_int list(const std::vector<T>& all) const {
    return raw(all.data(), all.size() * sizeof(T));
  }
};
// A query that the daemon answers, byte for byte.
cl_int forward(Writer& message, const Info& info);

// --- commands
// What an application gives with every command.
struct Waits {
  cl_uint count;
  const cl_event* list;
  cl_event* out;
};
// CL_SUCCESS, or why these cannot be waited for in that context.
cl_int check(const Waits& waits, cl_context context);
// Begins a command's message: its queue, slot and the events it waits for that have not ended.
Writer begin(Work work, cl_command_queue queue, std::uint32_t slot, const Waits& waits, std::uint32_t also = kNoSlot);
// Posts a command that moves no data of the application, with an event where one is asked for.
template <typename... Parts>
cl_int enqueue(Work work, cl_command_type type, cl_command_queue queue, const Waits& waits, const Parts&... parts);
cl_event new_event(cl_command_queue queue, cl_command_type type, std::uint32_t slot);

// A rectangle of host memory, and of what is on the device.
struct HostRect {
  std::byte* at;  // its first byte
  std::size_t row_pitch, slice_pitch;
  std::size_t width, height, depth;  // bytes, rows, slices
  [[nodiscard]] std::size_t size() const { return width * height * depth; }
};
// What one launch may print, which CL_DEVICE_PRINTF_BUFFER_SIZE says.
inline constexpr std::size_t kMostPrinted = 1 << 20;

void gather(const HostRect& from, std::byte* to);
void scatter(const std::byte* from, const HostRect& to);

// The first `count` commands of an ordered queue have ended.
void note_ended(cl_command_queue queue, std::uint64_t count);

// Data between the application and a memory object. `type` is what the event says; a queue of none is the driver's own.
struct Movement {
  cl_command_queue queue;
  cl_mem memory;
  cl_command_type type;
  bool blocking;
};
cl_int move_linear(const Movement& how, bool to_device, std::size_t offset, std::size_t size, std::byte* host,
                   const Waits& waits);
cl_int move_rect(const Movement& how, Work work, RectTransfer rect, const HostRect& host, const Waits& waits);

template <typename... Parts>
cl_int enqueue(Work work, cl_command_type type, cl_command_queue queue, const Waits& waits, const Parts&... parts) {
  std::uint32_t slot = kNoSlot;
  if (waits.out != nullptr) {
    slot = link().take_slot(CL_QUEUED);
    if (slot == kNoSlot) return CL_OUT_OF_HOST_MEMORY;
  }
  Writer message = begin(work, queue, slot, waits);
  (message.put(parts), ...);
  if (!link().post(message)) return kGone;
  if (waits.out != nullptr) *waits.out = new_event(queue, type, slot);
  return CL_SUCCESS;
}

#define WM_API(name, function) decltype(::name) function
WM_API(clGetPlatformIDs, get_platform_ids);
WM_API(clGetPlatformInfo, get_platform_info);
WM_API(clGetDeviceIDs, get_device_ids);
WM_API(clGetDeviceInfo, get_device_info);
WM_API(clCreateSubDevices, create_sub_devices);
WM_API(clRetainDevice, retain_device);
WM_API(clReleaseDevice, release_device);
WM_API(clGetDeviceAndHostTimer, get_device_and_host_timer);
WM_API(clGetHostTimer, get_host_timer);
WM_API(clCreateContext, create_context);
WM_API(clCreateContextFromType, create_context_from_type);
WM_API(clRetainContext, retain_context);
WM_API(clReleaseContext, release_context);
WM_API(clGetContextInfo, get_context_info);
WM_API(clSetContextDestructorCallback, set_context_destructor_callback);
WM_API(clCreateCommandQueue, create_command_queue);
WM_API(clCreateCommandQueueWithProperties, create_command_queue_with_properties);
WM_API(clRetainCommandQueue, retain_command_queue);
WM_API(clReleaseCommandQueue, release_command_queue);
WM_API(clGetCommandQueueInfo, get_command_queue_info);
WM_API(clSetCommandQueueProperty, set_command_queue_property);
WM_API(clFlush, flush);
WM_API(clFinish, finish);
WM_API(clCreateBuffer, create_buffer);
WM_API(clCreateBufferWithProperties, create_buffer_with_properties);
WM_API(clCreateSubBuffer, create_sub_buffer);
WM_API(clRetainMemObject, retain_mem_object);
WM_API(clReleaseMemObject, release_mem_object);
WM_API(clGetMemObjectInfo, get_mem_object_info);
WM_API(clSetMemObjectDestructorCallback, set_mem_object_destructor_callback);
WM_API(clEnqueueReadBuffer, enqueue_read_buffer);
WM_API(clEnqueueWriteBuffer, enqueue_write_buffer);
WM_API(clEnqueueReadBufferRect, enqueue_read_buffer_rect);
WM_API(clEnqueueWriteBufferRect, enqueue_write_buffer_rect);
WM_API(clEnqueueCopyBuffer, enqueue_copy_buffer);
WM_API(clEnqueueCopyBufferRect, enqueue_copy_buffer_rect);
WM_API(clEnqueueFillBuffer, enqueue_fill_buffer);
WM_API(clEnqueueMapBuffer, enqueue_map_buffer);
WM_API(clEnqueueMapImage, enqueue_map_image);
WM_API(clEnqueueUnmapMemObject, enqueue_unmap_mem_object);
WM_API(clEnqueueMigrateMemObjects, enqueue_migrate_mem_objects);
WM_API(clCreateImage, create_image);
WM_API(clCreateImageWithProperties, create_image_with_properties);
WM_API(clCreateImage2D, create_image_2d);
WM_API(clCreateImage3D, create_image_3d);
WM_API(clGetSupportedImageFormats, get_supported_image_formats);
WM_API(clGetImageInfo, get_image_info);
WM_API(clEnqueueReadImage, enqueue_read_image);
WM_API(clEnqueueWriteImage, enqueue_write_image);
WM_API(clEnqueueCopyImage, enqueue_copy_image);
WM_API(clEnqueueCopyImageToBuffer, enqueue_copy_image_to_buffer);
WM_API(clEnqueueCopyBufferToImage, enqueue_copy_buffer_to_image);
WM_API(clEnqueueFillImage, enqueue_fill_image);
WM_API(clCreateSampler, create_sampler);
WM_API(clCreateSamplerWithProperties, create_sampler_with_properties);
WM_API(clRetainSampler, retain_sampler);
WM_API(clReleaseSampler, release_sampler);
WM_API(clGetSamplerInfo, get_sampler_info);
WM_API(clCreateProgramWithSource, create_program_with_source);
WM_API(clCreateProgramWithBinary, create_program_with_binary);
WM_API(clCreateProgramWithBuiltInKernels, create_program_with_built_in_kernels);
WM_API(clCreateProgramWithIL, create_program_with_il);
WM_API(clRetainProgram, retain_program);
WM_API(clReleaseProgram, release_program);
WM_API(clBuildProgram, build_program);
WM_API(clCompileProgram, compile_program);
WM_API(clLinkProgram, link_program);
WM_API(clUnloadCompiler, unload_compiler);
WM_API(clUnloadPlatformCompiler, unload_platform_compiler);
WM_API(clGetProgramInfo, get_program_info);
WM_API(clGetProgramBuildInfo, get_program_build_info);
WM_API(clSetProgramReleaseCallback, set_program_release_callback);
WM_API(clSetProgramSpecializationConstant, set_program_specialization_constant);
WM_API(clCreateKernel, create_kernel);
WM_API(clCreateKernelsInProgram, create_kernels_in_program);
WM_API(clCloneKernel, clone_kernel);
WM_API(clRetainKernel, retain_kernel);
WM_API(clReleaseKernel, release_kernel);
WM_API(clSetKernelArg, set_kernel_arg);
WM_API(clGetKernelInfo, get_kernel_info);
WM_API(clGetKernelArgInfo, get_kernel_arg_info);
WM_API(clGetKernelWorkGroupInfo, get_kernel_work_group_info);
WM_API(clGetKernelSubGroupInfo, get_kernel_sub_group_info);
WM_API(clSetKernelExecInfo, set_kernel_exec_info);
WM_API(clSetKernelArgSVMPointer, set_kernel_arg_svm_pointer);
WM_API(clEnqueueNDRangeKernel, enqueue_nd_range_kernel);
WM_API(clEnqueueTask, enqueue_task);
WM_API(clEnqueueNativeKernel, enqueue_native_kernel);
WM_API(clWaitForEvents, wait_for_events);
WM_API(clGetEventInfo, get_event_info);
WM_API(clGetEventProfilingInfo, get_event_profiling_info);
WM_API(clRetainEvent, retain_event);
WM_API(clReleaseEvent, release_event);
WM_API(clSetEventCallback, set_event_callback);
WM_API(clCreateUserEvent, create_user_event);
WM_API(clSetUserEventStatus, set_user_event_status);
WM_API(clEnqueueMarker, enqueue_marker);
WM_API(clEnqueueBarrier, enqueue_barrier);
WM_API(clEnqueueWaitForEvents, enqueue_wait_for_events);
WM_API(clEnqueueMarkerWithWaitList, enqueue_marker_with_wait_list);
WM_API(clEnqueueBarrierWithWaitList, enqueue_barrier_with_wait_list);
WM_API(clGetExtensionFunctionAddress, get_extension_function_address);
WM_API(clGetExtensionFunctionAddressForPlatform, get_extension_function_address_for_platform);
#undef WM_API

}  // namespace wm::runtime::driver
