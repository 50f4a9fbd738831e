// A source of completions over a fake device, and a handler that collects what it reports.
#pragma once

#include <functional>
#include <gtest/gtest.h>
#include <vector>

#include "runtime/device/object_counts.h"
#include "runtime/schedule/active_kernels.h"
#include "runtime/schedule/admission.h"
#include "runtime/schedule/completion.h"
#include "runtime/schedule/device_clock.h"
#include "runtime/schedule/fixture.h"

namespace wm::runtime::test {

struct Collected final : CompletionHandler {
  SpinMutex& mutex() override { return lock; }
  [[nodiscard]] std::optional<std::uint64_t> next_alarm() const override {
    if (on_choice) on_choice();
    return alarm;
  }
  void complete(std::span<const Completion> completions) override {
    all.insert(all.end(), completions.begin(), completions.end());
    if (on_complete) on_complete();
  }
  SpinMutex lock;
  std::vector<Completion> all;
  std::optional<std::uint64_t> alarm;
  std::function<void()> on_choice;    // called when the polling thread has chosen the events that it watches
  std::function<void()> on_complete;  // called with every report
};

// A completion source over a fake device.
struct CompletionTest : testing::Test {
  explicit CompletionTest(const Capabilities& device) : backend(device) {}
  ~CompletionTest() override {
    for (const Completion& c : handler.all) {
      if (c.event != nullptr) backend.release(c.event);
    }
  }
  // A launch on the device.
  CommandPtr submit(CompletionSource& source, const std::shared_ptr<Queue>& queue, const LaunchOptions& options = {},
                    bool next_queued = false) {
    auto command = make_launch(client, queue, "k", options);
    command->next_queued = next_queued;
    command->times.submitted = clock.now();
    KernelLaunch launch;
    launch.kernel = command->launch->kernel->handle.get();
    Completion completion;
    completion.command = command;
    const bool without_event = source.can_skip_event(*command);
    backend.launch(*queue->handle, launch, without_event ? nullptr : &completion.event);
    command->enter(Command::State::submitted);
    source.submitted(queue->handle, queue->in_order, std::move(completion));
    return command;
  }
  [[nodiscard]] std::vector<CommandPtr> completed() const {
    std::vector<CommandPtr> found;
    for (const Completion& c : handler.all) found.push_back(c.command);
    return found;
  }

  std::shared_ptr<FakeClient> client = std::make_shared<FakeClient>(), other = std::make_shared<FakeClient>();
  FakeBackend backend;
  ManualClock clock;
  DeviceClock device_clock{clock};
  ActiveKernels kernels;
  Admission admission{make_admission_rules({}, backend.capabilities(), clock), kernels};
  ObjectCounts counts;
  Collected handler;
};

}  // namespace wm::runtime::test
