// A device that a test drives: commands complete when the test says so, and everything that was submitted is recorded.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "runtime/device/completion_flags.h"
#include "runtime/device/control_word_pool.h"
#include "runtime/device/fake_worker_tables.h"

namespace wm::runtime::test {

struct FakeQueue final : QueueObject {
  bool in_order = true, timed = true;
};
struct FakeMemory final : MemoryObject {};
struct FakeKernel final : KernelObject {
  explicit FakeKernel(std::string of) : name(std::move(of)) {}
  std::string name;
};

// A word that the test reads and writes beside the code under test.
class FakeWord final : public ControlWord {
 public:
  explicit FakeWord(std::uint32_t initial) : value(initial) {}
  [[nodiscard]] const MemoryObject& memory() const override { return memory_; }
  [[nodiscard]] EventHandle ready_event() override { return nullptr; }
  Status set(std::uint32_t to) override {
    value = to;
    return status::kSuccess;
  }
  [[nodiscard]] std::uint32_t get() const override { return value; }
  std::uint32_t value;

 private:
  FakeMemory memory_;
};

class FakeBackend final : public Backend, public Submission, public Allocation {
 public:
  // A device with `units` compute units, of one group each.
  explicit FakeBackend(const Capabilities& capabilities, std::uint32_t units = 4);
  ~FakeBackend() override;

  // The submitted commands in order: "k" for a launch of kernel k, "k*3" for three of its workers, "copy", "marker".
  struct Submitted {
    std::string what;
    const QueueObject* queue = nullptr;
    EventHandle event = nullptr;  // without one, it was submitted without an event
    bool complete = false;
    LaunchSharing sharing = {};
    KernelLaunch launch = {};  // without arguments and events
    std::vector<KernelArgument> arguments = {};
    std::string last_value = {};  // the bytes of the last argument, where it is a value
  };
  std::vector<Submitted> submitted;
  [[nodiscard]] std::string log() const;
  // The command completes. Device times are in nanoseconds.
  void complete(std::size_t index, Status status = status::kComplete, std::uint64_t started = 0,
                std::uint64_t ended = 0);
  std::size_t flushes = 0, finishes = 0, open_events = 0, open_flags = 0;
  Status next_status = status::kSuccess;  // status of the next submission
  std::vector<std::weak_ptr<FakeWord>> control_words, queue_words;
  std::vector<std::weak_ptr<FakeTable>> tables;
  bool no_tables = false, no_counters = false;  // the device has no memory for them
  std::atomic<bool> alive{true};
  bool has_flags = false;          // completions are seen by flags, set before the scheduler is made
  std::function<void()> on_query;  // called before an event's state is answered

  // --- Backend
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  Allocation& allocation() override { return *this; }
  Compilation& compilation() override { std::abort(); }
  Submission& submission() override { return *this; }
  [[nodiscard]] gpu::SmLimits limits() const override;
  [[nodiscard]] gpu::SmLimits unit_limits() const override;
  [[nodiscard]] std::uint32_t compute_units() const override {
    return capabilities_.limits_workers_by_unit ? units_ : 1;
  }
  [[nodiscard]] std::uint32_t reserved_local_bytes() const override { return 0; }
  [[nodiscard]] std::uint64_t memory_bytes() const override { return 1 << 20; }
  std::unique_ptr<ControlWordPool> make_control_words() override;
  std::unique_ptr<WorkerTables> make_worker_tables() override {
    return std::make_unique<FakeTables>(tables, no_tables, no_counters);
  }
  std::unique_ptr<CompletionFlags> make_completion_flags() override;
  [[nodiscard]] std::string platform_name() const override { return "fake"; }
  [[nodiscard]] std::string device_name() const override { return "fake"; }
  [[nodiscard]] std::string driver_version() const override { return "fake"; }
  Status device_info(std::uint32_t, std::vector<std::byte>&) const override { return status::kInvalidValue; }
  void probe_compiler() override {}
  [[nodiscard]] bool is_alive() const override { return alive; }

  // --- Submission
  Status launch(const QueueObject& queue, const KernelLaunch& launch, EventHandle* event) override;
  Status check_argument(const KernelObject&, std::uint32_t, const KernelArgument&) override { return next_status; }
  Status submit(const QueueObject& q, const BufferTransfer&, EventHandle* e) override { return add("copy", q, e); }
  Status submit(const QueueObject& q, const RectBufferTransfer&, EventHandle* e) override { return add("copy", q, e); }
  Status submit(const QueueObject& q, const ImageTransfer&, EventHandle* e) override { return add("copy", q, e); }
  Status submit(const QueueObject& q, const BufferCopy&, EventHandle* e) override { return add("copy", q, e); }
  Status submit(const QueueObject& q, const RectBufferCopy&, EventHandle* e) override { return add("copy", q, e); }
  Status submit(const QueueObject& q, const ImageCopy&, EventHandle* e) override { return add("copy", q, e); }
  Status submit(const QueueObject& q, const ImageToBufferCopy&, EventHandle* e) override { return add("copy", q, e); }
  Status submit(const QueueObject& q, const BufferToImageCopy&, EventHandle* e) override { return add("copy", q, e); }
  Status submit(const QueueObject& q, const BufferFill&, EventHandle* e) override { return add("copy", q, e); }
  Status submit(const QueueObject& q, const ImageFill&, EventHandle* e) override { return add("copy", q, e); }
  Status submit_marker(const QueueObject& q, EventHandle* e) override { return add("marker", q, e); }
  void flush(const QueueObject&) override { ++flushes; }
  void finish(const QueueObject&) override { ++finishes; }
  [[nodiscard]] Status state(EventHandle event) const override;
  [[nodiscard]] DeviceTimes times(EventHandle event, bool with_queued) const override;
  void call_when_complete(EventHandle event, CompletionCallback& callback) override;
  void release(EventHandle event) override;

  // --- Allocation
  Made<QueueHandle> create_queue(bool in_order, bool timed) override;
  Made<MemoryHandle> create_buffer(const BufferRequest&) override { return made<FakeMemory, MemoryHandle>(); }
  Made<MemoryHandle> create_sub_buffer(const MemoryHandle&, std::uint64_t, std::size_t, std::size_t) override {
    return made<FakeMemory, MemoryHandle>();
  }
  Made<MemoryHandle> create_image(const ImageRequest&) override { return made<FakeMemory, MemoryHandle>(); }
  Made<SamplerHandle> create_sampler(bool, std::uint32_t, std::uint32_t) override { return {}; }
  MemoryHandle pin(const QueueObject&, std::span<std::byte>) override { return nullptr; }
  void wipe(const QueueObject&, const MemoryObject&) override {}
  Status image_info(const MemoryObject&, std::uint32_t, std::vector<std::byte>&) override {
    return status::kInvalidValue;
  }
  Status image_formats(std::uint64_t, std::uint32_t, std::vector<std::byte>&) override { return status::kInvalidValue; }
  std::size_t element_bytes(const MemoryObject&) override { return 0; }

 private:
  template <typename Object, typename Handle>
  static Made<Handle> made() {
    return {status::kSuccess, std::make_shared<Object>()};
  }
  Status add(std::string what, const QueueObject& queue, EventHandle* event);

  const Capabilities capabilities_;
  const std::uint32_t units_;
};

// A device that calls back, as CPUs do, and one that is polled, as GPUs are.
[[nodiscard]] Capabilities callback_device();
[[nodiscard]] Capabilities polled_device();

}  // namespace wm::runtime::test
