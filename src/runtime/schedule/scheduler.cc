#include "runtime/schedule/scheduler.h"

#include <algorithm>
#include <chrono>

#include "runtime/schedule/callback_completion.h"
#include "runtime/schedule/polling_completion.h"

namespace wm::runtime {
namespace {

using State = Command::State;

constexpr unsigned kTransferThreads = 4;

}  // namespace

const Clock& Scheduler::steady_clock() {
  static const SteadyClock clock;
  return clock;
}

Scheduler::Scheduler(Backend& backend, ObjectCounts& counts, std::unique_ptr<policy::Policy> policy,
                     const AdmissionOptions& options, const Clock& clock, std::chrono::nanoseconds max_awake)
    : backend_(backend),
      counts_(counts),
      clock_(clock),
      deferred_release_(backend, [&counts] { return counts.events == 0; }),
      dispatch_(backend, std::move(policy), options, clock),
      device_clock_(clock),
      completions_(make_completions(max_awake)),
      graph_(dispatch_.admission(), *completions_),
      printf_(backend.submission(), backend.capabilities().printf_needs_finish) {
  if (backend.capabilities().prefers_blocking_transfers) {
    transfers_.emplace(kTransferThreads, [this](const CommandPtr& command, Status status, EventHandle event) {
      transferred(command, status, event);
    });
  }
  if (&clock == &steady_clock()) completions_->start();
}

std::unique_ptr<CompletionSource> Scheduler::make_completions(std::chrono::nanoseconds max_awake) {
  const Capabilities& device = backend_.capabilities();
  CompletionHandler& handler = *this;
  if (device.completion_callbacks) {
    return std::make_unique<CallbackCompletion>(handler, backend_.submission(), counts_);
  }
  const PollingCompletion::Context context{
      backend_.submission(), dispatch_.kernels(),    dispatch_.admission(), clock_,
      device_clock_,         device.free_timestamps, spin_time(),           max_awake};
  return std::make_unique<PollingCompletion>(handler, context, backend_.make_completion_flags());
}

Scheduler::~Scheduler() {
  while (counts_.events != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  completions_->stop();
  transfers_.reset();
}

void Scheduler::add(const CommandPtr& command, std::span<const EventId> waits) {
  command->times.received = clock_.now();  // the wait for the lock counts
  mutex_.run([this, &command, waits] {
    ++command->client->state.statistics.outstanding;
    ++command->client->state.statistics.commands;
    ++command->client->outstanding;
    command->client->outstanding_bytes += command->message_bytes;
    ++counts_.commands;
    graph_.add(command, waits);
    work();
  });
}

void Scheduler::add_user_event(const std::shared_ptr<Client>& client, EventId event) {
  const std::lock_guard lock(mutex_);
  auto command = std::make_shared<Command>();
  command->client = client;
  command->event = event;
  CommandGraph::register_event(command);
  ++client->state.statistics.outstanding;
  ++client->outstanding;
  ++counts_.commands;
}

void Scheduler::set_user_event(Client& client, EventId event, Status status) {
  const std::lock_guard lock(mutex_);
  const CommandPtr command = CommandGraph::find(client, event);
  if (!command || command->queue) return;
  finish(command, std::min(status, status::kComplete));
  work();
}

void Scheduler::end_host_access(Client& client, EventId event) {
  const std::lock_guard lock(mutex_);
  const CommandPtr command = CommandGraph::find(client, event);
  if (!command || command->state() != State::host_access) return;
  finish(command, status::kComplete);
  work();
}

void Scheduler::drop(Client& client) {
  const std::lock_guard lock(mutex_);
  dispatch_.update_time();
  // Commands that wait for these fail with them.
  for (const CommandPtr& command : CommandGraph::take_unfinishable(client)) fail(command);
  for (const CommandPtr& command : dispatch_.kernels().of(client)) {
    if (command->state() == State::arrived) fail(command);
  }
  for (const CommandPtr& command : printf_.take(client)) fail(command);
  for (const CommandPtr& command : dispatch_.cancel_workers(client)) fail(command);
  for (const CommandPtr& command : dispatch_.orphan_kernels(client)) {
    if (printf_.is_printing(command)) end_printf(command);
  }
  work();
}

Status Scheduler::check_argument(const Kernel& kernel, std::uint32_t index, const LaunchPlan::Value& value) {
  const std::lock_guard lock(mutex_);
  return backend_.submission().check_argument(*kernel.handle, index, value.argument());
}

std::optional<Size3> Scheduler::local_size_of_workers(const LaunchPlan& plan) const {
  return dispatch_.admission().bypasses_policy() ? std::nullopt : worker_local_size(plan);
}

bool Scheduler::prefers_unmodified(const Client& client, const LaunchPlan& plan) {
  if (!dispatch_.admission().prefers_unmodified(plan)) return false;
  const std::lock_guard lock(mutex_);
  return dispatch_.kernels().is_isolated(client);
}

void Scheduler::work() {
  dispatch_.update_time();
  while (graph_.has_ready() || dispatch_.has_changed()) {
    while (graph_.has_ready()) submit(graph_.take_ready());
    if (!dispatch_.has_changed()) continue;
    dispatch_.dispatch([this](const CommandPtr& command, std::uint32_t groups) { start(command, groups); });
  }
  completions_->note_alarm();
}

void Scheduler::submit(const CommandPtr& command) {
  const bool after_fault = command->queue && command->queue->faulted;
  if (command->dependencies.failed || after_fault || command->client->closed()) return fail(command);
  if (command->event != kNoEvent) command->client->show_state(command->event, status::kSubmitted);
  if (command->type == CommandType::host_access) {
    command->enter(State::host_access);
    command->client->show_state(command->event, status::kRunning);
  } else if (!runs_on_device(command->type)) {
    finish(command, status::kComplete);
  } else if (!command->launch) {
    submit_transfer(command);
  } else if (command->launch->prints && !printf_.begin(command)) {
    return;
  } else if (dispatch_.admission().is_pipelined(*command)) {
    pipeline(command);
  } else if (dispatch_.admission().starts_at_once(*command)) {
    dispatch_.start_at_once(command);
    launch(command, static_cast<std::uint32_t>(std::min<std::uint64_t>(group_count(*command->launch), 0xffffffffU)),
           State::submitted);
  } else {
    dispatch_.arrive(command);
  }
}

void Scheduler::submit_transfer(const CommandPtr& command) {
  command->times.submitted = clock_.now();
  if (command->blocking_transfer && transfers_) {
    ++counts_.events;
    command->enter(State::transferring);
    if (command->event != kNoEvent) command->client->show_state(command->event, status::kRunning);
    return transfers_->add(command);
  }
  EventHandle event = nullptr;
  const bool without_event = only_uses_device(command->type) && completions_->can_skip_event(*command);
  const Status status = command->submit(*command->queue->handle, without_event ? nullptr : &event);
  if (status == status::kSuccess) dispatch_.begin_transfer(*command);
  submitted(command, State::submitted, status, event);
}

void Scheduler::transferred(const CommandPtr& command, Status status, EventHandle event) {
  const std::lock_guard lock(mutex_);
  Submission& submission = backend_.submission();
  if (status == status::kSuccess && command->queue->timed) {
    device_clock_.record(*command, submission.times(event, true));
  }
  if (event != nullptr) submission.release(event);
  --counts_.events;
  finish(command, status == status::kSuccess ? status::kComplete : status);
  work();
}

void Scheduler::submitted(const CommandPtr& command, State state, Status status, EventHandle event,
                          const std::shared_ptr<WorkerBatch>& batch) {
  if (status != status::kSuccess) {
    failed_command_ = true;
    return refuse(command, status);
  }
  ++counts_.events;
  if (command->state() != state) command->enter(state);
  if (command->event != kNoEvent) command->client->show_state(command->event, status::kRunning);
  const bool own_queue = batch && batch->extra_queue;
  const QueueHandle& queue = own_queue ? batch->extra_queue : command->queue->handle;
  Completion completion;
  completion.command = command;
  completion.event = event;
  completion.batch = batch;
  completions_->submitted(queue, !own_queue && command->queue->in_order, std::move(completion));
  if (own_queue) return;
  command->queue->last_submitted = command;
  graph_.release_followers(command);
  if (batch) pipeline_again_behind(*command);
}

void Scheduler::complete(std::span<const Completion> completions) {
  dispatch_.update_time();
  for (const Completion& c : completions) complete(c);
  dispatch_.fire_due_alarms();
  work();
}

void Scheduler::complete(const Completion& completion) {
  Command& command = *completion.command;
  if (completion.status == status::kComplete) record_times(command, completion);
  if (completion.status < 0) {
    failed_command_ = true;
    if (command.launch && completion.status == status::kOutOfResources) command.queue->faulted = true;
  }
  if (completion.event != nullptr) backend_.submission().release(completion.event);
  --counts_.events;
  if (completion.batch) {
    const bool complete = dispatch_.workers().completed(command, completion.batch, completion.status);
    dispatch_.note_change();
    if (complete) {
      command.enter(State::ended);
      if (command.dependencies.unobserved == 0) finish(completion.command, command.status);
    } else if (command.came_too_soon()) {
      pipeline_again(completion.command);
    }
    return;
  }
  // A command that completed after a fault on its queue may have read wrong data.
  const bool after_fault = completion.status == status::kComplete && command.queue->faulted;
  command.status = after_fault ? status::kDependencyFailed : completion.status;
  command.enter(State::ended);
  if (command.dependencies.unobserved == 0) finish(completion.command, command.status);
}

void Scheduler::record_times(Command& command, const Completion& completion) {
  const bool timed = command.queue->timed && (backend_.capabilities().free_timestamps || command.event != kNoEvent);
  if (!timed) {
    device_clock_.estimate(command, completion);
  } else if (completion.times) {
    device_clock_.record(command, *completion.times);
  } else if (completion.observed != 0) {
    device_clock_.record_observed(command, completion);
  } else {
    device_clock_.record(command, backend_.submission().times(completion.event, true));
  }
}

void Scheduler::finish(const CommandPtr& command, Status status) {
  if (command->state() == State::done) return;
  const bool ran = command->state() == State::ended;
  // The client was told that the launch is enqueued, and the memory that it would have written holds older data.
  const bool left_out = !ran && command->type == CommandType::launch && status < 0 && !command->start_awaited;
  if (left_out && status != status::kDependencyFailed) command->queue->faulted = true;
  command->enter(State::done);
  command->status = status;
  Client& client = *command->client;
  --client.state.statistics.outstanding;
  --client.outstanding;
  client.outstanding_bytes -= command->message_bytes;
  --counts_.commands;
  dispatch_.finished(command, ran);
  if (command->placement.pipelined_nanoseconds) end_pipelined(*command);
  dispatch_.end_transfer(*command);
  if (command->queue && command->times.device_ended == 0) device_clock_.record_unsubmitted(*command);
  if (command->launch && ran) {
    const std::uint64_t nanoseconds = command->times.device_ended - command->times.device_started;
    client.state.statistics.workers = 0;
    note_duration(*command->launch, nanoseconds, dispatch_.kernels().shared_until() >= command->times.submitted);
  }
  if (printf_.is_printing(command)) end_printf(command);
  CommandGraph::close_event(command, status);
  graph_.release_dependents(*command, status, [this](const CommandPtr& next) { observed(next); });
  // The objects it used are released. A blocking transfer may own a large region.
  if (command->blocking_transfer) cleanup_.take(std::make_shared<Command::Submit>(std::move(command->submit)));
  command->submit = nullptr;
  release_launch(*command);
  command->workers.reset();
}

// Unloading a program waits on some devices until no kernel runs, whose client may be another one.
void Scheduler::release_launch(Command& command) {
  if (command.launch && command.launch->kernel.use_count() == 1) {
    unloading_.take(std::shared_ptr<LaunchPlan>(std::move(command.launch)));
  }
  command.launch.reset();
}

// The commands behind it on its queue, such as clFinish, must not complete before those ahead of it.
void Scheduler::refuse(const CommandPtr& command, Status status) {
  if (command->state() != State::waiting || command->dependencies.unobserved == 0) return finish(command, status);
  command->status = status;
  command->enter(State::refused);
}

void Scheduler::observed(const CommandPtr& command) {
  if (command->state() == State::ended || command->state() == State::refused) {
    finish(command, command->status);
  } else if (command->state() == State::pipelined) {
    const bool is_off_device = command->came_too_soon();
    end_pipelined(*command);
    if (is_off_device && command->client->closed()) return fail(command);
    if (command->workers) return dispatch_.register_pipelined_workers(command);
    dispatch_.register_running(command);
  }
}

void Scheduler::start(const CommandPtr& command, std::uint32_t groups) {
  if (command->workers) return launch_workers(command, groups);
  launch(command, groups, State::submitted);
}

void Scheduler::note_form(const Command& command, bool as_workers) {
  ClientStatistics& client = command.client->state.statistics;
  client.kernel = command.launch->kernel->name;
  ++client.launches;
  if (as_workers) ++client.as_workers;
  dispatch_.admission().note_launch(command);
  if (dispatch_.admission().bypasses_policy() || !worker_local_size(*command.launch)) return;
  const bool is_short = dispatch_.admission().runs_unmodified(command);
  command.queue->short_launches = is_short ? command.queue->short_launches + 1 : 0;
  command.launch->kernel->ran_unmodified = !as_workers;
  if (!as_workers) ++(command.queue->undivided_cap ? client.unmodified_capped : client.unmodified_short);
}

void Scheduler::launch(const CommandPtr& command, std::uint32_t groups, State state) {
  note_form(*command, false);
  ClientStatistics& client = command->client->state.statistics;
  client.workers = groups;
  command->times.submitted = clock_.now();
  client.waited_nanoseconds += command->times.submitted - command->times.ready;
  EventHandle event = nullptr;
  const bool without_event = completions_->can_skip_event(*command);
  const Status status = dispatch_.launch(*command, without_event ? nullptr : &event);
  submitted(command, state, status, event);
}

void Scheduler::launch_workers(const CommandPtr& command, std::uint32_t workers) {
  if (std::exchange(command->workers->started_ahead, false)) return;
  ClientStatistics& client = command->client->state.statistics;
  const std::uint32_t per_batch = dispatch_.workers().workers_per_batch(workers);
  for (std::uint32_t sent = 0; sent < workers && command->state() != State::done; sent += per_batch) {
    const bool first = command->state() == State::arrived;
    // Workers behind another launch that came too soon were counted.
    const bool is_new = first && command->workers->submitted == 0;
    if (is_new) note_form(*command, true);
    if (first) {
      command->times.submitted = clock_.now();
      client.waited_nanoseconds += command->times.submitted - command->times.ready;
    }
    if (!is_new) ++client.repeated_workers;
    const bool others_run = !command->workers->batches.empty();
    const auto batch = dispatch_.workers().submit(*command, per_batch);
    if (batch.status != status::kSuccess && others_run) continue;
    client.workers = per_batch + (first ? 0 : client.workers);
    submitted(command, State::submitted, batch.status, batch.event, batch.batch);
  }
}

void Scheduler::pipeline(const CommandPtr& command) {
  ClientState& client = command->client->state;
  const double expected = expected_nanoseconds(*command->launch).value_or(0);
  command->placement.pipelined_nanoseconds = expected;
  ++client.pipelined_launches;
  client.pipelined_nanoseconds += expected;
  command->times.ready = clock_.now();
  const CommandPtr before = command->dependencies.on_queue.lock();
  if (before && before->workers) return pipeline_workers(command, *before);
  const std::uint64_t groups = std::min<std::uint64_t>(group_count(*command->launch), 0xffffffffU);
  launch(command, static_cast<std::uint32_t>(groups), State::pipelined);
}

void Scheduler::pipeline_workers(const CommandPtr& command, const Command& before) {
  if (!command->workers) {
    note_form(*command, true);
    ++command->client->state.statistics.queued_workers;
  } else {
    ++command->client->state.statistics.repeated_workers;
  }
  command->times.submitted = clock_.now();
  const auto batch = dispatch_.pipeline_workers(*command, before);
  submitted(command, State::pipelined, batch.status, batch.event, batch.batch);
}

// Its workers came too soon. They are submitted again once the launch before it was, without waiting for that.
void Scheduler::pipeline_again(const CommandPtr& command) {
  const CommandPtr before = command->dependencies.on_queue.lock();
  if (before && before->workers && before->workers->may_be_followed()) pipeline_workers(command, *before);
}

void Scheduler::pipeline_again_behind(const Command& command) {
  const auto& dependents = command.dependencies.dependents;
  const auto behind = std::find_if(dependents.begin(), dependents.end(), [](const Command::Edge& edge) {
    return edge.same_queue && edge.command->came_too_soon();
  });
  if (behind != dependents.end()) pipeline_again(behind->command);
}

void Scheduler::end_pipelined(Command& command) {
  ClientState& client = command.client->state;
  --client.pipelined_launches;
  client.pipelined_nanoseconds -= *command.placement.pipelined_nanoseconds;
  command.placement.pipelined_nanoseconds.reset();
  if (!command.workers && !dispatch_.admission().wants_refill(*command.client)) return;
  // Further launches are submitted before the last of these has completed.
  const CommandPtr last = command.queue->last_submitted.lock();
  if (last && last->on_device()) graph_.release_followers(last);
}

void Scheduler::end_printf(const CommandPtr& command) {
  const auto& orphans = dispatch_.kernels().orphans();
  const bool mixed = std::any_of(orphans.begin(), orphans.end(), [](const CommandPtr& c) { return c->launch->prints; });
  if (CommandPtr next = printf_.end(command, mixed)) graph_.make_ready(std::move(next));
}

void Scheduler::set_weights(Client& client, int priority, double share) {
  const std::lock_guard lock(mutex_);
  client.state.statistics.priority = priority;
  client.state.statistics.share = share;
  dispatch_.update_weights(client);
  work();
}

void Scheduler::set_policy(std::unique_ptr<policy::Policy> policy, const AdmissionOptions& options) {
  const std::lock_guard lock(mutex_);
  dispatch_.update_time();
  dispatch_.set_policy(std::move(policy), options);
  work();
}

ClientStatistics Scheduler::statistics(const Client& client) {
  const std::lock_guard lock(mutex_);
  dispatch_.update_time();
  ClientStatistics statistics = client.state.statistics;
  statistics.device_nanoseconds += static_cast<std::uint64_t>(dispatch_.used_by_active(client));
  for (const CommandPtr& command : dispatch_.kernels().of(client)) {
    if (!command->on_device()) continue;
    statistics.running_nanoseconds = std::max(statistics.running_nanoseconds, clock_.now() - command->times.submitted);
  }
  return statistics;
}

std::vector<Scheduler::OrphanedKernel> Scheduler::orphaned_kernels() {
  const std::lock_guard lock(mutex_);
  std::vector<OrphanedKernel> all;
  for (const CommandPtr& command : dispatch_.kernels().orphans()) {
    const std::uint64_t now = clock_.now();
    all.push_back({command->client, command->launch->kernel->name, now - command->times.submitted,
                   now - command->placement.orphaned->since});
  }
  return all;
}

std::vector<std::string> Scheduler::admission_rules() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> rules;
  for (const auto& rule : dispatch_.admission().rules()) rules.push_back(rule->name() + ": " + rule->description());
  return rules;
}

}  // namespace wm::runtime
