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
  // There are no images on this backend.
  Status submit(const QueueObject&, const ImageTransfer&, EventHandle*) override { return status::kInvalidOperation; }
  Status submit(const QueueObject&, const ImageCopy&, EventHandle*) override { return status::kInvalidOperation; }
  Status submit(const QueueObject&, const ImageToBufferCopy&, EventHandle*) override {
    return status::kInvalidOperation;
  }
  Status submit(const QueueObject&, const BufferToImageCopy&, EventHandle*) override {
    return status::kInvalidOperation;
  }
  Status submit(const QueueObject&, const ImageFill&, EventHandle*) override { return status::kInvalidOperation; }
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
  Status blocking_transfer(const QueueObject& queue, const BufferTransfer& transfer, EventHandle* event);
  Code fill(Stream stream, Address at, const BufferFill& fill) const;

  Device& device_;
  HostMemory& host_;
  Events& events_;
  Launcher& launcher_;
};

}  // namespace wm::runtime::cuda
