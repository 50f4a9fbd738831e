#include "runtime/schedule/polling_completion.h"

#include <algorithm>
#include <chrono>

namespace wm::runtime {
namespace {

using SystemClock = std::chrono::steady_clock;

// The maximum delay of a reported completion, in nanoseconds: if a client could be waiting for it, and if none can.
constexpr double kMaxDelay = 20'000, kMaxUnseenDelay = 100'000;
constexpr std::uint64_t kPollInterval = 2'500, kIdlePollInterval = 15'000;  // nanoseconds
// The part of a launch's expected time during which its event is not polled, up to `kMaxDelay`.
constexpr double kUnpolledPart = 0.5;
constexpr std::uint32_t kMaxWithoutEvent = 15, kMaxUnflushed = 7;
constexpr std::uint64_t kSettleTime = 50'000;   // nanoseconds: a queue without a new command for this time is flushed
constexpr std::uint64_t kActiveTime = 300'000;  // nanoseconds without a completion after which the thread polls rarely
constexpr auto kSleep = std::chrono::microseconds(15), kSpinsAlways = std::chrono::microseconds(50);
constexpr std::uint64_t kDriverInterval = 100'000;  // nanoseconds between queries about events that have a flag

}  // namespace

void PollingCompletion::start() {
  thread_ = std::thread([this] { run(); });
}

void PollingCompletion::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

PollingCompletion::Line* PollingCompletion::find(const QueueObject* queue) {
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const Line& l) { return l.queue.get() == queue; });
  return line == lines_.end() ? nullptr : &*line;
}

void PollingCompletion::submitted(const QueueHandle& queue, bool in_order, Completion completion) {
  Line* line = find(queue.get());
  if (line == nullptr || !in_order) ++changes_;
  if (line == nullptr) line = &lines_.emplace_back(Line{queue, in_order, {}});
  const Command& command = *completion.command;
  completion.expected = command.launch ? expected_nanoseconds(*command.launch).value_or(kMaxUnseenDelay) : 0;
  Queue& client_queue = *command.queue;
  if (completion.event == nullptr) {
    ++client_queue.without_event.launches;
    client_queue.without_event.nanoseconds += completion.expected;
  } else {
    if (command.launch && !completion.batch) client_queue.without_event = {};
    enqueue_flag(*line, completion);
  }
  line->open.push_back(std::move(completion));
  if (on_device_.fetch_add(1, std::memory_order_release) == 0) {
    { const std::lock_guard lock(mutex_); }
    changed_.notify_one();
  }
  flush_after(*line, line->open.back());
}

// A flush costs a tenth of a launch, so a launch that another one follows is flushed with that one.
void PollingCompletion::flush_after(const Line& line, const Completion& completion) {
  Queue& queue = *completion.command->queue;
  const bool may_wait = completion.command->next_queued && queue.in_order && !completion.batch;
  if (may_wait && queue.unflushed < kMaxUnflushed) {
    ++queue.unflushed;
  } else {
    context_.submission.flush(*line.queue);
    queue.unflushed = 0;
  }
}

// While another client's command is on the device, the driver may report this one only after that one.
void PollingCompletion::enqueue_flag(const Line& line, Completion& completion) {
  if (!flags_) return;
  // The flag of the next command on the same queue covers this one.
  if (line.in_order && completion.command->next_queued && !completion.batch) return;
  const auto is_others = [&](const Line& l) {
    return !l.open.empty() && l.open.front().command->client != completion.command->client;
  };
  if (std::none_of(lines_.begin(), lines_.end(), is_others)) return;
  completion.flag = flags_->enqueue(*line.queue, line.in_order ? nullptr : completion.event);
}

