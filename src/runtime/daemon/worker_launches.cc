// Launches that run as workers: squads of them, shrunk by their control words and sent again when there is room.
#include <algorithm>

#include "runtime/daemon/scheduler.h"
#include "runtime/daemon/session.h"

namespace wm::runtime {
namespace {

// A local size where the client leaves it open: along the first dimension, as large as divides it.
std::size_t chosen_local(std::size_t global, std::size_t most) {
  for (std::size_t n = std::min<std::size_t>(global, most); n > 1; --n) {
    if (global % n == 0) return n;
  }
  return 1;
}

constexpr std::size_t kMostChosen = 256;
// Below this a group is too small to be worth taking from a queue.
constexpr std::size_t kLeastChosen = 16;

}  // namespace

std::optional<std::array<std::size_t, 3>> Scheduler::local_of_workers(const LaunchPlan& plan) const {
  if (pass_through_ || !plan.form->workers) return std::nullopt;
  std::array<std::size_t, 3> local{1, 1, 1};
  std::uint64_t groups = 1, items = 1;
  for (cl_uint i = 0; i < plan.dimensions; ++i) {
    if (plan.local_given) local[i] = plan.local[i];
    if (!plan.local_given && i == 0) {
      local[0] = chosen_local(plan.global[0], std::min<std::size_t>(kMostChosen, plan.form->most_items));
      if (local[0] < kLeastChosen) return std::nullopt;
    }
    if (plan.global[i] % local[i] != 0) return std::nullopt;  // groups of different sizes
    groups *= plan.global[i] / local[i];
    items *= local[i];
    if (groups >= (std::uint64_t{1} << 31)) return std::nullopt;
  }
  // One group cannot be divided; a form that needs more registers may not take groups as large as the original does.
  if (groups < 2 || items > plan.form->most_items) return std::nullopt;
  return local;
}

std::unique_ptr<WorkerRun> Scheduler::as_workers(const LaunchPlan& plan) {
  const auto local = local_of_workers(plan);
  if (!local) return nullptr;
  auto run = std::make_unique<WorkerRun>();
  run->local = *local;
  std::uint32_t groups = 1;
  for (cl_uint i = 0; i < plan.dimensions; ++i) {
    run->range.groups[i] = static_cast<std::uint32_t>(plan.global[i] / run->local[i]);
    run->range.offset[i] = plan.offset[i];
    groups *= run->range.groups[i];
  }
  run->range.chunk = plan.form->chunk;
  run->range.dimensions = plan.dimensions;
  run->groups = groups;
  run->queue = words_.take(Words::Kind::queue);
  return run->queue ? std::move(run) : nullptr;
}

Native_<cl_command_queue> Scheduler::lane() {
  if (!lanes_.empty()) {
    auto lane = std::move(lanes_.back());
    lanes_.pop_back();
    return lane;
  }
  const cl_command_queue made =
      native_.cl.CreateCommandQueue(native_.context, native_.device, CL_QUEUE_PROFILING_ENABLE, nullptr);
  return made == nullptr ? nullptr : Native_<cl_command_queue>(made, native_.cl.ReleaseCommandQueue);
}

void Scheduler::send_workers(const NodePtr& node, std::uint32_t workers) {
  if (!one_by_one_) return send_squad(node, workers);
  for (std::uint32_t i = 0; i < workers && node->state != Node::State::done; ++i) send_squad(node, 1);
}

void Scheduler::send_squad(const NodePtr& node, std::uint32_t workers) {
  WorkerRun& run = *node->workers;
  Figures& client = node->client->standing.figures;
  const bool first = node->state == Node::State::waiting;
  if (first) {
    client.kernel = node->launch->kernel->name;
    ++client.launches;
    ++client.as_workers;
    node->submitted = now();
    client.waited_nanoseconds += node->submitted - node->ready;
  }
  auto squad = std::make_shared<Squad>();
  squad->workers = workers;
  squad->control = words_.take(Words::Kind::control);
  cl_event event = nullptr;
  cl_int status = squad->control ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
  const cl_kernel kernel = node->launch->form->workers.get();
  if (status == CL_SUCCESS) status = set_arguments(*node->launch, kernel);
  auto next = static_cast<cl_uint>(node->launch->arguments.size());
  const cl_mem queue_word = run.queue->memory(), control_word = squad->control ? squad->control->memory() : nullptr;
  if (status == CL_SUCCESS) status = native_.cl.SetKernelArg(kernel, next++, sizeof queue_word, &queue_word);
  if (status == CL_SUCCESS) status = native_.cl.SetKernelArg(kernel, next++, sizeof control_word, &control_word);
  if (status == CL_SUCCESS) status = native_.cl.SetKernelArg(kernel, next, sizeof run.range, &run.range);
  const std::size_t global[3] = {workers * run.local[0], run.local[1], run.local[2]};
  // A later squad runs beside the first, once what that had to wait for on its native queue has ended.
  if (!first && node->trails == 0) squad->lane = lane();
  const cl_command_queue to = squad->lane ? squad->lane.get() : node->queue->native.get();
  std::vector<cl_event> before;
  for (Words::Word* word : {run.queue.get(), squad->control.get()}) {
    if (const cl_event e = word != nullptr ? word->before() : nullptr; e != nullptr) before.push_back(e);
  }
  if (status == CL_SUCCESS) {
    status = native_.cl.EnqueueNDRangeKernel(to, kernel, 3, nullptr, global, run.local.data(),
                                             static_cast<cl_uint>(before.size()),
                                             before.empty() ? nullptr : before.data(), &event);
  }
  if (status != CL_SUCCESS && !run.squads.empty()) return;  // those that run will do all of it
  client.workers = workers + (first ? 0 : client.workers);
  if (status == CL_SUCCESS) run.squads.push_back(squad);
  on_device(node, status, event, squad, squad->lane ? to : nullptr);
}

void Scheduler::call_off_workers(Session& client) {
  std::vector<NodePtr> idle;
  for (const auto& [id, node] : running_) {
    if (node->client.get() != &client || !node->workers) continue;
    WorkerRun& run = *node->workers;
    if (one_by_one_) {
      recall(*node, 0);
    } else if (const policy::Kernel* view = machine_.find(node->kernel)) {
      shrink(*node, view->resident);
    }
    run.exhausted = true;
    machine_.left(node->kernel, 0, run.groups);
    if (run.squads.empty()) idle.push_back(node);
  }
  for (const NodePtr& node : idle) finish(node, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

void Scheduler::shrink_to_caps() {
  for (const auto& [id, node] : running_) {
    if (!node->workers) continue;
    const policy::Kernel* view = machine_.find(node->kernel);
    if (view == nullptr) continue;
    const std::uint32_t allowed = machine_.allowed(node->kernel);
    if (one_by_one_) {
      recall(*node, allowed);
    } else if (view->resident > allowed) {
      shrink(*node, view->resident - allowed);
    }
  }
  make_way_for_errands();
}

void Scheduler::begin_errand(Node& node) {
  if (!one_by_one_) return;  // elsewhere they have engines of their own, or find room between groups
  node.errand = true;
  if (++errands_ == 1 && !running_.empty()) regroup_ = true;
}

void Scheduler::end_errand(Node& node) {
  node.errand = false;
  if (--errands_ == 0 && !running_.empty()) regroup_ = true;
}

// Who has most workers lends a place; they leave at the end of their group.
void Scheduler::make_way_for_errands() {
  if (errands_ == 0 || !machine_.full()) return;
  Node* richest = nullptr;
  std::uint32_t most = 0;
  for (const auto& [id, node] : running_) {
    if (!node->workers) continue;
    const auto& squads = node->workers->squads;
    const auto leave = std::count_if(squads.begin(), squads.end(), [](const auto& squad) { return squad->leaves; });
    if (leave != 0) return;  // a place will be free anyway
    if (squads.size() <= most) continue;
    most = static_cast<std::uint32_t>(squads.size());
    richest = node.get();
  }
  if (richest != nullptr) recall(*richest, most - 1);
}

// The oldest stay. One that was told to leave and has not yet done so may be told to stay.
void Scheduler::recall(Node& node, std::uint32_t allowed) {
  for (const auto& squad : node.workers->squads) {
    const bool stays = allowed != 0;
    if (stays) --allowed;
    if (squad->leaves != stays) continue;
    squad->leaves = !stays;
    squad->control->set(stays ? squad->workers : 0);
  }
}

// The youngest go first. They leave when their group ends; the device keeps what comes next waiting that long.
void Scheduler::shrink(Node& node, std::uint32_t by) {
  WorkerRun& run = *node.workers;
  std::uint32_t gone = 0;
  for (auto it = run.squads.rbegin(); it != run.squads.rend() && gone < by; ++it) {
    Squad& squad = **it;
    const std::uint32_t less = std::min(squad.workers, by - gone);
    if (less == 0) continue;
    squad.workers -= less;
    squad.shrunk = true;
    squad.control->set(squad.workers);
    gone += less;
  }
  const policy::Kernel* view = machine_.find(node.kernel);
  machine_.left(node.kernel, gone, view->done);
  node.client->standing.figures.workers -= std::min(gone, node.client->standing.figures.workers);
}

void Scheduler::squad_ended(const Ended& ended) {
  Node& node = *ended.node;
  WorkerRun& run = *node.workers;
  if (ended.status < 0) {
    node.status = ended.status;
    run.exhausted = true;
  }
  std::erase(run.squads, ended.squad);
  // Workers leave by themselves only when there is nothing more to take.
  if ((!one_by_one_ && !ended.squad->shrunk) || run.queue->get() >= run.groups) run.exhausted = true;
  if (ended.squad->lane) lanes_.push_back(std::move(ended.squad->lane));
  if (const policy::Kernel* view = machine_.find(node.kernel)) {
    const std::uint32_t resident = view->resident - std::min(view->resident, ended.squad->workers);
    const std::uint32_t done = run.exhausted ? run.groups - std::min(run.groups, resident) : view->done;
    machine_.left(node.kernel, ended.squad->workers, done);
  } else if (node.held) {
    const std::uint32_t gone = std::min(node.held->groups, ended.squad->workers);
    machine_.give_back(node.held->footprint, gone);
    node.held->groups -= gone;
  }
  Figures& client = node.client->standing.figures;
  client.workers -= std::min(client.workers, ended.squad->workers);
  regroup_ = true;
  if (!run.exhausted && node.client->closed()) run.exhausted = true;
  if (run.squads.empty() && run.exhausted) {
    node.ended = true;
    finish(ended.node, node.status);
  }
}

}  // namespace wm::runtime
