#include "runtime/schedule/worker_batch.h"

#include <algorithm>

namespace wm::runtime {

std::unique_ptr<WorkerRun> WorkerBatches::prepare(const LaunchPlan& plan, Queue& /*queue*/) {
  const auto local = worker_local_size(plan);
  if (!local) return nullptr;
  auto run = std::make_unique<WorkerRun>();
  run->local = *local;
  std::uint32_t groups = 1;
  for (std::uint32_t i = 0; i < plan.dimensions; ++i) {
    run->range.groups[i] = static_cast<std::uint32_t>(plan.global[i] / run->local[i]);
    run->range.offset[i] = plan.offset[i];
    groups *= run->range.groups[i];
  }
  run->range.dimensions = plan.dimensions;
  run->groups = groups;
  run->queue = words_->take(ControlWordPool::Kind::queue);
  return run->queue ? std::move(run) : nullptr;
}

WorkerBatches::Submitted WorkerBatches::submit(Command& command, std::uint32_t workers) {
  WorkerRun& run = *command.workers;
  Submitted submitted;
  submitted.batch = std::make_shared<WorkerBatch>();
  WorkerBatch& batch = *submitted.batch;
  batch.workers = workers;
  batch.control = words_->take(ControlWordPool::Kind::control);
  if (!batch.control) {
    submitted.status = status::kOutOfResources;
    return submitted;
  }
  arguments_.clear();
  for (const LaunchPlan::Value& value : command.launch->arguments) arguments_.push_back(value.argument());
  arguments_.push_back({ArgumentKind::memory, 0, nullptr, &run.queue->memory(), nullptr});
  arguments_.push_back({ArgumentKind::memory, 0, nullptr, &batch.control->memory(), nullptr});
  arguments_.push_back({ArgumentKind::value, sizeof run.range, &run.range, nullptr, nullptr});
  // A later batch runs beside the first, once everything that the first had to wait for on its queue has completed.
  const bool first = command.state() == Command::State::arrived;
  if (!first && command.dependencies.unobserved == 0) batch.extra_queue = extra_queues_.take();
  const QueueHandle& queue = batch.extra_queue ? batch.extra_queue : command.queue->handle;
  std::array<EventHandle, 2> after{};
  std::size_t count = 0;
  for (ControlWord* word : {run.queue.get(), batch.control.get()}) {
    if (const EventHandle event = word->ready_event()) after[count++] = event;
  }
  KernelLaunch launch;
  launch.kernel = command.launch->form->workers.get();
  launch.arguments = arguments_;
  launch.dimensions = 3;
  launch.global = {workers * run.local[0], run.local[1], run.local[2]};
  launch.local = run.local;
  launch.after = std::span(after).first(count);
  submitted.status = backend_.submission().launch(*queue, launch, &submitted.event);
  if (submitted.status == status::kSuccess) run.batches.push_back(submitted.batch);
  return submitted;
}

void WorkerBatches::cancel(Command& command) {
  WorkerRun& run = *command.workers;
  if (single_) {
    keep(command, 0);
  } else if (const policy::Kernel* view = machine_.find(command.placement.kernel)) {
    shrink(command, view->resident);
  }
  run.exhausted = true;
  machine_.left(command.placement.kernel, 0, run.groups);
}

void WorkerBatches::shrink_to_caps() {
  for (const auto& [id, command] : kernels_.all()) {
    if (!command->workers) continue;
    const policy::Kernel* view = machine_.find(command->placement.kernel);
    if (view == nullptr) continue;
    const std::uint32_t allowed = machine_.allowed(command->placement.kernel);
    if (single_) {
      keep(*command, allowed);
    } else if (view->resident > allowed) {
      shrink(*command, view->resident - allowed);
    }
  }
}

// The oldest batches continue.
void WorkerBatches::keep(Command& command, std::uint32_t allowed) {
  for (const auto& batch : command.workers->batches) {
    const bool stays = allowed != 0;
    if (stays) --allowed;
    if ((batch->state == WorkerBatch::State::leaving) != stays) continue;
    batch->state = stays ? WorkerBatch::State::running : WorkerBatch::State::leaving;
    batch->control->set(stays ? batch->workers : 0);
  }
}

// The youngest workers leave first, at the end of their group; later work waits on the device until then.
void WorkerBatches::shrink(Command& command, std::uint32_t by) {
  WorkerRun& run = *command.workers;
  std::uint32_t gone = 0;
  for (auto it = run.batches.rbegin(); it != run.batches.rend() && gone < by; ++it) {
    WorkerBatch& batch = **it;
    const std::uint32_t fewer = std::min(batch.workers, by - gone);
    if (fewer == 0) continue;
    batch.workers -= fewer;
    batch.state = WorkerBatch::State::shrunk;
    batch.control->set(batch.workers);
    gone += fewer;
  }
  const policy::Kernel* view = machine_.find(command.placement.kernel);
  machine_.left(command.placement.kernel, gone, view->done);
  ClientStatistics& client = command.client->state.statistics;
  client.workers -= std::min(gone, client.workers);
}

bool WorkerBatches::completed(Command& command, const std::shared_ptr<WorkerBatch>& batch, Status status) {
  WorkerRun& run = *command.workers;
  if (status < 0) {
    command.status = status;
    run.exhausted = true;
  }
  std::erase(run.batches, batch);
  if (status < 0 && single_) keep(command, 0);  // the others would run the remaining groups for nothing
  // Workers that left without being told to did so because no group was left.
  if ((!single_ && batch->state != WorkerBatch::State::shrunk) || run.queue->get() >= run.groups) run.exhausted = true;
  extra_queues_.give_back(std::move(batch->extra_queue));
  Command::Placement& placement = command.placement;
  if (const policy::Kernel* view = machine_.find(placement.kernel)) {
    const std::uint32_t resident = view->resident - std::min(view->resident, batch->workers);
    const std::uint32_t done = run.exhausted ? run.groups - std::min(run.groups, resident) : view->done;
    machine_.left(placement.kernel, batch->workers, done);
  } else if (placement.orphaned) {
    const std::uint32_t gone = std::min(placement.orphaned->groups, batch->workers);
    machine_.give_back(placement.orphaned->footprint, gone);
    placement.orphaned->groups -= gone;
  }
  ClientStatistics& client = command.client->state.statistics;
  client.workers -= std::min(client.workers, batch->workers);
  if (command.client->closed()) run.exhausted = true;
  return run.batches.empty() && run.exhausted;
}

}  // namespace wm::runtime
