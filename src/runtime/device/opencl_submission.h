// Work on OpenCL queues.
#pragma once

#include "runtime/device/opencl_objects.h"

namespace wm::runtime {

class GuardedLaunches;

class OpenClSubmission final : public Submission {
 public:
  explicit OpenClSubmission(const Native& native) : native_(native), cl_(native.cl) {}

  // From now on a launch whose kernel faults in this process fails with CL_OUT_OF_RESOURCES.
  void report_faults_of(GuardedLaunches& launches) { guarded_ = &launches; }

  Status launch(const QueueObject& queue, const KernelLaunch& launch, EventHandle* event) override;
  Status check_argument(const KernelObject& kernel, std::uint32_t index, const KernelArgument& argument) override;
  Status submit(const QueueObject& queue, const BufferTransfer& transfer, EventHandle* event) override;
  Status submit(const QueueObject& queue, const RectBufferTransfer& transfer, EventHandle* event) override;
  Status submit(const QueueObject& queue, const ImageTransfer& transfer, EventHandle* event) override;
  Status submit(const QueueObject& queue, const BufferCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const RectBufferCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const ImageCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const ImageToBufferCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const BufferToImageCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const BufferFill& fill, EventHandle* event) override;
  Status submit(const QueueObject& queue, const ImageFill& fill, EventHandle* event) override;
  Status submit_marker(const QueueObject& queue, EventHandle* event) override;
  void flush(const QueueObject& queue) override { cl_.Flush(runtime::native(queue)); }
  void finish(const QueueObject& queue) override { cl_.Finish(runtime::native(queue)); }
  [[nodiscard]] Status state(EventHandle event) const override;
  [[nodiscard]] DeviceTimes times(EventHandle event, bool with_queued) const override;
  void call_when_complete(EventHandle event, CompletionCallback& callback) override;
  void release(EventHandle event) override;

 private:
  // The buffer that a sub-buffer is part of, where `first` of the part lies further on.
  [[nodiscard]] cl_mem root_buffer(const MemoryObject& memory, std::size_t& first) const;
  // The size of an element of a one-dimensional image that shows a buffer; 0: it is no such image.
  [[nodiscard]] std::size_t buffer_image_element(const MemoryObject& image) const;
  Status fill_buffer_image(cl_command_queue queue, const ImageFill& fill, std::size_t element, cl_event* event) const;

  Status enqueue(const QueueObject& queue, const KernelLaunch& launch, EventHandle* event) const;

  const Native& native_;
  const NativeCalls& cl_;
  GuardedLaunches* guarded_ = nullptr;  // null: kernels run elsewhere
};

}  // namespace wm::runtime