bool PollingCompletion::can_skip_event(const Command& command) const {
  const Queue& queue = *command.queue;
  if (!command.next_queued || command.event != kNoEvent || !queue.in_order) return false;
  // Fills and copies count with the launches, and no time is expected for them.
  const auto time = command.launch ? expected_nanoseconds(*command.launch) : 0.0;
  const auto& shared = queue.without_event;
  if (!time || shared.launches >= kMaxWithoutEvent || shared.nanoseconds + *time > kMaxUnseenDelay) return false;
  const auto& dependents = command.dependencies.dependents;
  return std::all_of(dependents.begin(), dependents.end(), [&](const Command::Edge& edge) {
    return edge.order_only && edge.command->queue == command.queue &&
           context_.admission.may_follow(*edge.command, command);
  });
}

void PollingCompletion::expect(const Command& command) {
  ++changes_;
  if (!command.queue) return;
  if (Line* line = find(command.queue->handle.get())) make_observable(*line);
}

Status PollingCompletion::make_observable(Line& line) {
  Completion& last = line.open.back();
  Queue& queue = *last.command->queue;
  if (last.event != nullptr) {
    if (queue.unflushed != 0) context_.submission.flush(*line.queue);
    queue.unflushed = 0;
    return status::kQueued;
  }
  const Status status = context_.submission.submit_marker(*line.queue, &last.event);
  if (status != status::kSuccess) {
    last.event = nullptr;
    return status;  // the device has failed, with everything on that queue
  }
  context_.submission.flush(*line.queue);
  queue.unflushed = 0;
  queue.without_event = {};
  ++changes_;
  return status::kQueued;
}

// The last of the first commands in line that may be reported together.
std::size_t PollingCompletion::last_to_report(const Line& line) {
  std::size_t last = 0;
  double delay = 0;
  while (line.in_order && last + 1 < line.open.size()) {
    const Completion& next = line.open[last + 1];
    delay += next.expected;
    if (next.batch || line.open[last].batch) break;
    if (delay > (line.open[last].command->event == kNoEvent ? kMaxUnseenDelay : kMaxDelay)) break;
    ++last;
  }
  return last;
}

bool PollingCompletion::is_awaited(const Line& line, std::size_t last) const {
  return context_.kernels.from_several_clients() ||
         std::any_of(line.open.begin(), line.open.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                     [](const Completion& c) {
                       const auto& dependents = c.command->dependencies.dependents;
                       return c.command->event != kNoEvent || c.batch ||
                              std::any_of(dependents.begin(), dependents.end(), [](const Command::Edge& edge) {
                                // A marker behind it, as of clFinish, completes with it.
                                const bool completes_with = only_orders(edge.command->type);
                                return !edge.same_queue || (completes_with && edge.command->event != kNoEvent);
                              });
                     });
}

void PollingCompletion::choose_events() {
  watched_.clear();
  unsettled_ = false;
  for (Line& line : lines_) {
    if (line.in_order) {
      choose_event(line);
      continue;
    }
    for (const Completion& c : line.open) {
      watched_.push_back({line.queue.get(), c.event, true, 0, status::kQueued, c.flag});
    }
  }
}

void PollingCompletion::choose_event(Line& line) {
  const std::uint64_t now = context_.clock.now();
  std::size_t last = last_to_report(line);
  while (line.open[last].event == nullptr && last + 1 < line.open.size()) ++last;
  // A flag further down is seen before an event that the driver does not report yet.
  const auto flagged = std::find_if(line.open.begin() + static_cast<std::ptrdiff_t>(last), line.open.end(),
                                    [](const Completion& c) { return c.flag.has_value(); });
  if (flagged != line.open.end()) last = static_cast<std::size_t>(flagged - line.open.begin());
  Queue& queue = *line.open.front().command->queue;
  if (queue.unflushed != 0 && now - line.open.back().command->times.submitted > kSettleTime) {
    context_.submission.flush(*line.queue);
    queue.unflushed = 0;
  }
  unsettled_ |= queue.unflushed != 0;
  Status status = status::kQueued;
  if (line.open[last].event == nullptr) {
    if (now - line.open.front().command->times.submitted < kSettleTime) {
      unsettled_ = true;
      return;
    }
    status = make_observable(line);
  }
  // Only times measured by the device are reliable enough to delay polling.
  double expected = 0;
  for (std::size_t i = 0; i <= last && queue.timed; ++i) {
    const Command& command = *line.open[i].command;
    if (command.launch) expected += expected_nanoseconds(*command.launch).value_or(0);
  }
  const std::uint64_t since = std::max(line.open.front().command->times.submitted, queue.last_observed);
  watched_.push_back({line.queue.get(), line.open[last].event, is_awaited(line, last),
                      since + static_cast<std::uint64_t>(std::min(expected * kUnpolledPart, kMaxDelay)), status,
                      line.open[last].flag});
}

