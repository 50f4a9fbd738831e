// Launches that run as workers: batches of them, shrunk by their control words and sent again when there is room.
#include <algorithm>

#include "runtime/schedule/scheduler.h"
#include "runtime/session/session.h"

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
  run->queue = words_.take(ControlWordPool::Kind::queue);
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

void Scheduler::send_workers(const CommandPtr& command, std::uint32_t workers) {
  if (!one_by_one_) return send_batch(command, workers);
  for (std::uint32_t i = 0; i < workers && command->state != Command::State::done; ++i) send_batch(command, 1);
}

void Scheduler::send_batch(const CommandPtr& command, std::uint32_t workers) {
  WorkerRun& run = *command->workers;
  ClientStatistics& client = command->client->state.statistics;
  const bool first = command->state == Command::State::waiting;
  if (first) {
    client.kernel = command->launch->kernel->name;
    ++client.launches;
    ++client.as_workers;
    command->submitted = now();
    client.waited_nanoseconds += command->submitted - command->ready;
  }
  auto batch = std::make_shared<WorkerBatch>();
  batch->workers = workers;
  batch->control = words_.take(ControlWordPool::Kind::control);
  cl_event event = nullptr;
  cl_int status = batch->control ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
  const cl_kernel kernel = command->launch->form->workers.get();
  if (status == CL_SUCCESS) status = set_arguments(*command->launch, kernel);
  auto next = static_cast<cl_uint>(command->launch->arguments.size());
  const cl_mem queue_word = run.queue->memory(), control_word = batch->control ? batch->control->memory() : nullptr;
  if (status == CL_SUCCESS) status = native_.cl.SetKernelArg(kernel, next++, sizeof queue_word, &queue_word);
  if (status == CL_SUCCESS) status = native_.cl.SetKernelArg(kernel, next++, sizeof control_word, &control_word);
  if (status == CL_SUCCESS) status = native_.cl.SetKernelArg(kernel, next, sizeof run.range, &run.range);
  const std::size_t global[3] = {workers * run.local[0], run.local[1], run.local[2]};
  // A later batch runs beside the first, once what that had to wait for on its native queue has ended.
  if (!first && command->trails == 0) batch->lane = lane();
  const cl_command_queue to = batch->lane ? batch->lane.get() : command->queue->native.get();
  std::vector<cl_event> before;
  for (ControlWordPool::Word* word : {run.queue.get(), batch->control.get()}) {
    if (const cl_event e = word != nullptr ? word->before() : nullptr; e != nullptr) before.push_back(e);
  }
  if (status == CL_SUCCESS) {
    status = native_.cl.EnqueueNDRangeKernel(to, kernel, 3, nullptr, global, run.local.data(),
                                             static_cast<cl_uint>(before.size()),
                                             before.empty() ? nullptr : before.data(), &event);
  }
  if (status != CL_SUCCESS && !run.batches.empty()) return;  // those that run will do all of it
  client.workers = workers + (first ? 0 : client.workers);
  if (status == CL_SUCCESS) run.batches.push_back(batch);
  on_device(command, status, event, batch, batch->lane ? to : nullptr);
}

