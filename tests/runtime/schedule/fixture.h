// Commands, clients and a clock for tests of the scheduler's parts.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/device/fake_backend.h"
#include "runtime/schedule/clock.h"
#include "runtime/schedule/command.h"

namespace wm::runtime::test {

// Stands still until the test advances it; with a `tick`, every look at it takes that time, so that loops end.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] std::uint64_t now() const override { return time += tick; }
  void sleep_for(std::chrono::nanoseconds asleep) const override { time += static_cast<std::uint64_t>(asleep.count()); }
  mutable std::uint64_t time = 1'000'000;
  std::uint64_t tick = 0;
};

struct FakeClient final : Client {
  [[nodiscard]] bool closed() const override { return gone; }
  void show_state(EventId event, Status state) override { states[event] = state; }
  void show_completion(const Command& command) override { states[command.event] = command.status; }
  [[nodiscard]] Identity identity() const override { return {1, "fake", 2}; }
  // The execution state of an event; 99: nothing was shown.
  [[nodiscard]] Status shown(EventId event) const {
    const auto it = states.find(event);
    return it == states.end() ? 99 : it->second;
  }
  bool gone = false;
  std::map<EventId, Status> states;
};

inline std::shared_ptr<Queue> make_queue(bool in_order = true, bool timed = true) {
  static std::uint64_t number = 0;
  auto queue = std::make_shared<Queue>();
  auto handle = std::make_shared<FakeQueue>();
  handle->in_order = in_order;
  queue->handle = handle;
  queue->in_order = in_order;
  queue->timed = timed;
  queue->number = ++number;
  return queue;
}

inline std::shared_ptr<Kernel> make_kernel(const std::string& name) {
  auto kernel = std::make_shared<Kernel>();
  kernel->handle = std::make_shared<FakeKernel>(name);
  kernel->name = name;
  kernel->max_items = 1024;
  return kernel;
}

inline std::shared_ptr<const KernelForm> make_form(const std::string& name, bool workers) {
  auto form = std::make_shared<KernelForm>();
  if (workers) form->workers = std::make_shared<FakeKernel>(name + "_workers");
  form->max_items = 1024;
  return form;
}

inline CommandPtr make_command(const std::shared_ptr<Client>& client, const std::shared_ptr<Queue>& queue,
                               CommandType type, EventId event = kNoEvent) {
  auto command = std::make_shared<Command>();
  command->client = client;
  command->queue = queue;
  command->type = type;
  command->event = event;
  return command;
}

inline CommandPtr make_transfer(Submission& submission, const std::shared_ptr<Client>& client,
                                const std::shared_ptr<Queue>& queue, EventId event = kNoEvent) {
  auto command = make_command(client, queue, CommandType::read, event);
  command->submit = [&submission](const QueueObject& to, EventHandle* made) {
    return submission.submit(to, BufferTransfer{}, made);
  };
  return command;
}

struct LaunchOptions {
  std::uint32_t groups = 8;
  bool workers = false;          // its kernel was rewritten
  double group_nanoseconds = 0;  // known from earlier launches
  bool prints = false;
  EventId event = kNoEvent;
};

inline CommandPtr make_launch(const std::shared_ptr<Client>& client, const std::shared_ptr<Queue>& queue,
                              const std::string& name, const LaunchOptions& options = {}) {
  auto command = make_command(client, queue, CommandType::launch, options.event);
  auto plan = std::make_unique<LaunchPlan>();
  plan->kernel = make_kernel(name);
  plan->kernel->group_nanoseconds = options.group_nanoseconds;
  plan->form = make_form(name, options.workers);
  plan->global = {options.groups * 16UL, 1, 1};
  plan->local = {16, 1, 1};
  plan->local_given = true;
  plan->prints = options.prints;
  command->launch = std::move(plan);
  return command;
}

}  // namespace wm::runtime::test
