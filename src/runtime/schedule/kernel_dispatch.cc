#include "runtime/schedule/kernel_dispatch.h"

#include <algorithm>

#include "rewrite/chunk.h"
#include "runtime/schedule/sm_workers.h"
#include "runtime/schedule/worker_batch.h"

namespace wm::runtime {
namespace {

// A client's launches differ in the length of their groups. So a group counts as many instructions as it takes
// picoseconds of the isolated device, and every kernel executes 1,000 a nanosecond there.
std::uint64_t instructions_of(double group_nanoseconds) {
  constexpr double kUnknown = 1'000;
  return static_cast<std::uint64_t>(std::max((group_nanoseconds > 0 ? group_nanoseconds : kUnknown) * 1'000, 1.0));
}

std::uint32_t clipped(std::uint64_t n) { return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, 0xffffffffU)); }

}  // namespace

KernelDispatch::KernelDispatch(Backend& backend, std::unique_ptr<policy::Policy> policy,
                               const AdmissionOptions& options, const Clock& clock)
    : backend_(backend),
      clock_(clock),
      policy_(std::move(policy)),
      reserved_local_bytes_(backend.reserved_local_bytes()),
      admission_(make_admission_rules(options, backend.capabilities(), clock), kernels_) {
  make_machine(options.real_sms);
  policy_->on(policy::Started{}, *machine_);
}

bool needs_real_sms(const policy::Info& policy, const Capabilities& device) {
  return device.limits_workers_by_unit && !policy.needs.without(DeviceMachine::capabilities()).empty();
}

policy::Cans machine_capabilities(bool real_sms) {
  return real_sms ? SmMachine::capabilities() : DeviceMachine::capabilities();
}

void KernelDispatch::make_machine(bool real_sms) {
  const Capabilities& device = backend_.capabilities();
  if (real_sms) {
    auto machine = std::make_unique<SmMachine>(backend_.unit_limits(), backend_.compute_units(), 1);
    workers_ = std::make_unique<SmWorkers>(backend_, *machine, kernels_, clock_);
    machine_ = std::move(machine);
  } else {
    auto machine = std::make_unique<DeviceMachine>(backend_.limits(), 1, device.queues_excess_groups);
    workers_ = std::make_unique<WorkerBatches>(backend_, *machine, kernels_);
    machine_ = std::move(machine);
  }
}

std::optional<std::uint64_t> KernelDispatch::next_alarm() const {
  std::optional<std::uint64_t> next = workers_->next_observation();
  if (const auto alarm = machine_->next_alarm()) next = next ? std::min(*next, alarm->count) : alarm->count;
  return next;
}

void KernelDispatch::fire_due_alarms() {
  const auto due = next_alarm();
  if (!due || *due > machine_->now().count) return;
  workers_->observe();
  machine_->fire_due_alarms(*policy_);
  changed_ = true;
}

void KernelDispatch::set_policy(std::unique_ptr<policy::Policy> policy, const AdmissionOptions& options) {
  policy_ = std::move(policy);
  admission_.set_rules(make_admission_rules(options, backend_.capabilities(), clock_));
  machine_->forget_decisions();
  policy_->on(policy::Started{}, *machine_);
  std::vector<policy::KernelId> active;
  for (const policy::Kernel& k : machine_->kernels()) active.push_back(k.id);
  for (const policy::KernelId id : active) policy_->on(policy::KernelArrived{id}, *machine_);
  changed_ = true;
}

void KernelDispatch::update_weights(const Client& client) {
  const ClientStatistics& statistics = client.state.statistics;
  for (const CommandPtr& command : kernels_.of(client)) {
    machine_->set_weights(command->placement.kernel, statistics.priority, statistics.share);
    changed_ = true;
  }
}

gpu::Resources KernelDispatch::worker_footprint(const LaunchPlan& plan, const Size3& local) const {
  const std::uint32_t bytes = plan.local_bytes + plan.form->extra_local_bytes + reserved_local_bytes_;
  return gpu::footprint({clipped(local[0] * local[1] * local[2]), plan.form->registers, bytes}, machine_->limits());
}

gpu::Resources KernelDispatch::undivided_footprint(const LaunchPlan& plan) const {
  const std::uint32_t bytes = plan.local_bytes + reserved_local_bytes_;
  return gpu::footprint({clipped(group_items(plan)), plan.form->undivided_registers, bytes}, machine_->limits());
}

std::uint32_t KernelDispatch::room_for_workers(const Command& command) const {
  const auto sms = static_cast<std::uint32_t>(machine_->sms().size());
  return gpu::fit(worker_footprint(*command.launch, command.workers->local), machine_->limits().total) * sms;
}

void KernelDispatch::prepare_workers(Command& command) {
  command.workers = workers_->prepare(*command.launch, *command.queue);
  if (!command.workers) return;
  const std::uint32_t room = room_for_workers(command);
  if (room == 0) return command.workers.reset();
  const IsolatedTimes::Key key{command.launch->kernel->function, group_count(*command.launch)};
  command.workers->range.chunk =
      rewrite::choose_chunk({.groups = command.workers->groups,
                             .room = room,
                             .min = command.launch->form->chunk,
                             .max = command.launch->form->max_chunk,
                             .launch_nanoseconds = command.client->state.isolated_times.find(key).value_or(0)});
}

// As many workers as the device has room for: the limits that the kernels of the queue have are in its table.
Workers::Submitted KernelDispatch::pipeline_workers(Command& command, const Command& before) {
  if (!command.workers) prepare_workers(command);
  if (!command.workers) return {status::kOutOfResources, nullptr, nullptr};
  WorkerRun& run = *command.workers;
  run.before = {before.workers->counters, before.workers->groups};
  run.started_ahead = true;
  return workers_->submit(command, std::min(run.groups, room_for_workers(command)));
}

void KernelDispatch::register_pipelined_workers(const CommandPtr& command) {
  const bool came_too_soon = command->came_too_soon();
  command->workers->before = {};
  if (came_too_soon) return arrive(command);
  command->enter(Command::State::submitted);
  command->placement.kernel = machine_->arrive(describe(*command, false));
  add(command);
}

DeviceMachine::KernelArrival KernelDispatch::describe(Command& command, bool unmodified) {
  const LaunchPlan& plan = *command.launch;
  if (!unmodified && !admission_.bypasses_policy() && !command.workers) prepare_workers(command);
  DeviceMachine::KernelArrival arrival;
  arrival.function = plan.kernel->function;
  arrival.stream = command.queue->number;
  arrival.priority = command.client->state.statistics.priority;
  arrival.share = command.client->state.statistics.share;
  set_times(arrival, *command.client, plan);
  if (command.workers) {
    arrival.footprint = worker_footprint(plan, command.workers->local);
    arrival.groups = command.workers->groups;
    arrival.divisible = true;
    arrival.chunk = command.workers->range.chunk;
  } else {
    arrival.footprint =
        gpu::footprint({clipped(group_items(plan)), 0, plan.local_bytes + reserved_local_bytes_}, machine_->limits());
    arrival.groups = clipped(group_count(plan));
    // The policy sees the same needs whether its client's launches run as workers or keep their caps undivided.
    const auto local = worker_local_size(plan);
    if (local && command.queue->undivided_cap) arrival.footprint = worker_footprint(plan, *local);
  }
  arrival.undivided = undivided_footprint(plan);
  if (machine_->can(policy::Can::count_instructions)) {
    arrival.group_instructions = instructions_of(arrival.isolated_nanoseconds / arrival.groups);
  }
  return arrival;
}

void KernelDispatch::set_times(RuntimeMachine::KernelArrival& arrival, const Client& of, const LaunchPlan& plan) const {
  const ClientState& client = of.state;
  arrival.goal_nanoseconds = client.statistics.goal_nanoseconds;
  const double part = client.statistics.goal_part;
  if (arrival.goal_nanoseconds > 0 || part > 0 || machine_->can(policy::Can::count_instructions)) {
    const IsolatedTimes::Key key{plan.kernel->function, group_count(plan)};
    const auto measured = client.isolated_times.find(key);
    arrival.isolated_nanoseconds = measured ? *measured : client.estimated_times.find(key).value_or(0);
    // A part of a rate that is not known yet is no goal.
    if (part > 0) arrival.goal_nanoseconds = arrival.isolated_nanoseconds / part;
  } else {
    // The time of the launch on the device tells a policy its length, without the time of the client's calls.
    arrival.isolated_nanoseconds = expected_nanoseconds(plan).value_or(0);
  }
}

void KernelDispatch::add(const CommandPtr& command) {
  kernels_.add(command);
  kernels_.note_sharing(clock_);
  policy_->on(policy::KernelArrived{command->placement.kernel}, *machine_);
  changed_ = true;
}

void KernelDispatch::arrive(const CommandPtr& command) {
  command->times.ready = clock_.now();
  command->enter(Command::State::arrived);
  const bool unmodified = !command->workers && admission_.runs_unmodified(*command);
  command->placement.kernel = machine_->arrive(describe(*command, unmodified));
  add(command);
}

void KernelDispatch::register_running(const CommandPtr& command) {
  command->enter(Command::State::submitted);
  command->placement.kernel = machine_->arrive_started(describe(*command, true));
  add(command);
}

void KernelDispatch::dispatch(const std::function<void(const CommandPtr&, std::uint32_t)>& start) {
  changed_ = false;
  machine_->deliver_events(*policy_);
  policy_->on(policy::KernelSetChanged{}, *machine_);
  note_caps();
  workers_->shrink_to_caps();
  make_room_for_transfers();
  machine_->dispatch(
      [&](policy::KernelId kernel, std::uint32_t groups) {
        const CommandPtr command = kernels_.find(kernel);
        if (command->workers) workers_->tell_limits(*command);
        if (groups != 0) start(command, groups);
      },
      transfers_ != 0 ? 1 : 0);
  changed_ |= machine_->has_events();
}

void KernelDispatch::note_caps() {
  machine_->decide_undivided_caps();
  for (const auto& [id, command] : kernels_.all()) {
    command->queue->is_held = machine_->allowed(command->placement.kernel) == 0;
    command->queue->undivided_cap = machine_->undivided_cap(command->placement.kernel);
  }
}

Status KernelDispatch::launch(Command& command, EventHandle* event) {
  const LaunchPlan& plan = *command.launch;
  arguments_.clear();
  for (const LaunchPlan::Value& value : plan.arguments) arguments_.push_back(value.argument());
  KernelLaunch launch;
  launch.kernel = plan.kernel->handle.get();
  launch.arguments = arguments_;
  launch.dimensions = plan.dimensions;
  launch.offset = plan.offset;
  launch.global = plan.global;
  if (plan.local_given) launch.local = plan.local;
  if (backend_.capabilities().shares_launches) launch.sharing = sharing(command);
  return backend_.submission().launch(*command.queue->handle, launch, event);
}

// A cap of the policy counts groups on the whole device, and is kept where it leaves each compute unit some.
LaunchSharing KernelDispatch::sharing(const Command& command) const {
  LaunchSharing sharing = admission_.sharing(command);
  const Command::Placement& placement = command.placement;
  if (!admission_.bypasses_policy()) sharing.order_priority = order_priority(command);
  if (const auto& cap = command.queue->undivided_cap; cap && !admission_.bypasses_policy()) {
    sharing.min_group_bytes = cap->group_bytes;
    sharing.order_priority = cap->priority;
    return sharing;
  }
  if (placement.kernel == policy::kNoKernel || placement.started_at_once || admission_.bypasses_policy())
    return sharing;
  sharing.max_groups_per_unit = machine_->allowed_per_unit(placement.kernel, backend_.compute_units());
  return sharing;
}

// The last kernel in the order has priority 0, so that the launches of an isolated client are behind those of a client
// that arrives. A launch that follows others of its client before the policy knows of it has the place of these.
std::optional<int> KernelDispatch::order_priority(const Command& command) const {
  if (command.placement.kernel != policy::kNoKernel) return machine_->kernels_after(command.placement.kernel);
  std::optional<int> highest;
  for (const CommandPtr& active : kernels_.of(*command.client)) {
    const auto after = machine_->kernels_after(active->placement.kernel);
    if (after && (!highest || *after > *highest)) highest = after;
  }
  return highest;
}

void KernelDispatch::start_at_once(const CommandPtr& command) {
  command->times.ready = clock_.now();
  command->placement.started_at_once = true;
  register_running(command);
}

void KernelDispatch::finished(const CommandPtr& command, bool ran) {
  Command::Placement& placement = command->placement;
  if (command->launch && ran) {
    const bool known = placement.kernel != policy::kNoKernel;
    kernels_.note_sharing(clock_);
    sharing_cost_.note_completed(*command, clock_.now(), known ? machine_->used(placement.kernel) : 0,
                                 known ? machine_->isolated_estimate(placement.kernel) : 0);
  }
  if (placement.kernel != policy::kNoKernel) {
    kernels_.remove(placement.kernel);
    machine_->finish(placement.kernel);
    policy_->on(policy::KernelDone{placement.kernel}, *machine_);
    changed_ = true;
  }
  if (placement.orphaned) {
    machine_->give_back(placement.orphaned->footprint, placement.orphaned->groups);
    kernels_.remove_orphan(command);
    changed_ = true;
  }
}

double KernelDispatch::used_by_active(const Client& client) const {
  double sum = 0;
  for (const CommandPtr& command : kernels_.of(client)) sum += machine_->used(command->placement.kernel);
  return sum;
}

std::vector<CommandPtr> KernelDispatch::cancel_workers(const Client& client) {
  std::vector<CommandPtr> idle = kernels_.of(client);
  std::erase_if(idle, [](const CommandPtr& c) { return !c->workers; });
  for (const CommandPtr& command : idle) workers_->cancel(*command);
  std::erase_if(idle, [](const CommandPtr& c) { return !c->workers->batches.empty(); });
  return idle;
}

std::vector<CommandPtr> KernelDispatch::orphan_kernels(const Client& client) {
  std::vector<CommandPtr> orphans = kernels_.of(client);
  for (const CommandPtr& command : orphans) {
    Command::Placement& placement = command->placement;
    const policy::Kernel* view = machine_->find(placement.kernel);
    placement.orphaned = {view->footprint, machine_->holds(placement.kernel), clock_.now()};
    kernels_.add_orphan(command);
    kernels_.remove(placement.kernel);
    machine_->abandon(placement.kernel);
    policy_->on(policy::KernelDone{placement.kernel}, *machine_);
    placement.kernel = policy::kNoKernel;
    changed_ = true;
  }
  return orphans;
}

void KernelDispatch::begin_transfer(Command& command) {
  if (!backend_.capabilities().transfers_occupy_compute_units) return;
  command.placement.occupies_compute_unit = true;
  if (++transfers_ == 1 && !kernels_.empty()) changed_ = true;
}

void KernelDispatch::end_transfer(Command& command) {
  if (!command.placement.occupies_compute_unit) return;
  command.placement.occupies_compute_unit = false;
  if (--transfers_ == 0 && !kernels_.empty()) changed_ = true;
}

void KernelDispatch::make_room_for_transfers() {
  if (transfers_ == 0 || !machine_->full()) return;
  const CommandPtr chosen = admission_.makes_room();
  if (chosen) workers_->keep(*chosen, static_cast<std::uint32_t>(chosen->workers->batches.size()) - 1);
}

}  // namespace wm::runtime