void PollingCompletion::look_at(Watched& watched, bool query_driver) const {
  if (watched.flag && flags_->is_set(*watched.flag)) {
    watched.state = status::kComplete;
  } else if (!watched.flag || query_driver) {
    watched.state = context_.submission.state(watched.event);
  }
}

void PollingCompletion::take(const Watched& watched, std::vector<Completion>& completed) {
  Line& line = *find(watched.queue);
  const auto end =
      std::find_if(line.open.begin(), line.open.end(), [&](const Completion& c) { return c.event == watched.event; });
  const auto begin = line.in_order ? line.open.begin() : end;
  const std::uint64_t now = context_.clock.now();
  end->command->queue->last_observed = now;
  for (auto it = begin; it != end + 1; ++it) {
    it->observed = now;
    it->observed_together = static_cast<std::size_t>(end + 1 - it);
    it->status = watched.state;
    if (it->flag) flags_->release(*it->flag);
    completed.push_back(std::move(*it));
  }
  line.open.erase(begin, end + 1);
  if (line.open.empty()) lines_.erase(lines_.begin() + (&line - lines_.data()));
}

void PollingCompletion::query(Completion& completion) const {
  if (completion.event == nullptr) return;
  const Command& command = *completion.command;
  if (completion.status < 0) completion.status = context_.submission.state(completion.event);
  if (command.queue->timed && (context_.free_timestamps || command.event != kNoEvent)) {
    const DeviceTimes times = context_.submission.times(completion.event, context_.device_clock.needs_comparison());
    if (times.ended != 0) completion.times = times;
  }
  context_.submission.release(completion.event);
  completion.event = nullptr;
}

void PollingCompletion::deliver() {
  std::vector<Completion> completed;
  {
    const FirstLock lock(handler_.mutex());
    for (const Watched& w : watched_) {
      if (w.state <= status::kComplete) take(w, completed);
    }
    watched_.clear();
  }
  for (Completion& c : completed) query(c);
  const FirstLock lock(handler_.mutex());
  on_device_.fetch_sub(completed.size(), std::memory_order_relaxed);
  handler_.complete(completed);
}

bool PollingCompletion::poll() {
  const std::lock_guard observing(observing_);
  (void)choose();
  bool any = false;
  for (Watched& w : watched_) {
    if (w.event != nullptr) look_at(w, true);
    any |= w.state <= status::kComplete;
  }
  deliver();
  return any;
}

std::uint64_t PollingCompletion::choose() {
  const FirstLock lock(handler_.mutex());
  choose_events();
  note_alarm();
  return changes_;
}

// A thread that is about to sleep stores its alarm and then reads `alarm_`, which is stored before its alarm is read
// here: one of them sees the other's.
void PollingCompletion::note_alarm() {
  const std::uint64_t alarm = handler_.next_alarm().value_or(kNoAlarm);
  if (alarm_.load(std::memory_order_relaxed) == alarm) return;
  alarm_ = alarm;
  const std::uint64_t asleep_until = asleep_until_;
  if (asleep_until == kAwake || asleep_until <= alarm) return;
  { const std::lock_guard lock(mutex_); }
  changed_.notify_one();
}

