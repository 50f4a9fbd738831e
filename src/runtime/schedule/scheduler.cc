#include "runtime/schedule/scheduler.h"

#include <algorithm>
#include <chrono>

#include "runtime/device/device_limits.h"
#include "runtime/session/session.h"

namespace wm::runtime {
namespace {

constexpr std::uint32_t kMostUnflushed = 7;
constexpr cl_int kFailedBefore = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;

bool only_orders(CommandType work) { return work == CommandType::marker || work == CommandType::barrier; }
bool for_device(CommandType work) { return !only_orders(work) && work != CommandType::host_access; }

struct Call {
  Scheduler* scheduler;
  CommandPtr command;
  std::shared_ptr<WorkerBatch> batch;
};

}  // namespace

Scheduler::Scheduler(Native& native, ObjectCounts& census, const gpu::SmLimits& device,
                     std::unique_ptr<policy::Policy> policy, bool pass_through, double short_launch)
    : native_(native),
      census_(census),
      policy_(std::move(policy)),
      pass_through_(pass_through),
      short_alone_(3 * short_launch),
      short_in_company_(short_launch),
      one_by_one_(native.in_host_memory()),
      releases_(native, [&census] { return census.events == 0; }),
      words_(native),
      completion_flags_(native),
      local_reserve_(local_reserve(native)),
      machine_(device, 1, !one_by_one_) {
  policy_->on(policy::Started{}, machine_);
  if (native.in_host_memory()) {
    listener_ = std::thread([this] { listen(); });
    return;
  }
  listener_ = std::thread([this] { look(); });
  constexpr int kCarriers = 4;
  for (int i = 0; i < kCarriers; ++i) carriers_.emplace_back([this] { carry_on(); });
}

Scheduler::~Scheduler() {
  // The device calls back for what it still runs.
  while (census_.events != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  {
    const std::lock_guard lock(news_mutex_);
    stop_ = true;
  }
  news_.notify_all();
  cargo_there_.notify_all();
  listener_.join();
  for (std::thread& carrier : carriers_) carrier.join();
}

std::uint64_t Scheduler::now() const {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

void Scheduler::depend(const CommandPtr& command, const CommandPtr& on, bool order) {
  if (on == nullptr || on == command || on->state == Command::State::done) return;
  Command::Edge edge{command, order, false};
  // Already on the native queue that this one goes to: the device keeps their order. Workers may be sent again, and
  // would be overtaken.
  edge.early = order && on->state == Command::State::submitted && !on->workers && on->queue == command->queue &&
               may_follow(*command);
  if (!edge.early && on->state == Command::State::submitted) make_heard(*on);
  ++(edge.early ? command->trails : command->waits);
  on->after.push_back(std::move(edge));
}

bool Scheduler::may_follow(const Command& command) const {
  if (!for_device(command.work) || command.carried || !command.queue || !command.queue->in_order) return false;
  if (command.launch != nullptr && command.launch->prints) return false;
  if (command.launch == nullptr || pass_through_) return true;
  const ClientState& client = command.client->state;
  if (client.pipelined_launches >= kMaxPipelined) return false;
  const bool by_itself = alone(*command.client);
  return (by_itself && !command.launch->form->workers) || is_short(command, client.ahead_nanoseconds, by_itself);
}

void Scheduler::order_in_queue(const CommandPtr& command, bool explicit_waits) {
  Queue& queue = *command->queue;
  if (queue.in_order) {
    depend(command, queue.last.lock(), true);
    queue.last = command;
    return;
  }
  depend(command, queue.barrier.lock(), true);
  std::erase_if(queue.open, [](const auto& weak) {
    const CommandPtr open = weak.lock();
    return open == nullptr || open->state == Command::State::done;
  });
  const bool after_all = only_orders(command->work) && !explicit_waits;
  for (const auto& weak : queue.open) {
    if (after_all) depend(command, weak.lock(), true);
  }
  queue.open.push_back(command);
  if (command->work == CommandType::barrier) queue.barrier = command;
}

void Scheduler::add(const CommandPtr& command, std::span<const std::uint32_t> waits) {
  const std::lock_guard lock(mutex_);
  ClientState& client = command->client->state;
  ++client.statistics.outstanding;
  ++client.statistics.commands;
  ++command->client->outstanding;
  command->client->outstanding_bytes += command->message_bytes;
  ++census_.commands;
  command->received = now();
  for (const std::uint32_t slot : waits) {
    if (const auto it = client.open.find(slot); it != client.open.end()) depend(command, it->second, false);
    if (client.failed.contains(slot)) command->dependency_failed = true;
  }
  order_in_queue(command, !waits.empty() || command->dependency_failed);
  if (command->slot != kNoEvent) put_in_slot(command);
  if (command->waits == 0) ready_.push_back(command);
  work();
}

// A slot is one command's until it has ended. What a client that holds otherwise displaces is remembered: user events
// have no end of their own, and whatever waits for them would stay.
void Scheduler::put_in_slot(const CommandPtr& command) {
  ClientState& client = command->client->state;
  CommandPtr& place = client.open[command->slot];
  if (place) {
    std::erase_if(client.displaced, [](const CommandPtr& n) { return n->state == Command::State::done; });
    client.displaced.push_back(std::move(place));
  }
  place = command;
  client.failed.erase(command->slot);
}

void Scheduler::add_user_event(const std::shared_ptr<Session>& client, std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  auto command = std::make_shared<Command>();
  command->client = client;
  command->slot = slot;
  put_in_slot(command);
  ++client->state.statistics.outstanding;
  ++client->outstanding;
  ++census_.commands;
}

void Scheduler::set_user_event(Session& client, std::uint32_t slot, cl_int status) {
  const std::lock_guard lock(mutex_);
  const auto it = client.state.open.find(slot);
  if (it == client.state.open.end() || it->second->queue) return;
  finish(CommandPtr(it->second), std::min(status, cl_int{CL_COMPLETE}));
  work();
}

void Scheduler::end_host_access(Session& client, std::uint32_t slot) {
  const std::lock_guard lock(mutex_);
  const auto it = client.state.open.find(slot);
  if (it == client.state.open.end() || !it->second->host_access_active) return;
  finish(CommandPtr(it->second), CL_COMPLETE);
  work();
}

void Scheduler::drop(Session& client) {
  const std::lock_guard lock(mutex_);
  // What nobody will end any more ends here; what waits for it is swept out with it.
  std::vector<CommandPtr> users;
  for (const auto& [slot, command] : client.state.open) {
    if (!command->queue || command->host_access_active) users.push_back(command);
  }
  users.insert(users.end(), client.state.displaced.begin(), client.state.displaced.end());
  std::erase_if(users, [](const CommandPtr& command) { return command->queue && !command->host_access_active; });
  client.state.displaced.clear();
  for (const CommandPtr& command : users) finish(command, kFailedBefore);
  // Kernels that have arrived and not started leave the company.
  std::vector<CommandPtr> waiting;
  for (const auto& [id, command] : running_) {
    if (command->client.get() == &client && command->state == Command::State::waiting) waiting.push_back(command);
  }
  for (const CommandPtr& command : waiting) finish(command, kFailedBefore);
  drop_printers(client);
  call_off_workers(client);
  abandon_kernels(client);
  work();
}

// Everything that follows from what has just happened.
void Scheduler::work() {
  machine_.set_now(Cycles{now()});
  while (!ready_.empty() || regroup_) {
    while (!ready_.empty()) {
      const CommandPtr command = std::move(ready_.front());
      ready_.pop_front();
      submit(command);
    }
    if (!regroup_) continue;
    regroup_ = false;
    policy_->on(policy::KernelSetChanged{}, machine_);
    shrink_to_caps();
    machine_.dispatch([this](policy::KernelId kernel, std::uint32_t groups) { start(kernel, groups); },
                      errands_ != 0 ? 1 : 0);
  }
}

void Scheduler::submit(const CommandPtr& command) {
  const bool dropped = command->dependency_failed || command->client->closed();
  if (!dropped && command->slot != kNoEvent) command->client->show(command->slot, CL_SUBMITTED);
  if (dropped) {
    finish(command, kFailedBefore);
  } else if (command->work == CommandType::host_access) {
    command->host_access_active = true;
    command->client->show(command->slot, CL_RUNNING);
  } else if (!for_device(command->work)) {
    finish(command, CL_COMPLETE);
  } else if (waits_to_print(command)) {
    printers_.push_back(command);
  } else if (command->launch && command->trails != 0 && (pass_through_ || has_kernel(*command->client))) {
    ride(command);
  } else if (command->launch) {
    arrive(command);
  } else if (command->carried) {
    carry(command);
  } else {
    cl_event event = nullptr;
    command->submitted = now();
    const cl_int status = command->run(command->queue->native.get(), &event);
    if (status == CL_SUCCESS) begin_errand(*command);
    on_device(command, status, event);
  }
}

// The device has it, or has refused it.
void Scheduler::on_device(const CommandPtr& command, cl_int status, cl_event event,
                          const std::shared_ptr<WorkerBatch>& batch, cl_command_queue to) {
  if (status != CL_SUCCESS) {
    doubt_ = true;
    finish(command, status);
    return;
  }
  ++census_.events;
  command->state = Command::State::submitted;
  if (command->slot != kNoEvent) command->client->show(command->slot, CL_RUNNING);
  const cl_command_queue queue = to != nullptr ? to : command->queue->native.get();
  if (native_.in_host_memory()) {
    native_.cl.SetEventCallback(event, CL_COMPLETE, &Scheduler::on_ended, new Call{this, command, batch});
  } else {
    watch(queue, to == nullptr && command->queue->in_order, {command, event, CL_QUEUED, batch});
  }
  // A flush costs as much as a tenth of a launch; the next one's will do.
  const bool may_wait = command->followed && command->queue->in_order && !batch && !native_.in_host_memory();
  if (may_wait && command->queue->unflushed < kMostUnflushed) {
    ++command->queue->unflushed;
  } else {
    native_.cl.Flush(queue);
    command->queue->unflushed = 0;
  }
  // Workers may be sent again: what follows on the native queue would overtake them.
  if (batch) return;
  command->queue->sent = command;
  let_follow(*command);
}

void Scheduler::let_follow(Command& command) {
  for (Command::Edge& edge : command.after) {
    if (!edge.order || edge.early || edge.command->queue != command.queue || !may_follow(*edge.command)) continue;
    edge.early = true;
    ++edge.command->trails;
    if (--edge.command->waits == 0) ready_.push_back(edge.command);
  }
}

void CL_CALLBACK Scheduler::on_ended(cl_event event, cl_int status, void* data) {
  const std::unique_ptr<Call> call(static_cast<Call*>(data));
  {
    const std::lock_guard lock(call->scheduler->news_mutex_);
    call->scheduler->ended_.push_back({std::move(call->command), event, status, std::move(call->batch)});
    call->scheduler->pending_.store(true, std::memory_order_release);
  }
  call->scheduler->news_.notify_one();
}

void Scheduler::listen() {
  for (;;) {
    std::vector<Completion> ended;
    {
      std::optional<Cycles> alarm;
      bool busy = false;  // something is on the device
      {
        const std::lock_guard lock(mutex_);
        alarm = machine_.next_alarm();
        busy = census_.events != 0;
      }
      if (busy) spin_until([this] { return pending_.load(std::memory_order_acquire); });
      std::unique_lock lock(news_mutex_);
      const auto news = [this] { return stop_ || !ended_.empty(); };
      if (alarm) {
        using Clock = std::chrono::steady_clock;
        news_.wait_until(lock, Clock::time_point(Clock::duration(alarm->count)), news);
      } else {
        news_.wait(lock, news);
      }
      if (stop_ && ended_.empty()) return;
      ended.swap(ended_);
      pending_.store(false, std::memory_order_relaxed);
    }
    const std::lock_guard lock(mutex_);
    machine_.set_now(Cycles{now()});
    for (const Completion& e : ended) hear(e);
    ring();
    work();
  }
}

// What the policy wanted to be told by now.
void Scheduler::ring() {
  if (const auto due = machine_.next_alarm(); due && *due <= machine_.now()) {
    machine_.ring(*policy_);
    regroup_ = true;
  }
}

void Scheduler::hear(const Completion& ended) {
  Command& command = *ended.command;
  if (ended.status == CL_COMPLETE && !is_timed(command)) {
    guess_times(command, ended);
  } else if (ended.status == CL_COMPLETE && ended.time != 0 && !ended.times) {
    // Heard by its flag, and the driver does not tell yet: as we saw it, on the device's clock.
    note_times(command, {0, guessed_start(command, ended) + device_ahead_, ended.time + device_ahead_});
    command.queue->last_end = ended.time;
  } else if (ended.status == CL_COMPLETE) {
    note_times(command, ended.times ? *ended.times : times_of(ended.event, true));
  }
  if (ended.status < 0) doubt_ = true;
  if (ended.event != nullptr) native_.cl.ReleaseEvent(ended.event);
  --census_.events;
  if (ended.batch) return batch_completed(ended);
  command.status = ended.status;
  command.ended = true;
  if (command.trails == 0) finish(ended.command, ended.status);
}

Scheduler::DeviceTimes Scheduler::times_of(cl_event event, bool queued) const {
  const auto time = [&](cl_profiling_info name) {
    cl_ulong value = 0;
    native_.cl.GetEventProfilingInfo(event, name, sizeof value, &value, nullptr);
    return std::uint64_t{value};
  };
  return {queued ? time(CL_PROFILING_COMMAND_QUEUED) : 0, time(CL_PROFILING_COMMAND_START),
          time(CL_PROFILING_COMMAND_END)};
}

// The driver's mark is set some time after ours, a long time where we were interrupted between them: what is seen is
// never too little. Clocks drift by less than a part in 2048; one that leaps was set anew.
void Scheduler::compare_clocks(std::uint64_t ahead) {
  constexpr std::int64_t kLeap = 1'000'000'000;
  const std::uint64_t at = now();
  const std::uint64_t before = clocks_compared_;
  const auto drift = static_cast<std::int64_t>((at - before) / 2048);
  const auto more = static_cast<std::int64_t>(ahead - device_ahead_);
  const bool late = before != 0 && more > drift && more < kLeap;
  device_ahead_ = late ? device_ahead_ + static_cast<std::uint64_t>(drift) : ahead;
  clocks_compared_ = at;
}

void Scheduler::note_times(Command& command, const DeviceTimes& times) {
  command.ended_at = std::max(command.ended_at, times.ended);
  if (command.started_at != 0) return;  // not its first batch
  command.started_at = times.started;
  // The other two are the daemon's, on the device's clock.
  if (times.queued != 0) compare_clocks(times.queued - command.submitted);
  command.submitted_at = std::min(command.submitted + device_ahead_, command.started_at);
  command.queued_at = std::min(command.received + device_ahead_, command.submitted_at);
}

// Where the device was not asked: since it was given it, or since the one before ended.
std::uint64_t Scheduler::guessed_start(const Command& command, const Completion& ended) {
  return std::min(std::max(command.submitted, command.queue->last_end), ended.time);
}

// Of several that were seen to have ended at once each took its part.
void Scheduler::guess_times(Command& command, const Completion& ended) {
  Queue& queue = *command.queue;
  const std::uint64_t start = guessed_start(command, ended);
  command.ended_at = start + (ended.time - start) / ended.among;
  if (command.started_at == 0) command.started_at = start;
  queue.last_end = command.ended_at;
}

void Scheduler::finish(const CommandPtr& command, cl_int status) {
  if (command->state == Command::State::done) return;
  command->state = Command::State::done;
  command->status = status;
  ClientState& client = command->client->state;
  --client.statistics.outstanding;
  --command->client->outstanding;
  command->client->outstanding_bytes -= command->message_bytes;
  --census_.commands;
  if (command->kernel != policy::kNobody) {
    running_.erase(command->kernel.index);
    machine_.finish(command->kernel);
    policy_->on(policy::KernelDone{command->kernel}, machine_);
    regroup_ = true;
  }
  if (command->held) {
    machine_.give_back(command->held->footprint, command->held->groups);
    std::erase(orphaned_, command);
    regroup_ = true;
  }
  if (command->pipelined) end_ride(*command);
  if (command->errand) end_errand(*command);
  // Of what never was on the device: the daemon's times, on the device's clock.
  if (command->queue && command->ended_at == 0) {
    command->queued_at = command->received + device_ahead_;
    command->submitted_at = command->started_at = command->ended_at = now() + device_ahead_;
  }
  if (command->launch && command->ended) {
    client.statistics.device_nanoseconds += command->ended_at - command->started_at;
    client.statistics.workers = 0;
    learn(*command);
  }
  if (command == printing_) end_printing(command);
  if (command->slot != kNoEvent) {
    const auto place = client.open.find(command->slot);
    if (place != client.open.end() && place->second == command) client.open.erase(place);
    if (status < 0) client.failed[command->slot] = status;
    command->client->show_end(*command);
  }
  release_dependents(*command, status);
  // Lets go of the objects it used.
  if (command->carried) cleanup_.take(std::make_shared<decltype(command->run)>(std::move(command->run)));
  command->run = nullptr;
  command->launch.reset();
  command->workers.reset();
}

void Scheduler::release_dependents(Command& command, cl_int status) {
  const auto after = std::move(command.after);
  command.after.clear();
  for (const Command::Edge& edge : after) {
    Command& next = *edge.command;
    if (status < 0 && !edge.order) next.dependency_failed = true;
    if (edge.early) {
      if (--next.trails != 0) continue;
      if (next.ended) {
        finish(edge.command, next.status);
      } else if (next.pipelined) {
        adopt(edge.command);
      }
    } else if (--next.waits == 0) {
      ready_.push_back(edge.command);
    }
  }
}

ClientStatistics Scheduler::statistics(const Session& client) {
  const std::lock_guard lock(mutex_);
  ClientStatistics statistics = client.state.statistics;
  for (const auto& [id, command] : running_) {
    if (command->client.get() != &client || command->state != Command::State::submitted) continue;
    statistics.running_nanoseconds = std::max(statistics.running_nanoseconds, now() - command->submitted);
  }
  return statistics;
}

std::vector<Scheduler::OrphanedKernel> Scheduler::orphaned_kernels() {
  const std::lock_guard lock(mutex_);
  std::vector<OrphanedKernel> all;
  for (const CommandPtr& command : orphaned_) {
    all.push_back(
        {command->client, command->launch->kernel->name, now() - command->submitted, now() - command->held->since});
  }
  return all;
}

}  // namespace wm::runtime
