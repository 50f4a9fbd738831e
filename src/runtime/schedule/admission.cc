// Kernels: from a command whose turn has come to groups on the device, as the policy lets them.
#include <algorithm>

#include "runtime/schedule/scheduler.h"
#include "runtime/session/session.h"

namespace wm::runtime {
namespace {

std::uint32_t clipped(std::uint64_t n) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, 0xffffffffU)); }

// Items of a group; where the device chooses, the most it may choose.
std::uint64_t group_items(const LaunchPlan& plan) {
  std::uint64_t items = 1;
  for (cl_uint i = 0; i < plan.dimensions; ++i) items *= plan.local_given ? plan.local[i] : plan.global[i];
  return plan.local_given ? items : std::min(items, std::max<std::uint64_t>(plan.kernel->most_items, 1));
}

std::uint64_t groups(const LaunchPlan& plan) {
  std::uint64_t items = 1;
  for (cl_uint i = 0; i < plan.dimensions; ++i) items *= plan.global[i];
  const std::uint64_t each = std::max<std::uint64_t>(group_items(plan), 1);
  return (items + each - 1) / each;
}

}  // namespace

DeviceMachine::KernelArrival Scheduler::describe(Command& command, bool whole) {
  const LaunchPlan& plan = *command.launch;
  if (!whole) command.workers = as_workers(plan);
  DeviceMachine::KernelArrival launch;
  launch.function = plan.kernel->function;
  launch.stream = command.queue->number;
  launch.priority = command.client->state.statistics.priority;
  launch.share = command.client->state.statistics.share;
  if (command.workers) {
    const auto& local = command.workers->local;
    const std::uint32_t bytes = plan.local_bytes + plan.form->extra_local_bytes + local_reserve_;
    launch.footprint =
        gpu::footprint({clipped(local[0] * local[1] * local[2]), plan.form->registers, bytes}, machine_.limits());
    launch.groups = command.workers->groups;
    const std::uint32_t room = gpu::fit(launch.footprint, machine_.limits().total);
    launch.divisible = room != 0;
    // Chunks spare workers the way to the queue, but must not leave workers that have room without any.
    auto& chunk = command.workers->range.chunk;
    chunk = std::clamp(launch.groups / (2 * std::max(room, 1U)), 1U, std::max<std::uint32_t>(chunk, 1));
    if (launch.divisible) return launch;
    command.workers.reset();
  }
  launch.footprint =
      gpu::footprint({clipped(group_items(plan)), 0, plan.local_bytes + local_reserve_}, machine_.limits());
  launch.groups = clipped(groups(plan));
  return launch;
}

void Scheduler::arrive(const CommandPtr& command) {
  command->ready = now();
  // Nothing of it would be worth dividing before it has ended.
  const bool whole = is_short(*command, 0, alone(*command->client));
  command->kernel = machine_.arrive(describe(*command, whole));
  running_[command->kernel.index] = command;
  policy_->on(policy::KernelArrived{command->kernel}, machine_);
  regroup_ = true;
}

void Scheduler::start(policy::KernelId kernel, std::uint32_t groups) {
  // Held here: one that the device refuses is taken out of there.
  const CommandPtr command = running_.at(kernel.index);
  put_on_device(command, groups);
}

void Scheduler::put_on_device(const CommandPtr& command, std::uint32_t groups) {
  if (command->workers) return send_workers(command, groups);
  ClientStatistics& client = command->client->state.statistics;
  client.kernel = command->launch->kernel->name;
  ++client.launches;
  client.workers = groups;
  cl_event event = nullptr;
  command->submitted = now();
  client.waited_nanoseconds += command->submitted - command->ready;
  const bool unheard = can_skip_event(*command);
  const cl_int status = enqueue(*command->launch, command->queue->native.get(), unheard ? nullptr : &event);
  Queue& queue = *command->queue;
  queue.unheard = unheard ? queue.unheard + 1 : 0;
  queue.unheard_nanoseconds = unheard ? queue.unheard_nanoseconds + *expected(*command->launch) : 0;
  on_device(command, status, event);
}

bool Scheduler::alone(const Session& client) const {
  return std::all_of(running_.begin(), running_.end(),
                     [&](const auto& r) { return r.second->client.get() == &client; });
}

bool Scheduler::in_company() const { return !running_.empty() && !alone(*running_.begin()->second->client); }

bool Scheduler::has_kernel(const Session& client) const {
  return std::any_of(running_.begin(), running_.end(),
                     [&](const auto& r) { return r.second->client.get() == &client; });
}

void Scheduler::ride(const CommandPtr& command) {
  command->pipelined = true;
  ++command->client->state.pipelined_launches;
  command->expected = expected(*command->launch).value_or(0);
  command->client->state.ahead_nanoseconds += command->expected;
  command->ready = now();
  put_on_device(command, clipped(groups(*command->launch)));
}

