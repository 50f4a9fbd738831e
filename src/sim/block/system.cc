#include "sim/block/system.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <utility>

namespace wm::sim {
namespace {

// Times of events beyond this one could not be told from earlier ones in 64 bits.
constexpr Cycles kLongestRun{std::uint64_t{1} << 62};

BlockMachineSpec seeded(BlockMachineSpec spec, std::uint64_t seed) {
  spec.seed = seed;
  return spec;
}

}  // namespace

double ProcessResult::mean_turnaround() const {
  if (turnarounds.empty()) return 0;
  const double sum = std::accumulate(turnarounds.begin(), turnarounds.end(), 0.0);
  return sum / static_cast<double>(turnarounds.size());
}

System::System(const SystemConfig& config, policy::Policy& policy, policy::Cans declared, std::uint64_t seed)
    : config_(config),
      machine_(seeded(config.machine, seed)),
      cpu_(config.cpu.hardware_threads()),
      transfers_(config.link, config.machine.clock),
      queues_(config.hardware_queues),
      dispatch_(to_cycles(config.dispatch_latency, config.machine.clock)),
      api_call_(to_cycles(config.cpu.api_call, config.machine.clock)) {
  machine_.start(policy, declared);
}

void System::observe(SystemObserver& observer) {
  observer_ = &observer;
  machine_.observe(observer);
}

// The number by which policies know the process: that of its first stream, or of its group's first one.
std::uint32_t System::gpu_process(const ProcessSpec& spec) const {
  const auto same = std::find_if(processes_.begin(), processes_.end(),
                                 [&](const Process& p) { return spec.group != 0 && p.spec.group == spec.group; });
  return same != processes_.end() ? same->first_stream : static_cast<std::uint32_t>(stream_owners_.size());
}

void System::add(ProcessSpec spec) {
  const std::uint32_t process = gpu_process(spec);
  Process p;
  p.first_stream = static_cast<std::uint32_t>(stream_owners_.size());
  const auto index = static_cast<std::uint32_t>(processes_.size());
  for (std::uint32_t i = 0; i < spec.app->streams; ++i) {
    stream_owners_.push_back(index);
    machine_.add_client({.name = spec.name,
                         .process = process,
                         .priority = spec.priority,
                         .share = spec.share,
                         .goal = spec.goal,
                         .isolated_ipc = spec.isolated_ipc});
  }
  const bool open = spec.arrivals.open();
  if (!open) schedule(spec.arrive.count, Event::Kind::arrives, index);
  p.spec = std::move(spec);
  processes_.push_back(std::move(p));
  if (open) await_request(index);
}

bool System::over(const StopRule& rule) const {
  if (machine_.now() >= rule.at) return true;
  if (rule.runs_each != 0 && unfinished_ == 0) return true;
  return std::all_of(processes_.begin(), processes_.end(),
                     [](const Process& p) { return p.state == Process::State::done; });
}

// The error names the process with the fewest runs among those that have more to come.
Error System::starvation() const {
  const auto fewest = std::min_element(processes_.begin(), processes_.end(), [](const Process& a, const Process& b) {
    const auto runs = [](const Process& p) {
      return p.state == Process::State::done ? std::uint64_t{kNoEvent} : p.turnarounds.size();
    };
    return runs(a) < runs(b);
  });
  return Error{fmt::format(
      "'{}' starves under this policy: it has completed {} of {} runs by cycle {}; --cycles ends such a run",
      fewest->spec.name, fewest->turnarounds.size(), runs_each_, machine_.now().count)};
}

Result<void> System::run(const StopRule& rule) {
  runs_each_ = rule.runs_each;
  unfinished_ = 0;
  for (const Process& p : processes_)
    unfinished_ += p.turnarounds.size() < rule.runs_each && p.state != Process::State::done ? 1 : 0;
  const Cycles end = std::min(rule.at, rule.patience);
  while (!over(rule)) {
    if (machine_.now() >= rule.patience) return starvation();
    if (observer_ != nullptr && observer_->full())
      return Error{
          fmt::format("a page, timeline or trace cannot keep more of the run than until cycle {}: "
                      "end it with --cycles",
                      machine_.now().count)};
    const std::uint64_t own = events_.empty() ? kNoEvent : events_.top().at;
    const Cycles coming = std::min(Cycles{own}, machine_.next_event());
    if (std::min(coming, rule.at) == kNever)
      return Error{fmt::format("nothing can go on at cycle {}: the policy starts no block of the kernels that wait",
                               machine_.now().count)};
    const Cycles next = std::min(coming, end);
    if (next > kLongestRun)
      return Error{fmt::format("a run has at most {} cycles: end it with --cycles", kLongestRun.count)};
    machine_.advance(next);
    for (const policy::KernelId client : machine_.completed()) end_launch(client.index);
    while (!events_.empty() && events_.top().at <= next.count) {
      const Event event = events_.top();
      events_.pop();
      handle(event);
    }
    if (repeats_in_no_time_)
      return Error{fmt::format("'{}' repeats without end in cycle {}: a run of it takes no time",
                               processes_[*repeats_in_no_time_].spec.name, machine_.now().count)};
    machine_.settle();
    if (over(rule)) break;  // a run that ends here must not contain blocks of later cycles
    machine_.run_ahead(std::min(Cycles{events_.empty() ? kNoEvent : events_.top().at}, end));
  }
  return {};
}

void System::handle(const Event& event) {
  using Direction = TransferEngine::Direction;
  switch (event.kind) {
    case Event::Kind::arrives:
      if (!processes_[event.index].spec.arrivals.open()) processes_[event.index].began = event.at;
      begin_step(event.index);
      break;
    case Event::Kind::cpu_done:
      if (const auto next = cpu_.end()) compute(next->process, next->cycles);
      finish_step(event.index);
      break;
    case Event::Kind::copied_to_device:
      complete(transfers_.finish(Direction::to_device).queue);
      begin_transfers();
      break;
    case Event::Kind::copied_to_host:
      complete(transfers_.finish(Direction::to_host).queue);
      begin_transfers();
      break;
    case Event::Kind::launch_arrives:
      buffered_.push_back(event.index);
      launch_waiting();
      break;
  }
}

// The CPU time of the process's step has passed. A call to the runtime library has its effect at the end of that time.
void System::finish_step(std::uint32_t index) {
  Process& p = processes_[index];
  const TraceStep& step = p.spec.app->steps[p.step];
  if (step.kind != TraceStep::Kind::cpu) {
    if (step.kind != TraceStep::Kind::sync) enqueue(index, step);
    if (!step.asynchronous && p.pending != 0) {
      p.state = Process::State::waiting;
      p.waits_for_all = step.kind == TraceStep::Kind::sync;
      return;
    }
  }
  next_step(index);
}

void System::next_step(std::uint32_t index) {
  Process& p = processes_[index];
  if (++p.step == p.spec.app->steps.size()) end_run(index);
  if (p.state == Process::State::computing || p.state == Process::State::waiting) begin_step(index);
}

// Cycles in which the process's CPU thread moves a copy of pageable memory; 0: the copy is left to the link.
std::uint64_t System::staging_cycles(const TraceStep& step) const {
  const bool up = step.kind == TraceStep::Kind::copy_to_device;
  if (step.asynchronous || (!up && step.kind != TraceStep::Kind::copy_to_host)) return 0;
  const std::uint64_t rate = up ? config_.link.pageable_to_device : config_.link.pageable_to_host;
  if (rate == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(step.amount) / static_cast<double>(rate) *
                                    static_cast<double>(config_.machine.clock.count));
}

void System::begin_step(std::uint32_t index) {
  Process& p = processes_[index];
  p.state = Process::State::computing;
  const TraceStep& step = p.spec.app->steps[p.step];
  compute(index, step.kind == TraceStep::Kind::cpu ? step.amount : api_call_ + staging_cycles(step));
}

void System::end_run(std::uint32_t index) {
  Process& p = processes_[index];
  const std::uint64_t now = machine_.now().count;
  p.turnarounds.push_back(now - p.began);
  if (observer_ != nullptr) observer_->run_ended(index, p.began, now);
  p.step = 0;
  p.began = now;
  if (p.spec.runs != 0 && p.turnarounds.size() >= p.spec.runs) p.state = Process::State::done;
  if (p.turnarounds.back() == 0 && p.spec.runs == 0 && !p.spec.arrivals.open()) {
    p.state = Process::State::done;
    repeats_in_no_time_ = index;
  }
  if (p.state != Process::State::done && p.spec.arrivals.open()) await_request(index);
  // A process that has no more runs to come does not keep the others repeating.
  const std::uint64_t runs = p.turnarounds.size();
  if (runs == runs_each_ || (runs < runs_each_ && p.state == Process::State::done)) --unfinished_;
}

// The next request begins at once where it has arrived already, else when it arrives.
void System::await_request(std::uint32_t index) {
  Process& p = processes_[index];
  const auto next = p.spec.arrivals.next();
  p.state = next ? Process::State::to_come : Process::State::done;
  if (!next) return;
  p.began = next->count;
  schedule(std::max(next->count, machine_.now().count), Event::Kind::arrives, index);
}

void System::compute(std::uint32_t process, std::uint64_t cycles) {
  const std::uint64_t now = machine_.now().count;
  const auto end = cpu_.begin({process, cycles}, now);
  if (!end) return;
  schedule(*end, Event::Kind::cpu_done, process);
  if (observer_ != nullptr && cycles != 0) observer_->cpu_phase(process, now, *end);
}

void System::enqueue(std::uint32_t index, const TraceStep& step) {
  Process& p = processes_[index];
  Command c;
  c.process = index;
  c.stream = p.first_stream + step.stream;
  c.awaited = !step.asynchronous;
  if (step.kind == TraceStep::Kind::launch) {
    c.kind = Command::Kind::launch;
    c.kernel = &p.spec.app->kernels[step.amount];
  } else {
    c.kind = step.kind == TraceStep::Kind::copy_to_device ? Command::Kind::copy_to_device : Command::Kind::copy_to_host;
    // The pieces that the thread has staged are on their way; the last one remains.
    c.bytes = staging_cycles(step) == 0 ? step.amount : std::min(step.amount, config_.link.burst_bytes);
  }
  ++p.pending;
  if (queues_.push(c)) issue(queues_.queue_of(c.stream));
}

void System::issue(std::uint32_t queue) {
  const Command& c = queues_.issue(queue);
  if (c.kind == Command::Kind::launch) {
    schedule(machine_.now().count + dispatch_, Event::Kind::launch_arrives, queue);
    return;
  }
  const auto direction = c.kind == Command::Kind::copy_to_device ? TransferEngine::Direction::to_device
                                                                 : TransferEngine::Direction::to_host;
  transfers_.submit(direction, {queue, c.bytes, processes_[c.process].spec.priority});
  begin_transfers();
}

// Launches that have a place among the active kernels arrive at the execution engine.
void System::launch_waiting() {
  while (!buffered_.empty() && (config_.active_kernels == 0 || active_launches_ < config_.active_kernels)) {
    const Command& c = queues_.issue(buffered_.front());
    buffered_.pop_front();
    ++active_launches_;
    Process& p = processes_[c.process];
    if (p.active++ == 0) p.active_since = machine_.now().count;
    if (observer_ != nullptr) observer_->launch_began(c.process, c.stream, *c.kernel, machine_.now().count);
    machine_.launch({c.stream}, *c.kernel);
  }
}

void System::end_launch(std::uint32_t stream) {
  const std::uint64_t now = machine_.now().count;
  const std::uint32_t process = stream_owners_[stream];
  Process& p = processes_[process];
  --active_launches_;
  if (--p.active == 0) p.gpu_cycles += now - p.active_since;
  if (observer_ != nullptr) observer_->launch_ended(process, stream, now);
  complete(queues_.queue_of(stream));
}

void System::begin_transfers() {
  using Direction = TransferEngine::Direction;
  const std::uint64_t now = machine_.now().count;
  for (const Direction d : {Direction::to_device, Direction::to_host}) {
    const auto end = transfers_.begin_next(d, now);
    if (!end) continue;
    schedule(*end, d == Direction::to_device ? Event::Kind::copied_to_device : Event::Kind::copied_to_host, 0);
    if (observer_ == nullptr) continue;
    const Transfer& t = *transfers_.under_way(d);
    observer_->transfer(queues_.first(t.queue).process, d == Direction::to_device, t.bytes, now, *end);
  }
}

void System::complete(std::uint32_t queue) {
  bool more = false;
  const Command done = queues_.complete(queue, more);
  if (more) issue(queue);
  launch_waiting();
  Process& p = processes_[done.process];
  --p.pending;
  if (p.state == Process::State::waiting && (p.waits_for_all ? p.pending == 0 : done.awaited)) next_step(done.process);
}

ProcessResult System::result(std::uint32_t index) const {
  const Process& p = processes_[index];
  ProcessResult r;
  r.name = p.spec.name;
  r.turnarounds = p.turnarounds;
  r.gpu_cycles = p.gpu_cycles;
  for (std::uint32_t s = p.first_stream; s < p.first_stream + p.spec.app->streams; ++s) {
    const BlockClientTotals& t = machine_.totals({s});
    r.launches += t.launches;
    r.blocks += t.blocks;
    r.preemptions += t.preemptions;
    r.instructions += t.instructions;
    if (t.launches == 0) continue;
    r.gpu = {r.gpu.end == 0 ? t.first_start.count : std::min(r.gpu.begin, t.first_start.count),
             std::max(r.gpu.end, t.last_end.count)};
  }
  return r;
}

}  // namespace wm::sim
