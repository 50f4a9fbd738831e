// Kernels: from a command whose turn has come to groups on the device, as the policy lets them.
#include <algorithm>

#include "runtime/daemon/scheduler.h"
#include "runtime/daemon/session.h"

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

DeviceMachine::Launch Scheduler::describe(Node& node, bool whole) {
  const LaunchPlan& plan = *node.launch;
  if (!whole) node.workers = as_workers(plan);
  DeviceMachine::Launch launch;
  launch.function = plan.kernel->function;
  launch.stream = node.queue->number;
  launch.priority = node.client->standing.figures.priority;
  launch.share = node.client->standing.figures.share;
  if (node.workers) {
    const auto& local = node.workers->local;
    const std::uint32_t bytes = plan.local_bytes + plan.form->extra_local_bytes + local_reserve_;
    launch.footprint =
        gpu::footprint({clipped(local[0] * local[1] * local[2]), plan.form->registers, bytes}, machine_.limits());
    launch.groups = node.workers->groups;
    const std::uint32_t room = gpu::fit(launch.footprint, machine_.limits().total);
    launch.divisible = room != 0;
    // Chunks spare workers the way to the queue, but must not leave workers that have room without any.
    auto& chunk = node.workers->range.chunk;
    chunk = std::clamp(launch.groups / (2 * std::max(room, 1U)), 1U, std::max<std::uint32_t>(chunk, 1));
    if (launch.divisible) return launch;
    node.workers.reset();
  }
  launch.footprint =
      gpu::footprint({clipped(group_items(plan)), 0, plan.local_bytes + local_reserve_}, machine_.limits());
  launch.groups = clipped(groups(plan));
  return launch;
}

void Scheduler::arrive(const NodePtr& node) {
  node->ready = now();
  // Nothing of it would be worth dividing before it has ended.
  const bool whole = is_short(*node, 0, alone(*node->client));
  node->kernel = machine_.arrive(describe(*node, whole));
  running_[node->kernel.index] = node;
  policy_->on(policy::KernelArrived{node->kernel}, machine_);
  regroup_ = true;
}

void Scheduler::start(policy::KernelId kernel, std::uint32_t groups) {
  // Held here: one that the device refuses is taken out of there.
  const NodePtr node = running_.at(kernel.index);
  put_on_device(node, groups);
}

void Scheduler::put_on_device(const NodePtr& node, std::uint32_t groups) {
  if (node->workers) return send_workers(node, groups);
  Figures& client = node->client->standing.figures;
  client.kernel = node->launch->kernel->name;
  ++client.launches;
  client.workers = groups;
  cl_event event = nullptr;
  node->submitted = now();
  client.waited_nanoseconds += node->submitted - node->ready;
  const bool unheard = goes_unheard(*node);
  const cl_int status = enqueue(*node->launch, node->queue->native.get(), unheard ? nullptr : &event);
  Queue& queue = *node->queue;
  queue.unheard = unheard ? queue.unheard + 1 : 0;
  queue.unheard_nanoseconds = unheard ? queue.unheard_nanoseconds + *expected(*node->launch) : 0;
  on_device(node, status, event);
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

void Scheduler::ride(const NodePtr& node) {
  node->rides = true;
  ++node->client->standing.riders;
  node->expected = expected(*node->launch).value_or(0);
  node->client->standing.ahead_nanoseconds += node->expected;
  node->ready = now();
  put_on_device(node, clipped(groups(*node->launch)));
}

void Scheduler::end_ride(Node& node) {
  node.rides = false;
  --node.client->standing.riders;
  node.client->standing.ahead_nanoseconds -= node.expected;
  // Others follow before the last of them has ended; several at once, since each that is sent by itself must be heard
  // of by itself.
  const Standing& client = node.client->standing;
  const double most = alone(*node.client) ? short_alone_ : short_in_company_;
  if (client.riders > kMostRiders / 2 || client.ahead_nanoseconds > most / 2) return;
  if (const NodePtr sent = node.queue->sent.lock(); sent && sent->state == Node::State::submitted) let_follow(*sent);
}

std::optional<double> Scheduler::expected(const LaunchPlan& plan) {
  const double each = plan.kernel->group_nanoseconds;
  return each > 0 ? std::optional(each * static_cast<double>(groups(plan))) : std::nullopt;
}

bool Scheduler::rather_whole(const Session& client, const LaunchPlan& plan) {
  const auto time = expected(plan);
  if (!time || *time >= short_alone_) return false;
  const std::lock_guard lock(mutex_);
  return alone(client);
}

bool Scheduler::is_short(const Node& node, double ahead, bool alone) const {
  if (!node.launch->may_be_whole) return false;
  if (!alone && one_by_one_) return false;  // workers of others hold the compute units; it would wait for all of them
  const auto time = expected(*node.launch);
  return time && *time + ahead < (alone ? short_alone_ : short_in_company_);
}

void Scheduler::learn(Node& node) {
  const auto count = static_cast<double>(groups(*node.launch));
  const double each = static_cast<double>(node.ended_at - node.started_at) / count;
  const double known = node.launch->kernel->group_nanoseconds;
  // The first may have been compiled on its way; what is so much shorter is believed at once.
  node.launch->kernel->group_nanoseconds = known > 2 * each || known <= 0 ? each : 0.75 * known + 0.25 * each;
}

void Scheduler::adopt(const NodePtr& node) {
  end_ride(*node);
  node->kernel = machine_.arrive_started(describe(*node, true));
  running_[node->kernel.index] = node;
  policy_->on(policy::KernelArrived{node->kernel}, machine_);
  regroup_ = true;
}

// What the device still runs of a client that has gone nobody can stop. Others share what it leaves free.
void Scheduler::abandon_kernels(Session& client) {
  std::vector<NodePtr> there;
  for (const auto& [id, node] : running_) {
    if (node->client.get() == &client) there.push_back(node);
  }
  for (const NodePtr& node : there) {
    const policy::Kernel* view = machine_.find(node->kernel);
    node->held = {view->footprint, machine_.holds(node->kernel), now()};
    left_behind_.push_back(node);
    if (node == printing_) end_printing(node);
    running_.erase(node->kernel.index);
    machine_.abandon(node->kernel);
    policy_->on(policy::KernelDone{node->kernel}, machine_);
    node->kernel = policy::kNobody;
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