void Scheduler::end_ride(Command& command) {
  command.pipelined = false;
  --command.client->state.pipelined_launches;
  command.client->state.ahead_nanoseconds -= command.expected;
  // Others follow before the last of them has ended; several at once, since each that is sent by itself must be heard
  // of by itself.
  const ClientState& client = command.client->state;
  const double most = alone(*command.client) ? short_alone_ : short_in_company_;
  if (client.pipelined_launches > kMaxPipelined / 2 || client.ahead_nanoseconds > most / 2) return;
  if (const CommandPtr sent = command.queue->sent.lock(); sent && sent->state == Command::State::submitted)
    let_follow(*sent);
}

std::optional<double> Scheduler::expected(const LaunchPlan& plan) {
  const double each = plan.kernel->group_nanoseconds;
  return each > 0 ? std::optional(each * static_cast<double>(groups(plan))) : std::nullopt;
}

bool Scheduler::prefers_unmodified(const Session& client, const LaunchPlan& plan) {
  const auto time = expected(plan);
  if (!time || *time >= short_alone_) return false;
  const std::lock_guard lock(mutex_);
  return alone(client);
}

bool Scheduler::is_short(const Command& command, double ahead, bool alone) const {
  if (!command.launch->may_run_unmodified) return false;
  if (!alone && one_by_one_) return false;  // workers of others hold the compute units; it would wait for all of them
  const auto time = expected(*command.launch);
  return time && *time + ahead < (alone ? short_alone_ : short_in_company_);
}

void Scheduler::learn(Command& command) {
  const auto count = static_cast<double>(groups(*command.launch));
  const double each = static_cast<double>(command.ended_at - command.started_at) / count;
  const double known = command.launch->kernel->group_nanoseconds;
  // The first may have been compiled on its way; what is so much shorter is believed at once.
  command.launch->kernel->group_nanoseconds = known > 2 * each || known <= 0 ? each : 0.75 * known + 0.25 * each;
}

void Scheduler::adopt(const CommandPtr& command) {
  end_ride(*command);
  command->kernel = machine_.arrive_started(describe(*command, true));
  running_[command->kernel.index] = command;
  policy_->on(policy::KernelArrived{command->kernel}, machine_);
  regroup_ = true;
}

// What the device still runs of a client that has gone nobody can stop. Others share what it leaves free.
void Scheduler::abandon_kernels(Session& client) {
  std::vector<CommandPtr> there;
  for (const auto& [id, command] : running_) {
    if (command->client.get() == &client) there.push_back(command);
  }
  for (const CommandPtr& command : there) {
    const policy::Kernel* view = machine_.find(command->kernel);
    command->held = {view->footprint, machine_.holds(command->kernel), now()};
    orphaned_.push_back(command);
    if (command == printing_) end_printing(command);
    running_.erase(command->kernel.index);
    machine_.abandon(command->kernel);
    policy_->on(policy::KernelDone{command->kernel}, machine_);
    command->kernel = policy::kNobody;
    regroup_ = true;
  }
}

cl_int Scheduler::try_argument(const Kernel& kernel, cl_uint index, const LaunchPlan::Value& value) {
  const std::lock_guard lock(mutex_);
  return native_.cl.SetKernelArg(kernel.native.get(), index, value.size,
                                 value.kind == ArgumentKind::local ? nullptr : value.bytes.data());
}

cl_int Scheduler::set_arguments(const LaunchPlan& plan, cl_kernel kernel) {
  for (cl_uint i = 0; i < plan.arguments.size(); ++i) {
    const LaunchPlan::Value& a = plan.arguments[i];
    cl_int status = CL_SUCCESS;
    if (a.kind == ArgumentKind::memory) {
      const cl_mem memory = a.memory->native.get();
      status = native_.cl.SetKernelArg(kernel, i, sizeof memory, &memory);
    } else if (a.kind == ArgumentKind::no_memory) {
      const cl_mem none = nullptr;
      status = native_.cl.SetKernelArg(kernel, i, sizeof none, &none);
    } else if (a.kind == ArgumentKind::sampler) {
      const cl_sampler sampler = a.sampler->native.get();
      status = native_.cl.SetKernelArg(kernel, i, sizeof sampler, &sampler);
    } else {
      status = native_.cl.SetKernelArg(kernel, i, a.size, a.kind == ArgumentKind::local ? nullptr : a.bytes.data());
    }
    if (status != CL_SUCCESS) return status;
  }
  return CL_SUCCESS;
}

cl_int Scheduler::enqueue(LaunchPlan& plan, cl_command_queue queue, cl_event* event) {
  const cl_kernel kernel = plan.kernel->native.get();
  if (const cl_int status = set_arguments(plan, kernel); status != CL_SUCCESS) return status;
  return native_.cl.EnqueueNDRangeKernel(queue, kernel, plan.dimensions, plan.offset.data(), plan.global.data(),
                                         plan.local_given ? plan.local.data() : nullptr, 0, nullptr, event);
}

}  // namespace wm::runtime
