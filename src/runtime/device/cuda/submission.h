// Work on the streams of the CUDA driver.
#pragma once

#include "runtime/device/cuda/events.h"
#include "runtime/device/cuda/launcher.h"
#include "runtime/device/cuda/objects.h"

namespace wm::runtime::cuda {

class CudaSubmission final : public Submission {
 public:
  CudaSubmission(Device& device, HostMemory& host, Events& events, Launcher& launcher)
      : device_(device), host_(host), events_(events), launcher_(launcher) {}

  Status launch(const QueueObject& queue, const KernelLaunch& launch, EventHandle* event) override;
  Status check_argument(const KernelObject& kernel, std::uint32_t index, const KernelArgument& argument) override;
  Status submit(const QueueObject& queue, const BufferTransfer& transfer, EventHandle* event) override;
  Status submit(const QueueObject& queue, const RectBufferTransfer& transfer, EventHandle* event) override;
  Status submit(const QueueObject& queue, const BufferCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const RectBufferCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const BufferFill& fill, EventHandle* event) override;
  Status submit(const QueueObject& queue, const ImageTransfer& transfer, EventHandle* event) override;
  Status submit(const QueueObject& queue, const ImageCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const ImageToBufferCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const BufferToImageCopy& copy, EventHandle* event) override;
  Status submit(const QueueObject& queue, const ImageFill& fill, EventHandle* event) override;
  Status submit_marker(const QueueObject& queue, EventHandle* event) override;
  // The driver sends work to the device as it comes.
  void flush(const QueueObject&) override {}
  void finish(const QueueObject& queue) override;
  [[nodiscard]] Status state(EventHandle event) const override { return events_.state(*of(event)); }
  [[nodiscard]] DeviceTimes times(EventHandle event, bool with_queued) const override;
  void call_when_complete(EventHandle event, CompletionCallback& callback) override;
  void release(EventHandle event) override;

 private:
  // Enqueues `work(stream)` with an event around it.
  template <typename Work>
  Status with_event(const QueueObject& queue, EventHandle* event, Work work);
  // Enqueues `copy(stream, host)` where `host` is memory that the device can reach by itself and that holds, or will
  // hold, the bytes of a transfer.
  template <typename Copy>
  Status through_pinned(const QueueObject& queue, bool to_device, std::span<std::byte> bytes, EventHandle* event,
                        Copy copy);
  Status copy_image_and_buffer(const QueueObject& queue, const MemoryObject& image, const MemoryObject& buffer,
                               std::size_t offset, const Size3& origin, const Size3& region, bool to_buffer,
                               EventHandle* event);
  Status blocking_transfer(const QueueObject& queue, const BufferTransfer& transfer, EventHandle* event);

  Device& device_;
  HostMemory& host_;
  Events& events_;
  Launcher& launcher_;
};

}  // namespace wm::runtime::cuda
