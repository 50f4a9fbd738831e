#include "runtime/device/opencl_submission.h"

#include "runtime/device/guarded_launches.h"

namespace wm::runtime {

// Status codes go to clients as they are: the protocol carries OpenCL's numbers.
static_assert(status::kComplete == CL_COMPLETE && status::kQueued == CL_QUEUED);
static_assert(status::kDependencyFailed == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
static_assert(status::kInvalidMemoryObject == CL_INVALID_MEM_OBJECT);
static_assert(status::kInvalidKernelArguments == CL_INVALID_KERNEL_ARGS);
static_assert(status::kInvalidImageDescriptor == CL_INVALID_IMAGE_DESCRIPTOR);
static_assert(status::kInvalidImageFormatDescriptor == CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
static_assert(status::kImageFormatNotSupported == CL_IMAGE_FORMAT_NOT_SUPPORTED);
static_assert(status::kInvalidWorkGroupSize == CL_INVALID_WORK_GROUP_SIZE);
static_assert(status::kInvalidOperation == CL_INVALID_OPERATION && status::kInvalidKernel == CL_INVALID_KERNEL);
static_assert(status::kArgumentInfoNotAvailable == CL_KERNEL_ARG_INFO_NOT_AVAILABLE);
static_assert(status::kLinkProgramFailure == CL_LINK_PROGRAM_FAILURE && status::kInvalidBinary == CL_INVALID_BINARY);
static_assert(status::kCompileProgramFailure == CL_COMPILE_PROGRAM_FAILURE);
static_assert(status::kInvalidImageSize == CL_INVALID_IMAGE_SIZE && status::kInvalidProgram == CL_INVALID_PROGRAM);
static_assert(status::kInvalidArgumentSize == CL_INVALID_ARG_SIZE && status::kInvalidValue == CL_INVALID_VALUE);
static_assert(status::kMemoryAllocationFailure == CL_MEM_OBJECT_ALLOCATION_FAILURE);
static_assert(status::kOutOfResources == CL_OUT_OF_RESOURCES && status::kOutOfHostMemory == CL_OUT_OF_HOST_MEMORY);
static_assert(status::kBuildProgramFailure == CL_BUILD_PROGRAM_FAILURE);

Status OpenClSubmission::check_argument(const KernelObject& kernel, std::uint32_t index, const KernelArgument& a) {
  const cl_kernel to = runtime::native(kernel);
  switch (a.kind) {
    case ArgumentKind::memory: {
      const cl_mem memory = runtime::native(*a.memory);
      return cl_.SetKernelArg(to, index, sizeof memory, &memory);
    }
    case ArgumentKind::no_memory: {
      const cl_mem none = nullptr;
      return cl_.SetKernelArg(to, index, sizeof none, &none);
    }
    case ArgumentKind::sampler: {
      const cl_sampler sampler = runtime::native(*a.sampler);
      return cl_.SetKernelArg(to, index, sizeof sampler, &sampler);
    }
    case ArgumentKind::local:
      return cl_.SetKernelArg(to, index, a.size, nullptr);
    default:
      return cl_.SetKernelArg(to, index, a.size, a.bytes);
  }
}

Status OpenClSubmission::launch(const QueueObject& queue, const KernelLaunch& launch, EventHandle* event) {
  for (std::uint32_t i = 0; i < launch.arguments.size(); ++i) {
    if (const Status s = check_argument(*launch.kernel, i, launch.arguments[i]); s != CL_SUCCESS) return s;
  }
  if (guarded_ == nullptr || event == nullptr) return enqueue(queue, launch, event);
  const auto entry = guarded_->add(launch);
  const Status status = enqueue(queue, launch, event);
  if (status == CL_SUCCESS) {
    guarded_->submitted(entry, *event);
  } else {
    guarded_->remove(entry);
  }
  return status;
}

Status OpenClSubmission::enqueue(const QueueObject& queue, const KernelLaunch& launch, EventHandle* event) const {
  const auto* after = launch.after.empty() ? nullptr : reinterpret_cast<const cl_event*>(launch.after.data());
  return cl_.EnqueueNDRangeKernel(runtime::native(queue), runtime::native(*launch.kernel), launch.dimensions,
                                  launch.offset.data(), launch.global.data(),
                                  launch.local ? launch.local->data() : nullptr,
                                  static_cast<cl_uint>(launch.after.size()), after, runtime::native(event));
}

Status OpenClSubmission::submit(const QueueObject& queue, const BufferTransfer& t, EventHandle* event) {
  const cl_bool wait = t.blocking ? CL_TRUE : CL_FALSE;
  if (t.to_device) {
    return cl_.EnqueueWriteBuffer(runtime::native(queue), runtime::native(*t.memory), wait, t.offset, t.bytes.size(),
                                  t.bytes.data(), 0, nullptr, runtime::native(event));
  }
  return cl_.EnqueueReadBuffer(runtime::native(queue), runtime::native(*t.memory), wait, t.offset, t.bytes.size(),
                               t.bytes.data(), 0, nullptr, runtime::native(event));
}

Status OpenClSubmission::submit(const QueueObject& queue, const RectBufferTransfer& t, EventHandle* event) {
  const std::size_t zero[3] = {0, 0, 0};
  if (t.to_device) {
    return cl_.EnqueueWriteBufferRect(runtime::native(queue), runtime::native(*t.memory), CL_FALSE, t.origin.data(),
                                      zero, t.region.data(), t.row_pitch, t.slice_pitch, 0, 0, t.bytes.data(), 0,
                                      nullptr, runtime::native(event));
  }
  return cl_.EnqueueReadBufferRect(runtime::native(queue), runtime::native(*t.memory), CL_FALSE, t.origin.data(), zero,
                                   t.region.data(), t.row_pitch, t.slice_pitch, 0, 0, t.bytes.data(), 0, nullptr,
                                   runtime::native(event));
}

Status OpenClSubmission::submit(const QueueObject& queue, const ImageTransfer& t, EventHandle* event) {
  if (t.to_device) {
    return cl_.EnqueueWriteImage(runtime::native(queue), runtime::native(*t.image), CL_FALSE, t.origin.data(),
                                 t.region.data(), 0, 0, t.bytes.data(), 0, nullptr, runtime::native(event));
  }
  return cl_.EnqueueReadImage(runtime::native(queue), runtime::native(*t.image), CL_FALSE, t.origin.data(),
                              t.region.data(), 0, 0, t.bytes.data(), 0, nullptr, runtime::native(event));
}

Status OpenClSubmission::submit(const QueueObject& queue, const BufferCopy& c, EventHandle* event) {
  return cl_.EnqueueCopyBuffer(runtime::native(queue), runtime::native(*c.from), runtime::native(*c.to), c.from_offset,
                               c.to_offset, c.bytes, 0, nullptr, runtime::native(event));
}

// PoCL 3.1 crashes when a rectangle is copied from or to a sub-buffer, so the root buffers are given to it.
cl_mem OpenClSubmission::root_buffer(const MemoryObject& memory, std::size_t& first) const {
  const MemoryHandle& above = parent(memory);
  if (!above) return runtime::native(memory);
  std::size_t offset = 0;
  cl_.GetMemObjectInfo(runtime::native(memory), CL_MEM_OFFSET, sizeof offset, &offset, nullptr);
  first += offset;
  return root_buffer(*above, first);
}

Status OpenClSubmission::submit(const QueueObject& queue, const RectBufferCopy& c, EventHandle* event) {
  Size3 from_origin = c.from_origin, to_origin = c.to_origin;
  const cl_mem from = root_buffer(*c.from, from_origin[0]), to = root_buffer(*c.to, to_origin[0]);
  return cl_.EnqueueCopyBufferRect(runtime::native(queue), from, to, from_origin.data(), to_origin.data(),
                                   c.region.data(), c.from_row, c.from_slice, c.to_row, c.to_slice, 0, nullptr,
                                   runtime::native(event));
}

// PoCL 3.1 crashes on fills of images that show a buffer and on copies from them to buffers, and refuses to copy them
// to and from other images. The buffer is used in their place.
std::size_t OpenClSubmission::buffer_image_element(const MemoryObject& image) const {
  if (!parent(image)) return 0;
  std::size_t height = 1, element = 0;
  cl_.GetImageInfo(runtime::native(image), CL_IMAGE_HEIGHT, sizeof height, &height, nullptr);
  cl_.GetImageInfo(runtime::native(image), CL_IMAGE_ELEMENT_SIZE, sizeof element, &element, nullptr);
  return height == 0 ? element : 0;
}

Status OpenClSubmission::submit(const QueueObject& queue, const ImageCopy& c, EventHandle* event) {
  const std::size_t from_element = buffer_image_element(*c.from), to_element = buffer_image_element(*c.to);
  if (from_element != 0 && to_element != 0) {
    return submit(queue,
                  BufferCopy{parent(*c.from), parent(*c.to), c.from_origin[0] * from_element,
                             c.to_origin[0] * to_element, c.region[0] * from_element},
                  event);
  }
  if (from_element != 0) {
    return submit(
        queue, BufferToImageCopy{parent(*c.from), c.to, c.from_origin[0] * from_element, c.to_origin, c.region}, event);
  }
  if (to_element != 0) {
    return submit(queue, ImageToBufferCopy{c.from, parent(*c.to), c.from_origin, c.region, c.to_origin[0] * to_element},
                  event);
  }
  return cl_.EnqueueCopyImage(runtime::native(queue), runtime::native(*c.from), runtime::native(*c.to),
                              c.from_origin.data(), c.to_origin.data(), c.region.data(), 0, nullptr,
                              runtime::native(event));
}

Status OpenClSubmission::submit(const QueueObject& queue, const ImageToBufferCopy& c, EventHandle* event) {
  if (const std::size_t element = buffer_image_element(*c.image); element != 0) {
    return submit(queue,
                  BufferCopy{parent(*c.image), c.buffer, c.origin[0] * element, c.buffer_offset, c.region[0] * element},
                  event);
  }
  return cl_.EnqueueCopyImageToBuffer(runtime::native(queue), runtime::native(*c.image), runtime::native(*c.buffer),
                                      c.origin.data(), c.region.data(), c.buffer_offset, 0, nullptr,
                                      runtime::native(event));
}

Status OpenClSubmission::submit(const QueueObject& queue, const BufferToImageCopy& c, EventHandle* event) {
  return cl_.EnqueueCopyBufferToImage(runtime::native(queue), runtime::native(*c.buffer), runtime::native(*c.image),
                                      c.buffer_offset, c.origin.data(), c.region.data(), 0, nullptr,
                                      runtime::native(event));
}

Status OpenClSubmission::submit(const QueueObject& queue, const BufferFill& f, EventHandle* event) {
  return cl_.EnqueueFillBuffer(runtime::native(queue), runtime::native(*f.memory), f.pattern.data(), f.pattern.size(),
                               f.offset, f.bytes, 0, nullptr, runtime::native(event));
}

// A temporary image converts the colour to the stored format.
Status OpenClSubmission::fill_buffer_image(cl_command_queue queue, const ImageFill& f, std::size_t element,
                                           cl_event* event) const {
  cl_image_format format{};
  cl_.GetImageInfo(runtime::native(*f.image), CL_IMAGE_FORMAT, sizeof format, &format, nullptr);
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE1D;
  desc.image_width = f.region[0];
  cl_int status = CL_SUCCESS;
  const cl_mem colours = cl_.CreateImage(native_.context, CL_MEM_READ_WRITE, &format, &desc, nullptr, &status);
  if (status != CL_SUCCESS) return status;
  const std::size_t origin[3] = {0, 0, 0}, region[3] = {f.region[0], 1, 1};
  cl_event filled = nullptr;
  status = cl_.EnqueueFillImage(queue, colours, f.colour.data(), origin, region, 0, nullptr, &filled);
  if (status == CL_SUCCESS) {
    status = cl_.EnqueueCopyImageToBuffer(queue, colours, runtime::native(*parent(*f.image)), origin, region,
                                          f.origin[0] * element, 1, &filled, event);
    cl_.ReleaseEvent(filled);
  }
  cl_.ReleaseMemObject(colours);
  return status;
}

Status OpenClSubmission::submit(const QueueObject& queue, const ImageFill& f, EventHandle* event) {
  if (const std::size_t element = buffer_image_element(*f.image); element != 0) {
    return fill_buffer_image(runtime::native(queue), f, element, runtime::native(event));
  }
  return cl_.EnqueueFillImage(runtime::native(queue), runtime::native(*f.image), f.colour.data(), f.origin.data(),
                              f.region.data(), 0, nullptr, runtime::native(event));
}

Status OpenClSubmission::submit_marker(const QueueObject& queue, EventHandle* event) {
  return cl_.EnqueueMarkerWithWaitList(runtime::native(queue), 0, nullptr, runtime::native(event));
}

Status OpenClSubmission::state(EventHandle event) const {
  cl_int state = CL_QUEUED;
  const cl_int status =
      cl_.GetEventInfo(runtime::native(event), CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  if (status != CL_SUCCESS) return status;
  const bool faulted = state == CL_COMPLETE && guarded_ != nullptr && guarded_->faulted(event);
  return faulted ? CL_OUT_OF_RESOURCES : state;
}

void OpenClSubmission::release(EventHandle event) {
  if (guarded_ != nullptr) guarded_->released(event);
  cl_.ReleaseEvent(runtime::native(event));
}

DeviceTimes OpenClSubmission::times(EventHandle event, bool with_queued) const {
  const auto time = [&](cl_profiling_info name) {
    cl_ulong value = 0;
    cl_.GetEventProfilingInfo(runtime::native(event), name, sizeof value, &value, nullptr);
    return std::uint64_t{value};
  };
  return {with_queued ? time(CL_PROFILING_COMMAND_QUEUED) : 0, time(CL_PROFILING_COMMAND_START),
          time(CL_PROFILING_COMMAND_END)};
}

void OpenClSubmission::call_when_complete(EventHandle event, CompletionCallback& callback) {
  const auto completed = [](cl_event completed_event, cl_int status, void* data) CL_CALLBACK {
    auto& waiting = *static_cast<CompletionCallback*>(data);
    const auto handle = reinterpret_cast<EventHandle>(completed_event);
    const bool faulted = status == CL_COMPLETE && GuardedLaunches::instance().faulted(handle);
    waiting.completed(waiting, handle, faulted ? CL_OUT_OF_RESOURCES : status);
  };
  cl_.SetEventCallback(runtime::native(event), CL_COMPLETE, completed, &callback);
}

}  // namespace wm::runtime
