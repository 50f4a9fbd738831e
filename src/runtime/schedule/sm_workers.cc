#include "runtime/schedule/sm_workers.h"

#include <algorithm>

namespace wm::runtime {
namespace {

// While an SM waits for workers to leave, after workers were started, and while a kernel has quotas.
constexpr std::uint64_t kObservationInterval = 50'000;  // nanoseconds

}  // namespace

std::unique_ptr<WorkerRun> SmWorkers::prepare(const LaunchPlan& plan, Queue& queue) {
  const auto local = worker_local_size(plan);
  if (!local || !tables_) return nullptr;
  auto run = std::make_unique<WorkerRun>();
  run->local = *local;
  run->groups = 1;
  for (std::uint32_t i = 0; i < plan.dimensions; ++i) {
    run->range.groups[i] = static_cast<std::uint32_t>(plan.global[i] / run->local[i]);
    run->groups *= run->range.groups[i];
  }
  if (!queue.worker_table) queue.worker_table = tables_->take();
  run->table = queue.worker_table;
  run->counters = tables_->take_counters();
  return run->table && run->counters ? std::move(run) : nullptr;
}

// The first launch that has the kernel's id begins the counts of its queue anew.
void SmWorkers::tell_limits(Command& command) {
  if (!command.workers) return;
  WorkerRun& run = *command.workers;
  const policy::KernelId kernel = command.placement.kernel;
  const WorkerTable::Permits permits{machine_.worker_limits(kernel), machine_.quotas(kernel)};
  const bool begins = machine_.begin_counts(kernel), changed = machine_.take_untold(kernel);
  if (!begins && !changed) return;
  const Status status = begins ? run.table->begin(permits) : run.table->change(permits);
  // Workers that were not told run on; the next change tells them.
  if (status != status::kSuccess) command.status = status;
}

SmWorkers::Submitted SmWorkers::submit(Command& command, std::uint32_t workers) {
  WorkerRun& run = *command.workers;
  const LaunchPlan& plan = *command.launch;
  Submitted submitted;
  submitted.batch = std::make_shared<WorkerBatch>();
  WorkerBatch& batch = *submitted.batch;
  batch.workers = workers;
  arguments_.clear();
  for (const LaunchPlan::Value& value : plan.arguments) arguments_.push_back(value.argument());
  // A later batch runs beside the first, once everything that the first had to wait for on its queue has completed.
  const bool later = command.state() == Command::State::submitted;
  if (later && command.dependencies.unobserved == 0) batch.extra_queue = extra_queues_.take();
  run.beside_queue |= batch.extra_queue != nullptr;
  const QueueHandle& queue = batch.extra_queue ? batch.extra_queue : command.queue->handle;
  const EventHandle after = run.table->ready_event();
  KernelLaunch launch;
  launch.kernel = plan.form->workers.get();
  launch.arguments = arguments_;
  launch.dimensions = plan.dimensions;
  launch.offset = plan.offset;
  launch.global = plan.global;
  launch.local = run.local;
  if (after != nullptr) launch.after = std::span(&after, 1);
  launch.workers = WorkerLaunch{.table = &run.table->memory(),
                                .counters = run.counters.get(),
                                .workers = workers,
                                .chunk = run.range.chunk,
                                .beside_queue = batch.extra_queue != nullptr,
                                .before = run.before.counters.get(),
                                .groups_before = run.before.groups};
  submitted.status = backend_.submission().launch(*queue, launch, &submitted.event);
  if (submitted.status == status::kSuccess) {
    run.batches.push_back(submitted.batch);
    run.submitted += workers;
  }
  return submitted;
}

void SmWorkers::cancel(Command& command) {
  WorkerRun& run = *command.workers;
  const std::vector<std::uint32_t> none(machine_.sms().size(), 0);
  if (!run.batches.empty()) run.table->change({none, none});
  run.exhausted = true;
}

// The device answers before the next observation.
void SmWorkers::observe(Command& command) {
  WorkerRun& run = *command.workers;
  if (run.exhausted || run.batches.empty()) return;
  if (run.table->answered(counts_)) {
    SmMachine::Observed observed{counts_.workers, counts_.groups, counts_.begun, std::nullopt, false};
    if (counts_.launch == run.counters.get()) {
      observed.untaken = run.groups - std::min(run.groups, counts_.taken);
      observed.some_not_placed = counts_.started < run.submitted;
    }
    machine_.observe(command.placement.kernel, observed);
  }
  run.table->ask(*run.counters);
}

std::optional<std::uint64_t> SmWorkers::next_observation() const {
  for (const auto& [id, command] : kernels_.all()) {
    if (!command->workers || command->workers->batches.empty()) continue;
    if (machine_.is_unsettled(command->placement.kernel)) return observed_ + kObservationInterval;
  }
  return std::nullopt;
}

void SmWorkers::observe() {
  observed_ = clock_.now();
  for (const auto& [id, command] : kernels_.all()) {
    if (command->workers) observe(*command);
  }
}

bool SmWorkers::completed(Command& command, const std::shared_ptr<WorkerBatch>& batch, Status status) {
  WorkerRun& run = *command.workers;
  if (status < 0) {
    command.status = status;
    run.exhausted = true;
  }
  std::erase(run.batches, batch);
  extra_queues_.give_back(std::move(batch->extra_queue));
  run.exhausted |= run.counters->is_complete();
  run.started_ahead = false;
  if (!run.exhausted && run.batches.empty() && command.state() == Command::State::submitted) {
    machine_.all_left(command.placement.kernel);
  }
  ClientStatistics& client = command.client->state.statistics;
  client.workers -= std::min(client.workers, batch->workers);
  if (command.client->closed()) run.exhausted = true;
  return run.exhausted && run.batches.empty();
}

}  // namespace wm::runtime
