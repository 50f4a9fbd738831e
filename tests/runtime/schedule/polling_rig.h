// A polling thread over a fake device and a clock of which every look takes one nanosecond, so that the thread looks at
// events at the same times in every run: a look and the check after it take two nanoseconds beside the pause.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <unistd.h>
#include <vector>

#include "runtime/helper/thread_state.h"
#include "runtime/schedule/completion_rig.h"
#include "runtime/schedule/polling_completion.h"

namespace wm::runtime::test {

using Times = std::vector<std::uint64_t>;

struct PollingThreadTest : CompletionTest {
  PollingThreadTest() : CompletionTest(polled_device()) {
    backend.has_flags = true;
    make_source(false);
  }
  void make_source(bool with_flags, std::chrono::nanoseconds spins = std::chrono::microseconds(2)) {
    const PollingCompletion::Context context{backend, kernels, admission, clock, device_clock, false, spins};
    source =
        std::make_unique<PollingCompletion>(handler, context, with_flags ? backend.make_completion_flags() : nullptr);
  }
  // Lets the thread poll until everything has completed; `before_look` is called with the number of each look at an
  // event. Returns the times of these looks since the start.
  Times looks_until(const std::function<void(std::size_t look)>& before_look, std::size_t completions = 1) {
    Times looks;
    std::promise<void> finished;
    const std::uint64_t start = clock.time;
    clock.tick = 1;
    backend.on_query = [&] {
      looks.push_back(clock.time - start);
      before_look(looks.size());
    };
    handler.on_complete = [&] {
      reports.push_back(clock.time - start);
      handler.alarm.reset();
      if (handler.all.size() == completions) finished.set_value();
    };
    source->start();
    finished.get_future().wait();
    source->stop();
    clock.tick = 0;
    backend.on_query = {};
    return looks;
  }
  // The same, where the device's command `command` completes at the look `last`.
  Times looks_until(std::size_t last, std::size_t command = 0, std::size_t completions = 1) {
    return looks_until([=, this](std::size_t look) { return look == last ? backend.complete(command) : void(); },
                       completions);
  }
  // The time between the first two looks.
  std::uint64_t interval(std::size_t command = 0, std::size_t completions = 1) {
    const Times looks = looks_until(2, command, completions);
    return looks[1] - looks[0];
  }

  std::unique_ptr<PollingCompletion> source;
  Times reports;  // since the start, with completions or because an alarm was due
};

inline constexpr std::uint64_t kOften = 2'502, kRarely = 15'002;  // nanoseconds between two looks

}  // namespace wm::runtime::test
