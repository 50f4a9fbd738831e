#include "runtime/device/fake_backend.h"

#include <stdexcept>

namespace wm::runtime {

struct EventObject {
  Status state = status::kRunning;
  DeviceTimes times;
  Submission::CompletionCallback* callback = nullptr;
};

namespace test {
namespace {

class FakeWords final : public ControlWordPool {
 public:
  explicit FakeWords(FakeBackend& backend) : backend_(backend) {}
  std::shared_ptr<ControlWord> take(Kind kind) override {
    auto word = std::make_shared<FakeWord>(kind == Kind::queue ? 0 : ~std::uint32_t{0});
    (kind == Kind::queue ? backend_.queue_words : backend_.control_words).push_back(word);
    return word;
  }

 private:
  FakeBackend& backend_;
};

// A flag is set when everything that was submitted to its queue before it has completed.
class FakeFlags final : public CompletionFlags {
 public:
  explicit FakeFlags(FakeBackend& backend) : backend_(backend) {}
  std::optional<Flag> enqueue(const QueueObject& queue, EventHandle) override {
    queues_.push_back(&queue);
    ++backend_.open_flags;
    return Flag{static_cast<std::uint32_t>(queues_.size() - 1), static_cast<std::uint32_t>(backend_.submitted.size())};
  }
  [[nodiscard]] bool is_set(const Flag& flag) const override {
    for (std::size_t i = 0; i < flag.number; ++i) {
      const FakeBackend::Submitted& s = backend_.submitted[i];
      if (s.queue == queues_[flag.place] && s.event != nullptr && !s.complete) return false;
    }
    return true;
  }
  void release(const Flag&) override { --backend_.open_flags; }

 private:
  FakeBackend& backend_;
  std::vector<const QueueObject*> queues_;
};

}  // namespace

Capabilities callback_device() {
  Capabilities c;
  c.completion_callbacks = true;
  c.free_timestamps = true;
  c.single_worker_batches = true;
  c.transfers_occupy_compute_units = true;
  return c;
}

Capabilities polled_device() {
  Capabilities c;
  c.costly_events = true;
  c.queues_excess_groups = true;
  return c;
}

FakeBackend::FakeBackend(const Capabilities& capabilities, std::uint32_t units)
    : capabilities_(capabilities), units_(units) {}

FakeBackend::~FakeBackend() = default;

gpu::SmLimits FakeBackend::limits() const {
  gpu::SmLimits limits;
  limits.total = {1024 * units_, 65'536 * units_, (32 << 10) * units_, units_};
  limits.warp_threads = 1;
  limits.register_unit = 1;
  limits.shared_unit = 1;
  return limits;
}

gpu::SmLimits FakeBackend::unit_limits() const {
  gpu::SmLimits limits = FakeBackend::limits();
  limits.total = {1024, 65'536, 32 << 10, 8};
  return limits;
}

std::unique_ptr<CompletionFlags> FakeBackend::make_completion_flags() {
  return has_flags ? std::make_unique<FakeFlags>(*this) : nullptr;
}

std::unique_ptr<ControlWordPool> FakeBackend::make_control_words() { return std::make_unique<FakeWords>(*this); }

Status FakeBackend::add(std::string what, const QueueObject& queue, EventHandle* event) {
  const Status status = std::exchange(next_status, status::kSuccess);
  if (status != status::kSuccess) return status;
  EventHandle made = nullptr;
  if (event != nullptr) {
    made = *event = new EventObject;
    ++open_events;
  }
  submitted.push_back({std::move(what), &queue, made, false});
  return status::kSuccess;
}

Status FakeBackend::launch(const QueueObject& queue, const KernelLaunch& launch, EventHandle* event) {
  std::string name = static_cast<const FakeKernel&>(*launch.kernel).name;
  // Workers have one group for each.
  if (name.ends_with("_workers")) {
    name = name.substr(0, name.find("_workers")) + "*" + std::to_string(launch.global[0] / (*launch.local)[0]);
  }
  const Status status = add(name, queue, event);
  if (status != status::kSuccess) return status;
  submitted.back().sharing = launch.sharing;
  submitted.back().launch = launch;
  submitted.back().launch.arguments = {};
  submitted.back().arguments.assign(launch.arguments.begin(), launch.arguments.end());
  if (!launch.arguments.empty() && launch.arguments.back().bytes != nullptr) {
    const KernelArgument& last = launch.arguments.back();
    submitted.back().last_value.assign(static_cast<const char*>(last.bytes), last.size);
  }
  submitted.back().launch.after = {};
  return status;
}

std::string FakeBackend::log() const {
  std::string text;
  for (const Submitted& s : submitted) text += (text.empty() ? "" : " ") + s.what + (s.event == nullptr ? "-" : "");
  return text;
}

void FakeBackend::complete(std::size_t index, Status status, std::uint64_t started, std::uint64_t ended) {
  Submitted& s = submitted.at(index);
  if (s.complete || s.event == nullptr) throw std::logic_error("this command cannot complete");
  s.complete = true;
  s.event->times = {started, started, ended};
  s.event->state = status;
  if (s.event->callback != nullptr) s.event->callback->completed(*s.event->callback, s.event, status);
}

Status FakeBackend::state(EventHandle event) const {
  if (on_query) on_query();
  return event->state;
}

DeviceTimes FakeBackend::times(EventHandle event, bool with_queued) const {
  DeviceTimes times = event->times;
  if (!with_queued) times.queued = 0;
  return times;
}

void FakeBackend::call_when_complete(EventHandle event, CompletionCallback& callback) { event->callback = &callback; }

// A command whose event was released is of no interest any more, as after a failure of the device.
void FakeBackend::release(EventHandle event) {
  for (Submitted& s : submitted) s.complete = s.complete || s.event == event;
  delete event;
  --open_events;
}

Made<QueueHandle> FakeBackend::create_queue(bool in_order, bool timed) {
  auto queue = std::make_shared<FakeQueue>();
  queue->in_order = in_order;
  queue->timed = timed;
  return {status::kSuccess, queue};
}

}  // namespace test
}  // namespace wm::runtime