void Scheduler::call_off_workers(Session& client) {
  std::vector<CommandPtr> idle;
  for (const auto& [id, command] : running_) {
    if (command->client.get() != &client || !command->workers) continue;
    WorkerRun& run = *command->workers;
    if (one_by_one_) {
      recall(*command, 0);
    } else if (const policy::Kernel* view = machine_.find(command->kernel)) {
      shrink(*command, view->resident);
    }
    run.exhausted = true;
    machine_.left(command->kernel, 0, run.groups);
    if (run.batches.empty()) idle.push_back(command);
  }
  for (const CommandPtr& command : idle) finish(command, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
}

void Scheduler::shrink_to_caps() {
  for (const auto& [id, command] : running_) {
    if (!command->workers) continue;
    const policy::Kernel* view = machine_.find(command->kernel);
    if (view == nullptr) continue;
    const std::uint32_t allowed = machine_.allowed(command->kernel);
    if (one_by_one_) {
      recall(*command, allowed);
    } else if (view->resident > allowed) {
      shrink(*command, view->resident - allowed);
    }
  }
  make_way_for_errands();
}

void Scheduler::begin_errand(Command& command) {
  if (!one_by_one_) return;  // elsewhere they have engines of their own, or find room between groups
  command.errand = true;
  if (++errands_ == 1 && !running_.empty()) regroup_ = true;
}

void Scheduler::end_errand(Command& command) {
  command.errand = false;
  if (--errands_ == 0 && !running_.empty()) regroup_ = true;
}

// Who has most workers lends a place; they leave at the end of their group.
void Scheduler::make_way_for_errands() {
  if (errands_ == 0 || !machine_.full()) return;
  Command* richest = nullptr;
  std::uint32_t most = 0;
  for (const auto& [id, command] : running_) {
    if (!command->workers) continue;
    const auto& batches = command->workers->batches;
    const auto leave = std::count_if(batches.begin(), batches.end(), [](const auto& batch) { return batch->leaves; });
    if (leave != 0) return;  // a place will be free anyway
    if (batches.size() <= most) continue;
    most = static_cast<std::uint32_t>(batches.size());
    richest = command.get();
  }
  if (richest != nullptr) recall(*richest, most - 1);
}

// The oldest stay. One that was told to leave and has not yet done so may be told to stay.
void Scheduler::recall(Command& command, std::uint32_t allowed) {
  for (const auto& batch : command.workers->batches) {
    const bool stays = allowed != 0;
    if (stays) --allowed;
    if (batch->leaves != stays) continue;
    batch->leaves = !stays;
    batch->control->set(stays ? batch->workers : 0);
  }
}

// The youngest go first. They leave when their group ends; the device keeps what comes next waiting that long.
void Scheduler::shrink(Command& command, std::uint32_t by) {
  WorkerRun& run = *command.workers;
  std::uint32_t gone = 0;
  for (auto it = run.batches.rbegin(); it != run.batches.rend() && gone < by; ++it) {
    WorkerBatch& batch = **it;
    const std::uint32_t less = std::min(batch.workers, by - gone);
    if (less == 0) continue;
    batch.workers -= less;
    batch.shrunk = true;
    batch.control->set(batch.workers);
    gone += less;
  }
  const policy::Kernel* view = machine_.find(command.kernel);
  machine_.left(command.kernel, gone, view->done);
  command.client->state.statistics.workers -= std::min(gone, command.client->state.statistics.workers);
}

void Scheduler::batch_completed(const Completion& ended) {
  Command& command = *ended.command;
  WorkerRun& run = *command.workers;
  if (ended.status < 0) {
    command.status = ended.status;
    run.exhausted = true;
  }
  std::erase(run.batches, ended.batch);
  // Workers leave by themselves only when there is nothing more to take.
  if ((!one_by_one_ && !ended.batch->shrunk) || run.queue->get() >= run.groups) run.exhausted = true;
  if (ended.batch->lane) lanes_.push_back(std::move(ended.batch->lane));
  if (const policy::Kernel* view = machine_.find(command.kernel)) {
    const std::uint32_t resident = view->resident - std::min(view->resident, ended.batch->workers);
    const std::uint32_t done = run.exhausted ? run.groups - std::min(run.groups, resident) : view->done;
    machine_.left(command.kernel, ended.batch->workers, done);
  } else if (command.held) {
    const std::uint32_t gone = std::min(command.held->groups, ended.batch->workers);
    machine_.give_back(command.held->footprint, gone);
    command.held->groups -= gone;
  }
  ClientStatistics& client = command.client->state.statistics;
  client.workers -= std::min(client.workers, ended.batch->workers);
  regroup_ = true;
  if (!run.exhausted && command.client->closed()) run.exhausted = true;
  if (run.batches.empty() && run.exhausted) {
    command.ended = true;
    finish(ended.command, command.status);
  }
}

}  // namespace wm::runtime
