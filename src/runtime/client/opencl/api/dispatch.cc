// The dispatch table of the ICD loader, and the symbols that it looks up.
#include "runtime/client/opencl/api/api.h"

namespace wm::runtime::client {
namespace {

// Functions of features that are not supported (pipes, shared virtual memory) return the errors of OpenCL 3.0.
cl_mem create_pipe(cl_context, cl_mem_flags, cl_uint, cl_uint, const cl_pipe_properties*, cl_int* status_out) {
  if (status_out != nullptr) *status_out = CL_INVALID_OPERATION;
  return nullptr;
}
cl_int get_pipe_info(cl_mem, cl_pipe_info, std::size_t, void*, std::size_t*) { return CL_INVALID_MEM_OBJECT; }
void* svm_alloc(cl_context, cl_svm_mem_flags, std::size_t, cl_uint) { return nullptr; }
void svm_free(cl_context, void*) {}
cl_int svm_enqueue_free(cl_command_queue, cl_uint, void**, void(CL_CALLBACK*)(cl_command_queue, cl_uint, void**, void*),
                        void*, cl_uint, const cl_event*, cl_event*) {
  return CL_INVALID_OPERATION;
}
cl_int svm_copy(cl_command_queue, cl_bool, void*, const void*, std::size_t, cl_uint, const cl_event*, cl_event*) {
  return CL_INVALID_OPERATION;
}
cl_int svm_fill(cl_command_queue, void*, const void*, std::size_t, std::size_t, cl_uint, const cl_event*, cl_event*) {
  return CL_INVALID_OPERATION;
}
cl_int svm_map(cl_command_queue, cl_bool, cl_map_flags, void*, std::size_t, cl_uint, const cl_event*, cl_event*) {
  return CL_INVALID_OPERATION;
}
cl_int svm_unmap(cl_command_queue, void*, cl_uint, const cl_event*, cl_event*) { return CL_INVALID_OPERATION; }
cl_int svm_migrate(cl_command_queue, cl_uint, const void**, const std::size_t*, cl_mem_migration_flags, cl_uint,
                   const cl_event*, cl_event*) {
  return CL_INVALID_OPERATION;
}
cl_int set_default_device_queue(cl_context, cl_device_id, cl_command_queue) { return CL_INVALID_OPERATION; }

void set_object_functions(cl_icd_dispatch& t) {
  t.clGetPlatformIDs = get_platform_ids;
  t.clGetPlatformInfo = get_platform_info;
  t.clGetDeviceIDs = get_device_ids;
  t.clGetDeviceInfo = get_device_info;
  t.clCreateSubDevices = create_sub_devices;
  t.clRetainDevice = retain_device;
  t.clReleaseDevice = release_device;
  t.clGetDeviceAndHostTimer = get_device_and_host_timer;
  t.clGetHostTimer = get_host_timer;
  t.clCreateContext = create_context;
  t.clCreateContextFromType = create_context_from_type;
  t.clRetainContext = retain_context;
  t.clReleaseContext = release_context;
  t.clGetContextInfo = get_context_info;
  t.clSetContextDestructorCallback = set_context_destructor_callback;
  t.clCreateCommandQueue = create_command_queue;
  t.clCreateCommandQueueWithProperties = create_command_queue_with_properties;
  t.clRetainCommandQueue = retain_command_queue;
  t.clReleaseCommandQueue = release_command_queue;
  t.clGetCommandQueueInfo = get_command_queue_info;
  t.clSetCommandQueueProperty = set_command_queue_property;
  t.clCreateBuffer = create_buffer;
  t.clCreateBufferWithProperties = create_buffer_with_properties;
  t.clCreateSubBuffer = create_sub_buffer;
  t.clCreateImage = create_image;
  t.clCreateImageWithProperties = create_image_with_properties;
  t.clCreateImage2D = create_image_2d;
  t.clCreateImage3D = create_image_3d;
  t.clRetainMemObject = retain_mem_object;
  t.clReleaseMemObject = release_mem_object;
  t.clGetSupportedImageFormats = get_supported_image_formats;
  t.clGetMemObjectInfo = get_mem_object_info;
  t.clGetImageInfo = get_image_info;
  t.clSetMemObjectDestructorCallback = set_mem_object_destructor_callback;
  t.clCreateSampler = create_sampler;
  t.clCreateSamplerWithProperties = create_sampler_with_properties;
  t.clRetainSampler = retain_sampler;
  t.clReleaseSampler = release_sampler;
  t.clGetSamplerInfo = get_sampler_info;
  t.clCreatePipe = create_pipe;
  t.clGetPipeInfo = get_pipe_info;
}

void programs(cl_icd_dispatch& t) {
  t.clCreateProgramWithSource = create_program_with_source;
  t.clCreateProgramWithBinary = create_program_with_binary;
  t.clCreateProgramWithBuiltInKernels = create_program_with_built_in_kernels;
  t.clCreateProgramWithIL = create_program_with_il;
  t.clRetainProgram = retain_program;
  t.clReleaseProgram = release_program;
  t.clBuildProgram = build_program;
  t.clCompileProgram = compile_program;
  t.clLinkProgram = link_program;
  t.clUnloadCompiler = unload_compiler;
  t.clUnloadPlatformCompiler = unload_platform_compiler;
  t.clGetProgramInfo = get_program_info;
  t.clGetProgramBuildInfo = get_program_build_info;
  t.clSetProgramReleaseCallback = set_program_release_callback;
  t.clSetProgramSpecializationConstant = set_program_specialization_constant;
  t.clCreateKernel = create_kernel;
  t.clCreateKernelsInProgram = create_kernels_in_program;
  t.clCloneKernel = clone_kernel;
  t.clRetainKernel = retain_kernel;
  t.clReleaseKernel = release_kernel;
  t.clSetKernelArg = set_kernel_arg;
  t.clSetKernelArgSVMPointer = set_kernel_arg_svm_pointer;
  t.clSetKernelExecInfo = set_kernel_exec_info;
  t.clGetKernelInfo = get_kernel_info;
  t.clGetKernelArgInfo = get_kernel_arg_info;
  t.clGetKernelWorkGroupInfo = get_kernel_work_group_info;
  t.clGetKernelSubGroupInfo = get_kernel_sub_group_info;
  t.clGetKernelSubGroupInfoKHR = get_kernel_sub_group_info;
  t.clGetExtensionFunctionAddress = get_extension_function_address;
  t.clGetExtensionFunctionAddressForPlatform = get_extension_function_address_for_platform;
}

void set_command_functions(cl_icd_dispatch& t) {
  t.clWaitForEvents = wait_for_events;
  t.clGetEventInfo = get_event_info;
  t.clCreateUserEvent = create_user_event;
  t.clSetUserEventStatus = set_user_event_status;
  t.clSetEventCallback = set_event_callback;
  t.clRetainEvent = retain_event;
  t.clReleaseEvent = release_event;
  t.clGetEventProfilingInfo = get_event_profiling_info;
  t.clFlush = flush;
  t.clFinish = finish;
  t.clEnqueueReadBuffer = enqueue_read_buffer;
  t.clEnqueueWriteBuffer = enqueue_write_buffer;
  t.clEnqueueReadBufferRect = enqueue_read_buffer_rect;
  t.clEnqueueWriteBufferRect = enqueue_write_buffer_rect;
  t.clEnqueueCopyBuffer = enqueue_copy_buffer;
  t.clEnqueueCopyBufferRect = enqueue_copy_buffer_rect;
  t.clEnqueueFillBuffer = enqueue_fill_buffer;
  t.clEnqueueReadImage = enqueue_read_image;
  t.clEnqueueWriteImage = enqueue_write_image;
  t.clEnqueueCopyImage = enqueue_copy_image;
  t.clEnqueueCopyImageToBuffer = enqueue_copy_image_to_buffer;
  t.clEnqueueCopyBufferToImage = enqueue_copy_buffer_to_image;
  t.clEnqueueFillImage = enqueue_fill_image;
  t.clEnqueueMapBuffer = enqueue_map_buffer;
  t.clEnqueueMapImage = enqueue_map_image;
  t.clEnqueueUnmapMemObject = enqueue_unmap_mem_object;
  t.clEnqueueMigrateMemObjects = enqueue_migrate_mem_objects;
  t.clEnqueueNDRangeKernel = enqueue_nd_range_kernel;
  t.clEnqueueTask = enqueue_task;
  t.clEnqueueNativeKernel = enqueue_native_kernel;
  t.clEnqueueMarker = enqueue_marker;
  t.clEnqueueBarrier = enqueue_barrier;
  t.clEnqueueWaitForEvents = enqueue_wait_for_events;
  t.clEnqueueMarkerWithWaitList = enqueue_marker_with_wait_list;
  t.clEnqueueBarrierWithWaitList = enqueue_barrier_with_wait_list;
  t.clSVMAlloc = svm_alloc;
  t.clSVMFree = svm_free;
  t.clEnqueueSVMFree = svm_enqueue_free;
  t.clEnqueueSVMMemcpy = svm_copy;
  t.clEnqueueSVMMemFill = svm_fill;
  t.clEnqueueSVMMap = svm_map;
  t.clEnqueueSVMUnmap = svm_unmap;
  t.clEnqueueSVMMigrateMem = svm_migrate;
  t.clSetDefaultDeviceCommandQueue = set_default_device_queue;
}

cl_icd_dispatch filled() {
  cl_icd_dispatch table{};
  set_object_functions(table);
  programs(table);
  set_command_functions(table);
  return table;
}

}  // namespace

const cl_icd_dispatch* dispatch_table() {
  static const cl_icd_dispatch table = filled();
  return &table;
}

}  // namespace wm::runtime::client

// The loader looks these up by name in the library, and calls all others through the table.
extern "C" {
__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL clIcdGetPlatformIDsKHR(cl_uint entries,
                                                                                              cl_platform_id* platforms,
                                                                                              cl_uint* count) {
  return wm::runtime::client::get_platform_ids(entries, platforms, count);
}
__attribute__((visibility("default"))) CL_API_ENTRY void* CL_API_CALL clGetExtensionFunctionAddress(const char* name) {
  return wm::runtime::client::get_extension_function_address(name);
}
__attribute__((visibility("default"))) CL_API_ENTRY cl_int CL_API_CALL clGetPlatformInfo(cl_platform_id platform,
                                                                                         cl_platform_info name,
                                                                                         size_t size, void* value,
                                                                                         size_t* size_ret) {
  return wm::runtime::client::get_platform_info(platform, name, size, value, size_ret);
}
}