bool PollingCompletion::wait_for_work() {
  const auto more = [this] { return on_device_.load(std::memory_order_acquire) != 0; };
  const auto began = SystemClock::now();
  if (!wait_awake([&] { return more() || alarm_due(); }, awake_) && !alarm_due()) {
    std::unique_lock lock(mutex_);
    if (stop_) return false;
    const std::uint64_t alarm = alarm_;
    asleep_until_ = alarm;
    const auto wake = [&] { return stop_ || more() || alarm_ < alarm; };
    if (alarm != kNoAlarm) {
      changed_.wait_until(lock, SystemClock::time_point(SystemClock::duration(alarm)), wake);
    } else {
      changed_.wait(lock, wake);
    }
    asleep_until_ = kAwake;
    if (more()) awake_.note_pause(SystemClock::now() - began);
  } else if (more()) {
    awake_.note_ready();
  }
  if (more()) {  // none of its commands has an event yet
    const std::uint64_t since = context_.clock.now();
    while (context_.clock.now() - since < kPollInterval) {
    }
  }
  return true;
}

template <std::predicate Ready>
bool PollingCompletion::look_until(Ready ready, std::uint64_t known_changes, Pace& pace) {
  const Clock& clock = context_.clock;
  const std::uint64_t chosen = clock.now();
  while (!alarm_due() && !ready()) {
    bool any = false;
    const std::uint64_t looked = clock.now();
    const bool query_driver = looked - pace.driver_queried > kDriverInterval;
    if (query_driver) pace.driver_queried = looked;
    for (Watched& w : watched_) {
      if (w.event != nullptr && looked >= w.not_before) look_at(w, query_driver);
      any |= w.state <= status::kComplete;
    }
    if (any) return true;
    const std::uint64_t time = clock.now();
    // Where processors are free, the thread stays awake: it would sleep far longer than it asked for.
    if (time - pace.last_activity > kActiveTime && context_.spins < kSpinsAlways) {
      clock.sleep_for(kSleep);
    } else {
      const bool urgent = std::any_of(watched_.begin(), watched_.end(), [](const Watched& w) { return w.awaited; });
      const std::uint64_t interval = urgent ? kPollInterval : kIdlePollInterval;
      while (clock.now() - time < interval && changes_ == known_changes && !alarm_due() && !ready()) {
      }
    }
    if (changes_.load(std::memory_order_relaxed) != known_changes) return false;
    if (unsettled_ && clock.now() - chosen > kSettleTime) return false;
  }
  return false;
}

template <std::predicate Ready>
void PollingCompletion::observe(std::uint64_t known_changes, Pace& pace, Ready ready) {
  const bool any = look_until(ready, known_changes, pace);
  if (!any && !alarm_due()) return;
  pace.last_activity = context_.clock.now();
  deliver();
}

void PollingCompletion::observe_until(const std::function<bool()>& ready) {
  if (context_.spins < kSpinsAlways) return;  // another thread needs the processor
  const auto leave = [&] { return asleep_until_ == kAwake || ready(); };
  Pace pace{context_.clock.now(), 0};
  while (on_device_.load(std::memory_order_acquire) != 0 && !leave()) {
    const std::unique_lock observing(observing_, std::try_to_lock);
    if (!observing) return;
    const std::uint64_t changes = choose();
    if (!watched_.empty()) observe(changes, pace, leave);
  }
}

void PollingCompletion::run() {
  const Clock& clock = context_.clock;
  asleep_until_ = kAwake;
  Pace pace{clock.now(), 0};
  for (;;) {
    std::unique_lock observing(observing_);
    const std::uint64_t changes = choose();
    if (!watched_.empty()) {
      observe(changes, pace, [] { return false; });
      continue;
    }
    observing.unlock();
    if (!wait_for_work()) return;
    pace.last_activity = clock.now();
    if (!alarm_due()) continue;
    observing.lock();
    watched_.clear();
    deliver();
  }
}

}  // namespace wm::runtime
